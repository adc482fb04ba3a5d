// Real Kubernetes, because the kernel kills containers and the kubelet resizes them, both asynchronously.
import { beforeAll, describe, expect, it } from "vitest";
import { mib } from "../../src/model/bytes.ts";
import { cgroupLimit } from "./cgroup.fixture.ts";
import { hotSpot } from "./hot-spot.fixture.ts";
import {
  asked,
  confirmed,
  furnish,
  longTest,
  noTrend,
  realWorld,
  resizesInPlace,
  restartsOf,
  serves,
  smallHog,
} from "./real-world.fixture.ts";

beforeAll(furnish);

const inPlace = it.runIf(resizesInPlace);

describe.concurrent("containers on a real node (real Kubernetes: a kubelet resizes them)", () => {
  inPlace(
    "of six replicas only the one that needs memory is raised, in place; the others and the template do not change",
    longTest,
    async () => {
      await using on = await realWorld();
      const operator = await on.operate();
      await on.monitor(noTrend);
      await on.apply(sixReplicas());
      const all = await on.eventually(
        () => on.pods("name=six"),
        (pods) => pods.length === 6 && pods.every(serves),
      );
      const hot = all[2]?.metadata.name ?? "";
      await using _needy = await hotSpot(on, hot);
      const grown = await on.eventually(
        () => on.pod(hot),
        (pod) => confirmed(pod) === "96Mi/192Mi",
      );
      expect(cgroupLimit(grown)).toBe(mib(192));
      expect(restartsOf(grown)).toBe(0);
      const looked = operator.passes.length;
      await on.eventually(
        () => operator.passes.length,
        (now) => now >= looked + 4,
      );
      const after = await on.pods("name=six");
      expect(after.map(({ metadata }) => metadata.uid).toSorted()).toEqual(all.map(({ metadata }) => metadata.uid).toSorted());
      expect(after.map(asked).toSorted()).toEqual([
        "48Mi/96Mi",
        "48Mi/96Mi",
        "48Mi/96Mi",
        "48Mi/96Mi",
        "48Mi/96Mi",
        "96Mi/192Mi",
      ]);
    },
  );

  inPlace("request and limit of a Guaranteed container are raised together", longTest, async () => {
    await using on = await realWorld();
    const operator = await on.operate();
    await on.monitor(noTrend);
    const pod = smallHog("guaranteed", { request: "128Mi" });
    // A pod is Guaranteed only if it has CPU requests and limits too.
    const both = { cpu: "500m", memory: "128Mi" };
    const resources = { requests: both, limits: both };
    const containers = pod.spec.containers.map((container) => ({ ...container, resources }));
    await on.apply({ ...pod, spec: { ...pod.spec, containers } });
    const grown = await on.eventually(
      () => on.pod("guaranteed"),
      (found) => confirmed(found) === "256Mi/256Mi",
    );
    expect(grown?.status.qosClass).toBe("Guaranteed");
    expect(cgroupLimit(grown)).toBe(mib(256));
    expect(restartsOf(grown)).toBe(0);
    const resizes = operator.journal.calls.filter(({ path }) => path.includes("/resize"));
    expect(resizes.map(({ status }) => status)).toEqual([200]);
  });

  it("an OOM-killed container is raised once, and each kill is counted once", longTest, async () => {
    await using on = await realWorld();
    await on.operate();
    await on.monitor(noTrend);
    await on.apply(smallHog("steep", { args: ["--ramp", "100Mi/s", "--to", "150Mi"] }));
    const settled = await on.eventually(
      async () => {
        const [pod] = await on.pods();
        return { pod, memory: await on.appMemory("pod-steep") };
      },
      ({ pod, memory }) => asked(pod) === "128Mi/256Mi" && serves(pod) && (memory?.status.intents ?? []).length === 0,
    );
    expect(settled.memory?.status.raises).toBe(1);
    expect(settled.memory?.status.oomKills).toBeGreaterThan(0);
    // A replaced pod loses its restart count, so this comparison needs an in-place resize.
    if (resizesInPlace) expect(settled.memory?.status.oomKills).toBe(restartsOf(settled.pod));
    expect(settled.memory?.status.actions).toMatchObject([{ reason: "OutOfMemory", outcome: "Applied" }]);
    await on.told("AppMonitor", /^OutOfMemoryKilled: steep: memhog was OOM-killed/);
  });
});

function sixReplicas(): object {
  const { metadata, spec } = smallHog("six", { args: ["--start", "10Mi", "--hold"], limit: "96Mi", request: "48Mi" });
  const { labels, annotations } = metadata;
  const template = { metadata: { labels, annotations }, spec };
  const selector = { matchLabels: labels };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "six" }, spec: { replicas: 6, selector, template } };
}
