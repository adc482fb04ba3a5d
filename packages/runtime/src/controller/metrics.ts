// What is counted about controllers, under the names that client-go and controller-runtime gave to it, so that stock
// dashboards and alerts work. This folder only counts; operator/ exports it in the format of Prometheus.
import type { Cancel } from "../concurrency/environment.ts";

export interface Counters {
  workqueue_adds_total: QueueLabels;
  workqueue_retries_total: QueueLabels;
  controller_runtime_reconcile_total: ControllerLabels & { readonly result: ReconcileResult };
  controller_runtime_reconcile_errors_total: ControllerLabels;
  controller_runtime_terminal_reconcile_errors_total: ControllerLabels;
  controller_runtime_reconcile_panics_total: ControllerLabels;
}

/** In seconds. */
export interface Histograms {
  workqueue_queue_duration_seconds: QueueLabels;
  workqueue_work_duration_seconds: QueueLabels;
  controller_runtime_reconcile_time_seconds: ControllerLabels;
}

/** Read when somebody looks. */
export interface Gauges {
  workqueue_depth: QueueLabels;
  workqueue_unfinished_work_seconds: QueueLabels;
  workqueue_longest_running_processor_seconds: QueueLabels;
  controller_runtime_max_concurrent_reconciles: ControllerLabels;
  controller_runtime_active_workers: ControllerLabels;
}

export type ControllerLabels = { readonly controller: string };
export type QueueLabels = ControllerLabels & { readonly name: string };
export const reconcileResults = ["success", "error", "requeue", "requeue_after"] as const;
export type ReconcileResult = (typeof reconcileResults)[number];

export interface Metrics {
  /** `by` 0 shows a counter that has nothing to count yet. @param by 1 where nothing is said */
  count<N extends keyof Counters>(name: N, labels: Counters[N], by?: number): void;
  observe<N extends keyof Histograms>(name: N, labels: Histograms[N], seconds: number): void;
  /** From now until cancelled the gauge has the value that `read` returns. */
  gauge<N extends keyof Gauges>(name: N, labels: Gauges[N], read: () => number): Cancel;
}

/** Counts nothing: for tests, and for those who do not want to know. */
export const noMetrics: Metrics = { count: () => {}, observe: () => {}, gauge: () => () => {} };
