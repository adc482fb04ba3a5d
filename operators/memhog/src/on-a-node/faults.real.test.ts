// Real Kubernetes, because here real programs are killed: the operator in the middle of a raise, Prometheus, the API server. In a
// cluster of its own, one after the other.
import type { Cluster } from "@memhog/localcluster";
import { Pod } from "@memhog/runtime";
import { killAtEveryWrite } from "@memhog/runtime/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hotSpot } from "./hot-spot.fixture.ts";
import { knownToPrometheus } from "./lying-prometheus.fixture.ts";
import {
  asked,
  confirmed,
  longTest,
  noTrend,
  ownCluster,
  resizesInPlace,
  restartsOf,
  serves,
  smallHog,
  worldIn,
} from "./real-world.fixture.ts";

/** Grown by what it has: in place where that can be, otherwise a bigger copy has taken its place. */
const hungryNow = resizesInPlace ? "hungry" : "hungry-autoscaled";

describe("when things break (real Kubernetes: they really do)", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await ownCluster();
  });
  afterAll(() => cluster?.down());

  const world = async () => worldIn(cluster, await cluster.namespace());

  it.runIf(resizesInPlace)("operators that die at every write raise a pod in place, once", longTest, async () => {
    await using on = await world();
    await on.monitor(noTrend);
    await on.apply(smallHog("hungry"));
    const settled = on.eventually(
      async () => ({ pod: await on.pod("hungry"), memory: await on.appMemory("pod-hungry") }),
      ({ pod, memory }) => confirmed(pod) === "128Mi/256Mi" && (memory?.status.actions ?? []).length > 0,
    );
    const deaths = await killAtEveryWrite({ when: "after", start: () => on.operate(), settled });
    const { pod, memory } = await settled;
    expect(deaths).toBeGreaterThan(3);
    expect(restartsOf(pod)).toBe(0);
    expect(memory?.status).toMatchObject({ raises: 1, actions: [{ road: "InPlace", outcome: "Applied" }] });
  });

  it("operators that die at every write replace a bare pod, once, and leave it not for a moment", longTest, async () => {
    await using on = await world();
    await on.monitor({ ...noTrend, strategy: "Redeploy" });
    await on.apply(smallHog("hungry"));
    await on.eventually(() => on.pod("hungry"), serves);
    await using pods = await on.film(Pod);
    const settled = on.eventually(
      async () => ({ pods: await on.pods(), memory: await on.appMemory("pod-hungry") }),
      ({ pods, memory }) => pods.length === 1 && (memory?.status?.actions ?? []).length > 0,
    );
    const deaths = await killAtEveryWrite({ when: "after", start: () => on.operate(), settled });
    const { memory } = await settled;
    expect(deaths).toBeGreaterThan(3);
    expect(memory?.status).toMatchObject({ raises: 1, actions: [{ road: "CopyPod", outcome: "Applied" }] });
    expect(asked(await on.pod("hungry-autoscaled"))).toBe("128Mi/256Mi");
    const casts = pods.frames.slice(1).map((frame) => Object.values(frame));
    expect(casts.filter((cast) => !cast.some(serves))).toEqual([]);
    expect(new Set(casts.flat().map(({ metadata }) => metadata.uid)).size).toBe(2);
  });

  it("while Prometheus is down nothing is done, and johnny-cache says so; when it is back the pod grows", longTest, async () => {
    await using on = await world();
    await on.monitor(noTrend);
    await on.apply(smallHog("hungry", { args: ["--start", "40Mi", "--hold"] }));
    const operator = await on.operate();
    await on.eventually(
      () => operator.reasonsFor("hungry").at(-1),
      (reason) => reason === "BelowThreshold",
    );
    await cluster.stop("prometheus");
    await using _needy = await hotSpot(on, "hungry");
    await on.eventually(readiness(on), (ready) => ready === "False MetricsUnavailable");
    expect(operator.journal.calls.filter(({ path }) => path.includes("/resize"))).toEqual([]);
    expect(asked(await on.pod("hungry"))).toBe("64Mi/128Mi");
    await cluster.start("prometheus");
    await on.eventually(readiness(on), (ready) => ready === "True Watching");
    await on.eventually(
      () => on.pod(hungryNow),
      (pod) => asked(pod) === "128Mi/256Mi",
    );
  });

  it("a pod that comes to need memory while the API server is down gets it, once, when that is back", longTest, async () => {
    await using on = await world();
    await on.monitor(noTrend);
    const operator = await on.operate();
    await on.apply(smallHog("hungry", { args: ["--ramp", "2Mi/s", "--to", "105Mi"] }));
    await on.eventually(() => on.pod("hungry"), serves);
    await cluster.stop("kube-apiserver");
    await knownToPrometheus(on, "hungry");
    await cluster.start("kube-apiserver");
    await on.eventually(
      () => on.pod(hungryNow),
      (pod) => asked(pod) === "128Mi/256Mi",
    );
    const memory = await on.eventually(
      () => on.appMemory("pod-hungry"),
      (found) => (found?.status.actions ?? []).length > 0,
    );
    expect(memory?.status).toMatchObject({ raises: 1, actions: [{ outcome: "Applied" }] });
    expect(restartsOf(await on.pod(hungryNow))).toBe(0);
    expect(operator.journal.calls.filter(({ error }) => error !== undefined)).not.toEqual([]); // it did notice
  });
});

const readiness = (on: Awaited<ReturnType<typeof worldIn>>) => async () => {
  const { conditions = [] } = (await on.appMonitor())?.status ?? {};
  const ready = conditions.find(({ type }: { type: string }) => type === "Ready");
  return `${ready?.status} ${ready?.reason}`;
};
