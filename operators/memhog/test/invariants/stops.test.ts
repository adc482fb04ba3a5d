// What stops raises: leaks, OOM loops, full nodes, quotas, and concurrency limits.
// On the simulator, because each case takes many minutes or a full node.
import { Deployment, Pod, StatefulSet } from "@memhog/runtime";
import { Event, LimitRange, type LimitRangeItem, PodDisruptionBudget, ReplicaSet, ResourceQuota } from "@memhog/runtime/kinds";
import { describe, expect, it } from "vitest";
import type { AppMemory } from "../../src/api/app-memory.ts";
import { AppMonitor } from "../../src/api/app-monitor.ts";
import { effectsOf } from "./effects.fixture.ts";
import { type HogOptions, hogDeployment, sizeOf } from "./hogs.fixture.ts";
import { census, isReady } from "./pod-history.fixture.ts";
import { home, minutes, type World, world } from "./world.fixture.ts";

const sizes = async (w: World) => (await w.pods()).map(sizeOf);
const uids = async (w: World) => (await w.pods()).map(({ metadata }) => metadata.uid);
const never = [{ fromMs: 0, ok: false }];

describe("G1, G2: raises that do not help", () => {
  it("G1: a leak is raised maxRaisesPerHour times, then reported and not raised until the AppMonitor is edited", async () => {
    await using w = await world();
    await w.monitor({ maxRaisesPerHour: 2, cooldownSeconds: 0 });
    await w.pod("leaky", { memory: "leak 5Mi/s from 200Mi" });
    const operator = w.start();
    await w.pass(minutes(4));
    expect((await w.memory("pod-leaky"))?.status).toMatchObject({ phase: "Stopped", reason: "SuspectedLeak", raises: 2 });
    expect(await sizes(w)).toEqual(["1Gi/1536Mi"]);
    const before = effectsOf([operator]);
    await w.pass(minutes(2));
    expect(effectsOf([operator])).toEqual(before);
    await w.monitor({ maxRaisesPerHour: 3, cooldownSeconds: 0 });
    await w.pass(minutes(2));
    expect(await sizes(w)).not.toEqual(["1Gi/1536Mi"]);
  });

  it("G1: nothing is raised above maxMemory, and the reason names it", async () => {
    await using w = await world();
    await w.monitor({ maxMemory: "600Mi", cooldownSeconds: 0 });
    await w.pod("leaky", { memory: "ramp 5Mi/s from 200Mi to 590Mi" });
    w.start();
    await w.pass(minutes(3));
    const { reason, actions } = (await w.memory("pod-leaky"))?.status ?? {};
    expect([reason, actions?.map(({ changes }) => changes[0]?.cappedBy), await sizes(w)]).toEqual([
      "CapReached",
      ["maxMemory"],
      ["400Mi/600Mi"],
    ]);
  });

  it("M6: a container that dies at its cap is Degraded between its kills, too, with the number of kills", async () => {
    await using w = await world();
    await w.monitor({ maxMemory: "384Mi" });
    const counted = census(w);
    await w.pod("greedy", { memory: "step 10Mi, 15Gi at 40s" });
    w.start();
    const reasons = new Set<string | undefined>();
    for (let step = 0; step < 60; step += 1) {
      await w.pass(10_000);
      const { status } = await w.client.get(AppMonitor, { namespace: home, name: "johnny-cache" });
      if (counted.oomKills > 0) reasons.add(status?.conditions?.find(({ type }) => type === "Degraded")?.reason);
    }
    expect([...reasons]).toEqual(["OutOfMemoryAtCap"]);
    expect(counted.oomKills).toBeGreaterThan(3);
    expect((await w.memory("pod-greedy"))?.status).toMatchObject({ phase: "Waiting", oomKills: counted.oomKills });
    const { status } = await w.client.get(AppMonitor, { namespace: home, name: "johnny-cache" });
    expect(status?.conditions?.find(({ type }) => type === "Degraded")?.message).toContain(
      `Pod/greedy (${counted.oomKills} OOM kills)`,
    );
    const events = (await w.client.list(Event, { namespace: home })).items.map(({ reason, note }) => `${reason}: ${note}`);
    expect(events).toContainEqual(expect.stringMatching(/^OutOfMemoryAtCap: .*maxMemory leaves no more than 384Mi/));
    expect(events).toContainEqual(expect.stringMatching(/^OutOfMemoryKilled: .*; 3 OOM kills of this app so far/));
  });

  it("G2: each OOM kill counts once, and after three ineffective raises memhog stops", async () => {
    await using w = await world();
    await w.monitor({ maxRaisesPerHour: 10, maxMemory: "16Gi" });
    const counted = census(w);
    await w.pod("greedy", { memory: "step 10Mi, 15Gi at 3s" });
    const operator = w.start();
    await w.pass(minutes(8));
    expect((await w.memory("pod-greedy"))?.status).toMatchObject({
      reason: "RaisesIneffective",
      raises: 3,
      oomKills: counted.oomKills,
    });
    expect(counted.oomKills).toBeGreaterThan(3);
    expect(counted.limits.get("greedy")).toEqual(["384Mi", "768Mi", "1536Mi", "3Gi"]);
    await operator.stop();
    w.start({ name: "memhog-2" });
    await w.pass(minutes(5));
    expect(counted.limits.get("greedy")).toHaveLength(4);
    expect((await w.memory("pod-greedy"))?.status).toMatchObject({ raises: 3, oomKills: counted.oomKills });
  });
});

