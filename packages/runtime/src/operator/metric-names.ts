// All built-in metrics with their help, labels and buckets. Names, labels and buckets equal those of client-go and controller-runtime,
// so that existing dashboards and alerts work. Metrics that those do not have start with operator_.

/** ×10 from 10 ns to 1000 s, as in client-go's work queues. */
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
  workqueue_adds_total: { help: "Total number of keys added to the work queue", labels: queue },
  workqueue_retries_total: { help: "Total number of keys added to the work queue again after a failure", labels: queue },
  controller_runtime_reconcile_total: { help: "Total number of reconciles by result", labels: [...controller, "result"] },
  controller_runtime_reconcile_errors_total: { help: "Total number of failed reconciles", labels: controller },
  controller_runtime_terminal_reconcile_errors_total: {
    help: "Total number of reconciles that failed with a terminal error, which is not retried until the object changes",
    labels: controller,
  },
  controller_runtime_reconcile_panics_total: {
    help: "Total number of reconciles that failed because of a bug: a TypeError, ReferenceError, RangeError or AssertionError, or a thrown value that is not an Error",
    labels: controller,
  },
  rest_client_requests_total: { help: "Total number of requests to the API server", labels: ["code", "method", "host"] },
  controller_runtime_webhook_requests_total: {
    help: "Total number of webhook requests by HTTP status",
    labels: ["webhook", "code"],
  },
  operator_events_total: {
    help: "Total number of Kubernetes Events by outcome: created, updated, dropped or failed",
    labels: ["outcome"],
  },
} as const;

export const histograms = {
  workqueue_queue_duration_seconds: { help: "Seconds that a key waited in the work queue", labels: queue, buckets: tenfold },
  workqueue_work_duration_seconds: { help: "Seconds that processing a key took", labels: queue, buckets: tenfold },
  controller_runtime_reconcile_time_seconds: {
    help: "Seconds that a reconcile took",
    labels: controller,
    buckets: reconcileTimes,
  },
  rest_client_request_duration_seconds: {
    help: "Seconds that a request to the API server took",
    labels: ["verb", "host"],
    buckets: requestTimes,
  },
  controller_runtime_webhook_latency_seconds: {
    help: "Seconds that a webhook request took",
    labels: ["webhook"],
    buckets: webhookTimes,
  },
} as const;

export const gauges = {
  workqueue_depth: { help: "Number of keys in the work queue", labels: queue },
  workqueue_unfinished_work_seconds: {
    help: "Sum of the seconds for which the keys in progress have been processed",
    labels: queue,
  },
  workqueue_longest_running_processor_seconds: {
    help: "Seconds for which the longest-running key has been processed",
    labels: queue,
  },
  controller_runtime_max_concurrent_reconciles: { help: "Maximum number of concurrent reconciles", labels: controller },
  controller_runtime_active_workers: { help: "Number of running reconciles", labels: controller },
  controller_runtime_webhook_requests_in_flight: { help: "Number of webhook requests in progress", labels: ["webhook"] },
  leader_election_master_status: { help: "1 if this process is the leader, 0 otherwise", labels: ["name"] },
  operator_cache_objects: { help: "Number of objects in a cache", labels: ["resource", "namespace"] },
  operator_cache_last_event_age_seconds: {
    help: "Seconds since a cache last received data from the API server",
    labels: ["resource", "namespace"],
  },
} as const;

export type CounterName = keyof typeof counters;
export type HistogramName = keyof typeof histograms;
export type GaugeName = keyof typeof gauges;
