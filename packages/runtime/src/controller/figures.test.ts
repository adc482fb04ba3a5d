import { expect, it } from "vitest";
import { ConfigMap } from "../objects/kinds/core/config.ts";
import { atWork, config } from "./at-work.fixture.ts";
import { controller } from "./controller.ts";
import { PermanentError } from "./errors.ts";
import type { Metrics } from "./metrics.ts";
import { checkAgainIn, done } from "./outcome.ts";

/** Metrics as a table: "name result" → how often, and the gauges that are there. */
function counting() {
  const counts: Record<string, number> = {};
  const gauges = new Map<string, () => number>();
  const add = (name: string, labels: object, by = 1) => {
    const { result = "", controller } = labels as { result?: string; controller?: string };
    expect(controller).toBe("configmap");
    const key = `${name} ${result}`.trim();
    counts[key] = (counts[key] ?? 0) + by;
  };
  const metrics: Metrics = {
    count: (name, labels, by) => add(name, labels, by),
    observe: (name, labels) => add(name, labels),
    gauge: (name, _labels, read) => {
      gauges.set(name, read);
      return () => gauges.delete(name);
    },
  };
  return { metrics, counts, gauges };
}

it("counts what happens under the names that dashboards know", async () => {
  const { metrics, counts, gauges } = counting();
  const at = await atWork(
    () =>
      controller(ConfigMap, { resyncMs: 0, concurrency: 3 }, async ({ name }, { failures }) => {
        if (name === "permanent") throw new PermanentError("no");
        if (name === "fails once" && failures === 0) throw new TypeError("once");
        return name === "later" ? checkAgainIn(3_600_000, "…") : done();
      }),
    metrics,
  );
  expect(counts, "so that increase() sees the first error").toEqual({
    workqueue_adds_total: 0,
    workqueue_retries_total: 0,
    "controller_runtime_reconcile_total success": 0,
    "controller_runtime_reconcile_total requeue": 0,
    "controller_runtime_reconcile_total requeue_after": 0,
    "controller_runtime_reconcile_total error": 0,
    controller_runtime_reconcile_errors_total: 0,
    controller_runtime_terminal_reconcile_errors_total: 0,
    controller_runtime_reconcile_panics_total: 0,
  });
  for (const name of ["fine", "later", "permanent", "fails once"]) at.api.put(ConfigMap, config(name));
  await at.start();
  await at.clock.advance(1_000);
  expect(counts).toEqual({
    workqueue_adds_total: 5,
    workqueue_retries_total: 1,
    workqueue_queue_duration_seconds: 5,
    workqueue_work_duration_seconds: 5,
    controller_runtime_reconcile_time_seconds: 5,
    "controller_runtime_reconcile_total success": 2,
    "controller_runtime_reconcile_total requeue": 0,
    "controller_runtime_reconcile_total requeue_after": 1,
    "controller_runtime_reconcile_total error": 2,
    controller_runtime_reconcile_errors_total: 2,
    controller_runtime_terminal_reconcile_errors_total: 1,
    controller_runtime_reconcile_panics_total: 1,
  });
  expect(Object.fromEntries(gauges.entries().map(([name, read]) => [name, read()]))).toEqual({
    workqueue_depth: 0,
    workqueue_unfinished_work_seconds: 0,
    workqueue_longest_running_processor_seconds: 0,
    controller_runtime_active_workers: 0,
    controller_runtime_max_concurrent_reconciles: 3,
  });
  await at.runner.stop();
  expect(gauges.size).toBe(0);
});
