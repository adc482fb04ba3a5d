// Every metric by name, with what it means and, for histograms, its buckets. Names, labels and buckets are those of
// client-go and controller-runtime, so that stock dashboards and alerts work; what those do not have is at the end.

/** ×10 from 10 ns to 1000 s, as client-go's work queues have it. */
const tenfold = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000];

const reconcileTimes = [
  ...[0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2],
  ...[2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60],
];

const requestTimes = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

const webhookTimes = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const queue = ["name", "controller"] as const;
const controller = ["controller"] as const;

export const counters = {
  workqueue_adds_total: { help: "Keys that began to wait in the queue", labels: queue },
  workqueue_retries_total: { help: "Keys that were queued again because working on them failed", labels: queue },
  controller_runtime_reconcile_total: { help: "Reconciles by result", labels: [...controller, "result"] },
  controller_runtime_reconcile_errors_total: { help: "Reconciles that failed", labels: controller },
  controller_runtime_terminal_reconcile_errors_total: {
    help: "Reconciles that failed for good, until something changes",
    labels: controller,
  },
  controller_runtime_reconcile_panics_total: {
    help: "Reconciles that failed with a mistake of the program: a TypeError, ReferenceError, RangeError or AssertionError, or what is no error at all",
    labels: controller,
  },
  rest_client_requests_total: { help: "Calls to the API server", labels: ["code", "method", "host"] },
  controller_runtime_webhook_requests_total: { help: "Reviews answered, by HTTP status", labels: ["webhook", "code"] },
  operator_events_total: { help: "Kubernetes Events by what became of them", labels: ["outcome"] },
} as const;

export const histograms = {
  workqueue_queue_duration_seconds: { help: "How long keys waited", labels: queue, buckets: tenfold },
  workqueue_work_duration_seconds: { help: "How long keys were worked on", labels: queue, buckets: tenfold },
  controller_runtime_reconcile_time_seconds: { help: "How long reconciles took", labels: controller, buckets: reconcileTimes },
  rest_client_request_duration_seconds: {
    help: "How long calls to the API server took",
    labels: ["verb", "host"],
    buckets: requestTimes,
  },
  controller_runtime_webhook_latency_seconds: { help: "How long reviews took", labels: ["webhook"], buckets: webhookTimes },
} as const;

export const gauges = {
  workqueue_depth: { help: "Keys that wait", labels: queue },
  workqueue_unfinished_work_seconds: { help: "How long all keys in work have been worked on, added up", labels: queue },
  workqueue_longest_running_processor_seconds: { help: "How long the oldest key in work has been worked on", labels: queue },
  controller_runtime_max_concurrent_reconciles: { help: "Reconciles that may run at once", labels: controller },
  controller_runtime_active_workers: { help: "Reconciles that run", labels: controller },
  controller_runtime_webhook_requests_in_flight: { help: "Reviews that are being answered", labels: ["webhook"] },
  leader_election_master_status: { help: "1 if this process leads, 0 if it waits for its turn", labels: ["name"] },
  operator_cache_objects: { help: "Objects in caches", labels: ["resource", "namespace"] },
  operator_cache_last_event_age_seconds: {
    help: "How long ago a cache last heard from the server",
    labels: ["resource", "namespace"],
  },
} as const;

export type CounterName = keyof typeof counters;
export type HistogramName = keyof typeof histograms;
export type GaugeName = keyof typeof gauges;
