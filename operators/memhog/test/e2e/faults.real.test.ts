// Real Kubernetes, because these tests kill real processes: the operator during a raise, Prometheus, and the API server. They run
// one at a time, in a cluster of their own.
import type { Cluster } from "@memhog/localcluster";
import { Pod } from "@memhog/runtime";
import { killAtEveryWrite } from "@memhog/runtime/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { knownToPrometheus } from "./corrupting-prometheus.fixture.ts";
import { hotSpot } from "./hot-spot.fixture.ts";
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

/** True after the raise: in place where the cluster supports it, otherwise by a bigger copy. */
const hungryNow = resizesInPlace ? "hungry" : "hungry-autoscaled";

describe("process failures (real Kubernetes: real processes are killed)", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await ownCluster();
  });
  afterAll(() => cluster?.down());

  const world = async () => worldIn(cluster, await cluster.namespace());

  it.runIf(resizesInPlace)("a pod is raised in place once although the operator crashes at every write", longTest, async () => {
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
    expect(memory?.status).toMatchObject({ raises: 1, actions: [{ method: "InPlace", outcome: "Applied" }] });
  });

  it(
    "a bare pod is replaced once, with a Ready pod at every moment, although the operator crashes at every write",
    longTest,
    async () => {
      await using on = await world();
      await on.monitor({ ...noTrend, strategy: "Redeploy" });
      await on.apply(smallHog("hungry"));
      await on.eventually(() => on.pod("hungry"), serves);
      await using pods = await on.watchLog(Pod);
      const settled = on.eventually(
        async () => ({ pods: await on.pods(), memory: await on.appMemory("pod-hungry") }),
        ({ pods, memory }) => pods.length === 1 && (memory?.status?.actions ?? []).length > 0,
      );
      const deaths = await killAtEveryWrite({ when: "after", start: () => on.operate(), settled });
      const { memory } = await settled;
      expect(deaths).toBeGreaterThan(3);
      expect(memory?.status).toMatchObject({ raises: 1, actions: [{ method: "CopyPod", outcome: "Applied" }] });
      expect(asked(await on.pod("hungry-autoscaled"))).toBe("128Mi/256Mi");
      const podsOverTime = pods.states.slice(1).map((state) => Object.values(state));
      expect(podsOverTime.filter((cast) => !cast.some(serves))).toEqual([]);
      expect(new Set(podsOverTime.flat().map(({ metadata }) => metadata.uid)).size).toBe(2);
    },
  );

  it(
    "nothing is raised while Prometheus is down, and the AppMonitor reports it; the raise follows when Prometheus is back",
    longTest,
    async () => {
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
    },
  );

  it("a pod that needs memory while the API server is down is raised once when the API server is back", longTest, async () => {
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
    expect(operator.journal.calls.filter(({ error }) => error !== undefined)).not.toEqual([]); // the operator saw the outage
  });
});

const readiness = (on: Awaited<ReturnType<typeof worldIn>>) => async () => {
  const { conditions = [] } = (await on.appMonitor())?.status ?? {};
  const ready = conditions.find(({ type }: { type: string }) => type === "Ready");
  return `${ready?.status} ${ready?.reason}`;
};
