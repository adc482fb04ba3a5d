import { type KubernetesObject, keyOf, type Logger, type Stored } from "@memhog/runtime";
import type { SourceContext } from "@memhog/runtime/controller";
import { aPod, manualEnvironment } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { monitorAnnotation } from "../api/names.ts";
import { cachedObjects, johnnyCache } from "./cached.fixture.ts";
import { MemoryPoller, type QueryReport } from "./memory-poller.ts";
import { answeredAtMs, answering, type Given, matrix, usage } from "./prometheus/answers.fixture.ts";
import { PrometheusError } from "./prometheus/transport.ts";

const hungry = (metadata: object = {}) =>
  aPod({ metadata: { namespace: "shop", name: "web", annotations: { [monitorAnnotation]: "true" }, ...metadata } });
const life = { id: undefined, startedAtMs: 0 };
const web = { namespace: "shop", pod: "web", container: "main" };
const down = new PrometheusError("PROMETHEUS_UNREACHABLE", "connect ECONNREFUSED");
const some = matrix({
  points: [
    [20, 100],
    [10, 200],
  ],
});

/** A running poller on a manual clock. */
function polling(answers: readonly Given[], objects: readonly Stored<KubernetesObject>[] = [hungry()]) {
  const environment = manualEnvironment({ now: answeredAtMs });
  const { transport, asked } = answering(...answers);
  const reports: QueryReport[] = [];
  const poller = new MemoryPoller({ transport, intervalMs: 5_000, onQuery: (report) => reports.push(report) });
  const woken: string[] = [];
  const said: string[] = [];
  const log: Logger = {
    ...{ debug: () => {}, error: () => {}, child: () => log },
    info: (_, message) => said.push(message),
    warn: (_, message) => said.push(message),
  };
  const stopping = new AbortController();
  const world: SourceContext = {
    ...{ environment, log, cached: cachedObjects(...objects), signal: stopping.signal },
    enqueue: (ref, why) => woken.push(`${keyOf(ref)} ${why}`),
  };
  const ended = poller.source.run(world);
  const stop = async () => {
    stopping.abort();
    await ended;
  };
  return { ...{ poller, asked, reports, woken, said, world }, clock: environment.clock, [Symbol.asyncDispose]: stop };
}