describe("D1, D2: availability", () => {
  it("D1: the pods of a ReplicaSet are evicted one at a time, never below their PodDisruptionBudget", async () => {
    await using w = await world();
    await w.monitor({ strategy: "Redeploy" });
    const { spec } = hogDeployment("web", { replicas: 3 });
    await w.client.create(ReplicaSet, { metadata: { namespace: home, name: "web" }, spec });
    const budget = { minAvailable: 2, selector: { matchLabels: { app: "web" } } };
    await w.client.create(PodDisruptionBudget, { metadata: { namespace: home, name: "web" }, spec: budget });
    await w.pass(30_000);
    const counted = census(w);
    const operator = w.start();
    await w.pass(minutes(3));
    expect(await sizes(w)).toEqual(["512Mi/768Mi", "512Mi/768Mi", "512Mi/768Mi"]);
    expect(effectsOf([operator])).toEqual({ "PATCH replicasets": 1, "POST pods/eviction": 3 });
    expect(counted.leastReady).toBeGreaterThanOrEqual(2);
  });

  it("D2: a bare pod is kept and its copy deleted if the copy never becomes Ready", async () => {
    const programOf = ({ metadata }: Pod) => (metadata?.name?.includes("-autoscaled") ? { ready: never } : undefined);
    await using w = await world({ nodes: { count: 1, programOf } });
    await w.monitor({ strategy: "Redeploy" });
    const original = await w.pod("hungry", { probe: true });
    await w.pass(5_000);
    const counted = census(w);
    w.start();
    await w.pass(minutes(2));
    expect((await w.pods()).map(({ metadata }) => metadata.name)).toEqual(["hungry", "hungry-autoscaled"]);
    await w.pass(minutes(5));
    const left = await w.pods();
    expect(left.map(({ metadata }) => metadata.uid)).toEqual([original.metadata.uid]);
    expect((await w.memory("pod-hungry"))?.status).toMatchObject({ reason: "ReplacementNotReady", phase: "Waiting" });
    expect([counted.most, counted.leastReady]).toEqual([2, 1]);
  });
});

