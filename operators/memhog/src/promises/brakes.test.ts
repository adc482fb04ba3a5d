// What stops a raise: leaks, loops of kills, a full node, a namespace that has no more to give, and too much at once.
// On the simulator: each of these takes many minutes, or a node that is full on request.
import {
  Deployment,
  LimitRange,
  type LimitRangeItem,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  ResourceQuota,
  StatefulSet,
} from "@memhog/runtime";
import { describe, expect, it } from "vitest";
import type { AppMemory } from "../api/app-memory.ts";
import { census } from "./census.fixture.ts";
import { effectsOf } from "./effects.fixture.ts";
import { type HogOptions, hogDeployment, sizeOf } from "./hogs.fixture.ts";
import { home, minutes, type World, world } from "./world.fixture.ts";

const sizes = async (w: World) => (await w.pods()).map(sizeOf);
const uids = async (w: World) => (await w.pods()).map(({ metadata }) => metadata.uid);
const never = [{ fromMs: 0, ok: false }];

describe("G1, G2: more memory is not the answer to everything", () => {
  it("G1: a leak is raised so many times an hour, then it is called one, and left alone until the AppMonitor is edited", async () => {
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

  it("G1: nothing grows beyond maxMemory, and the reason names it", async () => {
    await using w = await world();
    await w.monitor({ maxMemory: "600Mi", cooldownSeconds: 0 });
    await w.pod("leaky", { memory: "ramp 5Mi/s from 200Mi to 590Mi" });
    w.start();
    await w.pass(minutes(3));
    const { reason, actions } = (await w.memory("pod-leaky"))?.status ?? {};
    expect([reason, actions?.map(({ changes }) => changes[0]?.cappedBy), await sizes(w)]).toEqual([
      "AtCeiling",
      ["maxMemory"],
      ["400Mi/600Mi"],
    ]);
  });

  it("G2: each kill counts once, and after three raises that did not help it is left alone", async () => {
    await using w = await world();
    await w.monitor({ maxRaisesPerHour: 10 });
    const counted = census(w);
    await w.pod("greedy", { memory: "step 10Mi, 15Gi at 3s" });
    const operator = w.start();
    await w.pass(minutes(8));
    expect((await w.memory("pod-greedy"))?.status).toMatchObject({
      reason: "RaisesFutile",
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

describe("D1, D2: whoever serves goes on serving", () => {
  it("D1: the pods of a ReplicaSet are evicted one at a time, never below their budget", async () => {
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

  it("D2: a bare pod stays where its bigger copy never becomes Ready; the copy goes", async () => {
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

describe("D2: an app is not redeployed where that would leave nobody Ready", () => {
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
    { name: "a StatefulSet of one replica", make: (w: World) => inOrder(w, 1), memory: "statefulset-web" },
    { name: "a Deployment of three with Recreate", make: (w: World) => recreate(w, 3), memory: "deployment-web" },
  ])("$name stays, and says why", async ({ make, memory }) => {
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

  it("a second replica is all that a StatefulSet needs: one of the two goes on serving", async () => {
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

  it("nothing is lost where the only pod is not Ready", async () => {
    await using w = await world();
    await w.monitor({ strategy: "Redeploy" });
    await recreate(w, 1, { probe: true, annotations: { "simulator.memhog.dev/ready.main": "after 1h" } });
    w.start();
    await w.pass(minutes(2));
    expect(await sizes(w)).toEqual(["512Mi/768Mi"]);
  });
});

describe("D3: not everything at once", () => {
  /** The most raises that were under way at once, in each app and in all. */
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

  it("three pods of an app at a time, until all have it", async () => {
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

  it("ten pods of the cluster at a time, until all have it", async () => {
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

  it("the limit grows, which needs no room; the request follows when somebody has left", async () => {
    await using w = await world({ nodes: { specs } });
    await w.monitor();
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

  it("a Guaranteed pod gets what there is, and is told which node has no more", async () => {
    await using w = await world({ nodes: { specs } });
    await w.monitor();
    await w.pod("hungry", { request: "384Mi", limit: "384Mi", cpu: "100m" });
    await w.pod("other", { memory: "10Mi", request: "400Mi", limit: "400Mi" });
    w.start();
    await w.pass(minutes(2));
    // 1Gi − 100Mi for the kubelet − 400Mi
    expect(await sizes(w)).toEqual(["524Mi/524Mi", "400Mi/400Mi"]);
    const { actions } = (await w.memory("pod-hungry"))?.status ?? {};
    expect(actions?.map(({ changes, outcome }) => [changes[0]?.cappedBy, outcome])).toEqual([["Node/small", "Applied"]]);
  });
});

describe("D5: what the namespace allows is looked up first, and nothing is tried that would be refused", () => {
  const ratio = { type: "Container", maxLimitRequestRatio: { memory: "2" } } as const;
  const quota = (limit: string) => (w: World) =>
    w.client.create(ResourceQuota, { metadata: { namespace: home, name: "team" }, spec: { hard: { "limits.memory": limit } } });
  const range = (item: LimitRangeItem) => (w: World) =>
    w.client.create(LimitRange, { metadata: { namespace: home, name: "small" }, spec: { limits: [item] } });

  it.each([
    { name: "a ResourceQuota", bound: quota("600Mi"), size: "400Mi/600Mi", by: "ResourceQuota/team" },
    {
      name: "a LimitRange",
      bound: range({ type: "Container", max: { memory: "500Mi" } }),
      size: "333Mi/500Mi",
      by: "LimitRange/small",
    },
    { name: "limit ÷ request, within which both grow at once", bound: range(ratio), size: "512Mi/768Mi", by: undefined },
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
});
