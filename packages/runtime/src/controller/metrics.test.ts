import { AssertionError } from "node:assert";
import { expect, it } from "vitest";
import { ConfigError } from "../client/errors.ts";
import { ConfigMap } from "../objects/kinds/core.ts";
import { atWork, config } from "./at-work.fixture.ts";
import { controller } from "./controller.ts";
import { TerminalError } from "./errors.ts";
import { isPanic, type Metrics } from "./metrics.ts";
import { done, requeueAfter } from "./outcome.ts";

/** Metrics as a table: "name result" → count, and the registered gauges. */
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

it("exports the metrics of controller-runtime under their names", async () => {
  const { metrics, counts, gauges } = counting();
  const at = await atWork(
    () =>
      controller(ConfigMap, { resyncMs: 0, concurrency: 3 }, async ({ name }, { failures }) => {
        if (name === "permanent") throw new TerminalError("no");
        if (name === "fails once" && failures === 0) throw new TypeError("once");
        return name === "later" ? requeueAfter(3_600_000, "…") : done();
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

const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });

it.each([
  { name: "a property of undefined", error: new TypeError("cannot read properties of undefined"), panic: true },
  { name: "an undeclared variable", error: new ReferenceError("bucket is not defined"), panic: true },
  { name: "an Error thrown by a reconcile function", error: new Error("storage answered 503"), panic: false },
  { name: "an error class of the reconcile function", error: new (class QuotaError extends Error {})("no room"), panic: false },
  { name: "a thrown value that is not an Error", error: "hm", panic: true },
  {
    name: "an invalid argument to a Node.js API",
    error: Object.assign(new TypeError("bad"), { code: "ERR_INVALID_ARG_TYPE" }),
    panic: true,
  },
  { name: "a failed assertion", error: new AssertionError({ message: "hm" }), panic: true },
  {
    name: "a certificate for another host name",
    error: Object.assign(new Error("no"), { code: "ERR_TLS_CERT_ALTNAME_INVALID" }),
    panic: false,
  },
  { name: "an error of the runtime", error: new ConfigError("expected a kubeconfig"), panic: false },
  { name: "a TerminalError", error: new TerminalError("no"), panic: false },
  { name: "a system error", error: refused, panic: false },
  { name: "a failed fetch", error: new TypeError("fetch failed", { cause: refused }), panic: false },
  { name: "an abort", error: AbortSignal.abort().reason, panic: false },
])("$name: a panic? $panic", ({ error, panic }) => expect(isPanic(error)).toBe(panic));
