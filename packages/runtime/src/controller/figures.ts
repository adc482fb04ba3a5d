// The figures of one controller, under their well-known names.
import type { Cancel } from "../concurrency/environment.ts";
import type { WorkQueueObserver, WorkQueueStats } from "../concurrency/work-queue-figures.ts";
import type { Ending, Verdict } from "./after-reconcile.ts";
import type { Controller } from "./definition.ts";
import { type Metrics, reconcileResults } from "./metrics.ts";
import { isPanic } from "./panic.ts";

const failureCounters = [
  "controller_runtime_reconcile_errors_total",
  "controller_runtime_terminal_reconcile_errors_total",
  "controller_runtime_reconcile_panics_total",
] as const;

export interface Figures {
  /** For the queue to tell. */
  readonly queue: WorkQueueObserver;
  /** A reconcile begins, so long after its key was queued. */
  begun(waitedSeconds: number): void;
  reconciled(verdict: Verdict, ending: Ending, seconds: number): void;
  readonly close: Cancel;
}

export function figuresFor({ name, plan }: Controller, metrics: Metrics, stats: () => WorkQueueStats): Figures {
  const controller = { controller: name };
  const queue = { controller: name, name };
  const gauges = [
    metrics.gauge("workqueue_depth", queue, () => stats().depth),
    metrics.gauge("workqueue_unfinished_work_seconds", queue, () => stats().unfinishedMs / 1_000),
    metrics.gauge("workqueue_longest_running_processor_seconds", queue, () => stats().longestRunningMs / 1_000),
    metrics.gauge("controller_runtime_active_workers", controller, () => stats().running),
    metrics.gauge("controller_runtime_max_concurrent_reconciles", controller, () => plan.concurrency),
  ];
  // From 0, as controller-runtime has it: increase() cannot see the first error of a counter that begins with 1.
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
