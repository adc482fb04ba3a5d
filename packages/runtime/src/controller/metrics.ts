// The metrics of controllers, under the names that client-go and controller-runtime use, so that stock dashboards and alerts
// work. operator/ exports them in the format of Prometheus.
import { AssertionError } from "node:assert";
import { isForeseen } from "../concurrency/abort.ts";
import type { Cancel } from "../concurrency/environment.ts";
import type { WorkQueueObserver, WorkQueueStats } from "../concurrency/work-queue.ts";
import type { Controller } from "./controller.ts";
import type { Ending, NextStep } from "./outcome.ts";

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

/** Read on scrape. */
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
  /** Adds to a counter; 0 exports it before its first event. @param by 1 by default */
  count<N extends keyof Counters>(name: N, labels: Counters[N], by?: number): void;
  observe<N extends keyof Histograms>(name: N, labels: Histograms[N], seconds: number): void;
  /** Exports a gauge with the value that `read` returns, until canceled. */
  gauge<N extends keyof Gauges>(name: N, labels: Gauges[N], read: () => number): Cancel;
}

/** Counts nothing. */
export const noMetrics: Metrics = { count: () => {}, observe: () => {}, gauge: () => () => {} };

const failureCounters = [
  "controller_runtime_reconcile_errors_total",
  "controller_runtime_terminal_reconcile_errors_total",
  "controller_runtime_reconcile_panics_total",
] as const;

export interface ControllerMetrics {
  /** Observes the work queue. */
  readonly queue: WorkQueueObserver;
  /** Records the start of a reconcile, this long after its key was enqueued. */
  begun(waitedSeconds: number): void;
  reconciled(next: NextStep, ending: Ending, seconds: number): void;
  readonly close: Cancel;
}

export function controllerMetrics({ name, plan }: Controller, metrics: Metrics, stats: () => WorkQueueStats): ControllerMetrics {
  const controller = { controller: name };
  const queue = { controller: name, name };
  const gauges = [
    metrics.gauge("workqueue_depth", queue, () => stats().depth),
    metrics.gauge("workqueue_unfinished_work_seconds", queue, () => stats().unfinishedMs / 1_000),
    metrics.gauge("workqueue_longest_running_processor_seconds", queue, () => stats().longestRunningMs / 1_000),
    metrics.gauge("controller_runtime_active_workers", controller, () => stats().running),
    metrics.gauge("controller_runtime_max_concurrent_reconciles", controller, () => plan.concurrency),
  ];
  // Starting at 0, like controller-runtime: increase() misses the first error of a counter that starts at 1.
  for (const result of reconcileResults) metrics.count("controller_runtime_reconcile_total", { ...controller, result }, 0);
  for (const failures of failureCounters) metrics.count(failures, controller, 0);
  for (const name of ["workqueue_adds_total", "workqueue_retries_total"] as const) metrics.count(name, queue, 0);
  return {
    queue: {
      added: () => metrics.count("workqueue_adds_total", queue),
      finished: (workedMs) => metrics.observe("workqueue_work_duration_seconds", queue, workedMs / 1_000),
    },
    begun: (waitedSeconds) => metrics.observe("workqueue_queue_duration_seconds", queue, waitedSeconds),
    reconciled: ({ result, failed, stuck, againInMs }, ending, seconds) => {
      metrics.observe("controller_runtime_reconcile_time_seconds", controller, seconds);
      if (result === undefined) return;
      metrics.count("controller_runtime_reconcile_total", { ...controller, result });
      if (result === "error") metrics.count("controller_runtime_reconcile_errors_total", controller);
      if (result === "error" && "error" in ending && isPanic(ending.error))
        metrics.count("controller_runtime_reconcile_panics_total", controller);
      if (stuck && againInMs === undefined) metrics.count("controller_runtime_terminal_reconcile_errors_total", controller);
      if (failed) metrics.count("workqueue_retries_total", queue);
    },
    close: () => {
      for (const cancel of gauges) cancel();
    },
  };
}

const bugs = [TypeError, ReferenceError, RangeError, AssertionError];

/**
 * The equivalent of a panic in Go: an error of the language, such as a property of undefined. An error that a reconcile function
 * throws itself, `throw new Error("storage answered 503")`, corresponds to an error value in Go.
 */
export function isPanic(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  // "fetch failed" is a TypeError; only its cause shows that the connection was refused.
  return bugs.some((bug) => error instanceof bug) && !isForeseen(error) && !isForeseen(error.cause);
}