describe("D2: an app is not redeployed if that would leave no Ready pod", () => {
  const web = { namespace: home, name: "web" };
  const recreate = (w: World, replicas: number, options: HogOptions = {}) => {
    const { spec } = hogDeployment("web", { replicas, ...options });
    return w.client.create(Deployment, { metadata: web, spec: { ...spec, strategy: { type: "Recreate" } } });
  };
  const inOrder = (w: World, replicas: number) => {
    const { spec } = hogDeployment("web", { replicas });
    return w.client.create(StatefulSet, { metadata: web, spec: { ...spec, serviceName: "web" } });
  };

  it.each([
    { name: "a StatefulSet with one replica", make: (w: World) => inOrder(w, 1), memory: "statefulset-web" },
    {
      name: "a Deployment with three replicas and strategy Recreate",
      make: (w: World) => recreate(w, 3),
      memory: "deployment-web",
    },
  ])("$name is not redeployed, and the reason is reported", async ({ make, memory }) => {
    await using w = await world();
    await w.monitor({ strategy: "Redeploy" });
    await make(w);
    await w.pass(30_000);
    const before = await uids(w);
    const operator = w.start();
    await w.pass(minutes(3));
    expect(effectsOf([operator])).toEqual({});
    expect((await w.memory(memory))?.status).toMatchObject({ reason: "WouldCauseDowntime", phase: "Waiting" });
    expect(await uids(w)).toEqual(before);
  });

  it("D2: a StatefulSet with two replicas is redeployed while one stays Ready", async () => {
    await using w = await world();
    await w.monitor({ strategy: "Redeploy" });
    await inOrder(w, 1);
    w.start();
    await w.pass(minutes(2));
    const counted = census(w);
    const scaled = { type: "merge", body: { spec: { replicas: 2 } } } as const;
    await w.client.patch(StatefulSet, web, scaled);
    await w.pass(minutes(3));
    expect(await sizes(w)).toEqual(["512Mi/768Mi", "512Mi/768Mi"]);
    expect(counted.leastReady).toBe(1);
  });

  it("D2: an app whose only pod is not Ready is redeployed", async () => {
    await using w = await world();
    await w.monitor({ strategy: "Redeploy" });
    await recreate(w, 1, { probe: true, annotations: { "simulator.memhog.dev/ready.main": "after 1h" } });
    w.start();
    await w.pass(minutes(2));
    expect(await sizes(w)).toEqual(["512Mi/768Mi"]);
  });
});

describe("D3: bounded concurrency", () => {
  /** The largest number of concurrent raises, per app and in total. */
  function underWay({ simulator }: World) {
    const { storage } = simulator.core;
    const open = new Map<string, number>();
    const found = { inOne: 0, inAll: 0 };
    storage.watch({ group: "kubedemo.com", plural: "appmemories" }, { namespace: home }, storage.version, ({ object }) => {
      const { status, metadata } = object as unknown as AppMemory;
      const count = status?.intents?.filter(({ limitsApplied }) => !limitsApplied).length ?? 0;
      open.set(metadata?.name ?? "", count);
      found.inOne = Math.max(found.inOne, count);
      found.inAll = Math.max(
        found.inAll,
        [...open.values()].reduce((sum, each) => sum + each, 0),
      );
    });
    return found;
  }
  const slow = { count: 1, timing: { resizeMs: 10_000 } };

  it("D3: at most three pods of an app are raised at a time, until all are raised", async () => {
    await using w = await world({ nodes: slow });
    await w.monitor();
    await w.deployment("web", { replicas: 8 });
    await w.pass(5_000);
    const most = underWay(w);
    w.start();
    await w.pass(minutes(3));
    expect(await sizes(w)).toEqual(Array(8).fill("512Mi/768Mi"));
    expect(most.inOne).toBe(3);
  });

  it("D3: at most ten pods of the cluster are raised at a time, until all are raised", async () => {
    await using w = await world({ nodes: slow });
    await w.monitor();
    for (let pod = 1; pod <= 16; pod += 1) await w.pod(`hungry-${pod}`);
    await w.pass(5_000);
    const most = underWay(w);
    w.start();
    await w.pass(minutes(3));
    expect(await sizes(w)).toEqual(Array(16).fill("512Mi/768Mi"));
    expect(most.inAll).toBeGreaterThan(3);
    expect(most.inAll).toBeLessThanOrEqual(10);
  });
});