describe("memory poller", () => {
  it("sends one query for all pods and enqueues every app once", async () => {
    const owner = { apiVersion: "apps/v1", kind: "StatefulSet", name: "web", uid: "uid-web", controller: true };
    const replicas = ["web-0", "web-1"].map((name) => hungry({ name, ownerReferences: [owner] }));
    const other = hungry({ namespace: "bank", name: "till" });
    await using run = polling([some], [hungry(), ...replicas, other, aPod()]);
    await run.clock.advance(0);
    expect(run.asked).toEqual([
      'container_memory_working_set_bytes{container!="",container!="POD",namespace=~"bank|shop"}[120s]',
    ]);
    expect(run.woken).toEqual(["shop/pod-web sampled", "shop/statefulset-web sampled", "bank/pod-till sampled"]);
    expect(run.poller.metrics()).toEqual({ available: true, freshForMs: 90_000 });
    expect(run.poller.samplesOf("WorkingSet", web, life).samples).toEqual([
      { bytes: 100, ageMs: 20_000 },
      { bytes: 200, ageMs: 10_000 },
    ]);
    expect(run.reports).toEqual([{ outcome: "answered", durationMs: 0, series: 1, samples: 2 }]);
  });

  it("queries again after every interval, with jitter", async () => {
    await using run = polling([some]);
    await run.clock.advance(4_400);
    expect(run.asked).toHaveLength(1);
    await run.clock.advance(1_100);
    expect(run.asked).toHaveLength(2);
    await run.clock.advance(50_000);
    expect(run.asked.length).toBeGreaterThanOrEqual(11);
    expect(run.asked.length).toBeLessThanOrEqual(14);
  });

  it("M1: backs off while Prometheus is unavailable, logs it, and enqueues every app once", async () => {
    await using run = polling([some, down, down, down, down, some]);
    await run.clock.advance(5_500);
    expect(run.asked).toHaveLength(2);
    expect(run.poller.metrics()).toMatchObject({ available: false, problem: "connect ECONNREFUSED", freshForMs: 90_000 });
    expect(run.woken).toEqual(["shop/pod-web sampled", "shop/pod-web metrics unavailable"]);
    await run.clock.advance(53_000);
    expect(run.asked).toHaveLength(5);
    expect(run.woken).toHaveLength(2);
    expect(run.poller.metrics().unavailableForMs).toBeGreaterThan(50_000);
    await run.clock.advance(20_000);
    expect(run.poller.metrics()).toEqual({ available: true, freshForMs: 90_000 });
    expect(run.said).toEqual([
      "memory metrics are available",
      "memory metrics are unavailable; raising only after OOM kills",
      "memory metrics are available",
    ]);
    expect(run.reports.map(({ outcome }) => outcome)).toContain("PROMETHEUS_UNREACHABLE");
  });

  it("M1: samples from before an outage age", async () => {
    await using run = polling([some, down]);
    await run.clock.advance(100_000);
    expect(run.poller.samplesOf("WorkingSet", web, life).samples.map(({ ageMs }) => ageMs)).toEqual([120_000, 110_000]);
  });

  it("M1: metrics are unavailable before the first response", async () => {
    const { transport } = answering(some);
    expect(new MemoryPoller({ transport }).metrics()).toMatchObject({
      available: false,
      problem: "Prometheus has not been queried yet",
    });
  });

  it("M4: a partial response is used and reported", async () => {
    const partial = JSON.stringify({ ...JSON.parse(some), warnings: ["a store is away"] });
    await using run = polling([partial]);
    await run.clock.advance(0);
    expect(run.poller.metrics()).toMatchObject({ available: true, problem: "Prometheus returned warnings: a store is away" });
    expect(run.poller.samplesOf("WorkingSet", web, life).samples).toHaveLength(2);
    expect(run.reports[0]?.outcome).toBe("partial");
  });

  it("M6: a running pod is unseen after a grace period without samples, and seen again with its first sample", async () => {
    const running = hungry({ uid: "uid-web" });
    const empty = Array.from({ length: 60 }, () => matrix());
    await using run = polling([...empty, some], [running]);
    await run.clock.advance(0);
    expect(run.poller.visibility("WorkingSet", "uid-web")).toBe("new");
    await run.clock.advance(179_000);
    expect([run.poller.visibility("WorkingSet", "uid-web"), run.poller.unseenPods().size]).toEqual(["new", 0]);
    await run.clock.advance(2_000);
    expect(run.poller.visibility("WorkingSet", "uid-web")).toBe("unseen");
    expect([...run.poller.unseenPods()]).toEqual([["shop", 1]]);
    expect(run.poller.lastQuery()).toMatchObject({ series: 0, samples: 0 });
    await run.clock.advance(200_000);
    expect([run.poller.visibility("WorkingSet", "uid-web"), run.poller.unseenPods().size]).toEqual(["seen", 0]);
  });

  it("M6: a pod that does not run, or is not monitored, is never unseen", async () => {
    const off = hungry({ name: "off", uid: "uid-off", annotations: { [monitorAnnotation]: "false" } });
    const waiting = { ...hungry({ name: "new", uid: "uid-new" }), status: { phase: "Pending" as const } };
    await using run = polling([matrix()], [off, waiting]);
    await run.clock.advance(300_000);
    expect(["uid-off", "uid-new"].map((uid) => run.poller.visibility("WorkingSet", uid))).toEqual(["seen", "seen"]);
  });

  it("T1: drops series of other namespaces, of pods without the annotation, and of unknown pods", async () => {
    const answer = matrix(
      { labels: { namespace: "bank" }, points: [[10, 9]] },
      { labels: { pod: "quiet" }, points: [[10, 9]] },
      { labels: { pod: "gone" }, points: [[10, 9]] },
      { labels: { container: "side" }, points: [[10, 9]] },
    );
    await using run = polling([answer], [hungry(), aPod({ metadata: { namespace: "shop", name: "quiet" } })]);
    await run.clock.advance(0);
    expect(run.reports[0]).toMatchObject({ series: 4, samples: 0 });
  });

  it("detects the metric and label names and keeps using them", async () => {
    const labels = { pod: "", container: "", pod_name: "web", container_name: "main" };
    const old = matrix({ name: usage, labels, points: [[10, 1]] });
    await using run = polling([matrix(), matrix(), matrix(), matrix(), old]);
    await run.clock.advance(40_000);
    expect(run.asked[0]).toMatch(/^container_memory_working_set_bytes\{container!=""/);
    expect(run.asked[1]).toMatch(/^\{__name__=~".*usage_bytes",container!=""/);
    expect(run.asked[4]).toMatch(/container_name!=""/);
    expect(run.asked[6]).toMatch(/^\{__name__=~".*usage_bytes",container_name!=""/);
    expect(run.poller.samplesOf("WorkingSet", web, life).samples).toHaveLength(1);
  });

  it("queries the usage if an AppMonitor uses it", async () => {
    const both = matrix({ points: [[10, 1]] }, { name: usage, points: [[10, 5]] });
    await using run = polling([both], [hungry(), johnnyCache({ metric: "Usage" }, { namespace: "shop" })]);
    await run.clock.advance(0);
    expect(run.poller.samplesOf("Usage", web, life).samples).toMatchObject([{ bytes: 5 }]);
    expect(run.poller.samplesOf("WorkingSet", web, life).samples).toMatchObject([{ bytes: 1 }]);
  });
});