describe("D4: a full node", () => {
  const specs = [{ name: "small", capacity: { memory: "1Gi" } }];

  it("D4: the limit is raised first; the request follows when the node has free memory", async () => {
    await using w = await world({ nodes: { specs } });
    await w.monitor({ maxMemory: "16Gi" });
    await w.pod("hungry");
    await w.pod("other", { memory: "10Mi", request: "600Mi", limit: "600Mi" });
    const operator = w.start();
    await w.pass(minutes(2));
    expect(await sizes(w)).toEqual(["256Mi/768Mi", "600Mi/600Mi"]);
    expect(effectsOf([operator])).toEqual({ "PATCH pods/resize": 1 });
    await w.client.delete(Pod, { namespace: home, name: "other" });
    await w.pass(minutes(2));
    expect(await sizes(w)).toEqual(["512Mi/768Mi"]);
  });

  it("D4: a Guaranteed pod is raised to what the node allows, and the cap names the node", async () => {
    await using w = await world({ nodes: { specs } });
    await w.monitor();
    await w.pod("hungry", { request: "384Mi", limit: "384Mi", cpu: "100m" });
    await w.pod("other", { memory: "10Mi", request: "400Mi", limit: "400Mi" });
    w.start();
    await w.pass(minutes(2));
    // 1Gi minus 100Mi reserved for the kubelet minus 400Mi of the other pod
    expect(await sizes(w)).toEqual(["524Mi/524Mi", "400Mi/400Mi"]);
    const { actions } = (await w.memory("pod-hungry"))?.status ?? {};
    expect(actions?.map(({ changes, outcome }) => [changes[0]?.cappedBy, outcome])).toEqual([["Node/small", "Applied"]]);
  });
});

describe("D5: LimitRanges and ResourceQuotas are checked before a raise is attempted", () => {
  const ratio = { type: "Container", maxLimitRequestRatio: { memory: "2" } } as const;
  const quota = (limit: string) => (w: World) =>
    w.client.create(ResourceQuota, { metadata: { namespace: home, name: "team" }, spec: { hard: { "limits.memory": limit } } });
  const range = (item: LimitRangeItem) => (w: World) =>
    w.client.create(LimitRange, { metadata: { namespace: home, name: "small" }, spec: { limits: [item] } });

  it.each([
    { name: "a ResourceQuota limits the raise", bound: quota("600Mi"), size: "400Mi/600Mi", by: "ResourceQuota/team" },
    {
      name: "a LimitRange limits the raise",
      bound: range({ type: "Container", max: { memory: "500Mi" } }),
      size: "333Mi/500Mi",
      by: "LimitRange/small",
    },
    {
      name: "a maxLimitRequestRatio is kept by raising request and limit together",
      bound: range(ratio),
      size: "512Mi/768Mi",
      by: undefined,
    },
  ])("$name", async ({ bound, size, by }) => {
    await using w = await world();
    await bound(w);
    await w.pass(1_000);
    await w.monitor({ cooldownSeconds: 0 });
    await w.pod("hungry");
    const { voice } = w.start();
    await w.pass(minutes(1));
    expect(await sizes(w)).toEqual([size]);
    const { actions } = (await w.memory("pod-hungry"))?.status ?? {};
    expect(actions?.map(({ changes, outcome }) => [changes[0]?.cappedBy, outcome])).toEqual([[by, "Applied"]]);
    await w.pass(minutes(3));
    expect(voice.writes.filter(({ status = 0 }) => status >= 400 && status !== 409)).toEqual([]);
  });

  it.each([
    { name: "leaves room for some: all get as much as fits", limit: "4Gi", size: "369Mi/554Mi", reason: "BelowThreshold" },
    { name: "leaves room for one: nothing is redeployed", limit: "2688Mi", size: "256Mi/384Mi", reason: "CapReached" },
  ])("D5: a rollout of six replicas under a quota that $name, and six stay Ready", async ({ limit, size, reason }) => {
    await using w = await world();
    await quota(limit)(w);
    await w.pass(1_000);
    await w.monitor({ strategy: "Redeploy", cooldownSeconds: 0 });
    await w.deployment("web", { replicas: 6 });
    await w.pass(minutes(2)); // the quota controller slows down the creation of the pods
    const counted = census(w);
    w.start();
    await w.pass(minutes(10));
    expect(await sizes(w)).toEqual(Array(6).fill(size));
    expect((await w.memory("deployment-web"))?.status).toMatchObject({ reason });
    // maxUnavailable is 25 % of 6, which is 1.
    expect(counted.leastReady).toBeGreaterThanOrEqual(5);
    expect((await w.pods()).filter(isReady)).toHaveLength(6);
  });
});
