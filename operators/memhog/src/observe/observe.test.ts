import {
  HorizontalPodAutoscaler,
  type KubernetesObject,
  LimitRange,
  type ObjectRef,
  ReplicaSet,
  ResourceQuota,
  type Stored,
} from "@memhog/runtime";
import { aDeployment, aNode, anObject, aPod, manualClock } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { AppMemory } from "../api/app-memory.ts";
import { monitorAnnotation } from "../api/names.ts";
import { mib } from "../model/bytes.ts";
import { appMemoryName } from "./app-of.ts";
import { cachedObjects, johnnyCache } from "./cached.fixture.ts";
import { type ObserveWorld, observe } from "./observe.ts";
import { RaiseWitness } from "./raise-witness.ts";

const clock = manualClock();
const annotations = { [monitorAnnotation]: "true" };
const owner = (kind: string, name: string) => ({ apiVersion: "apps/v1", kind, name, uid: `uid-${name}`, controller: true });
const set = anObject(ReplicaSet, {
  metadata: { name: "web-1", uid: "uid-web-1", ownerReferences: [owner("Deployment", "web")] },
});
const replica = (name: string, more: object = {}) =>
  aPod({ ...more, metadata: { name, annotations, labels: { app: "web" }, ownerReferences: [owner("ReplicaSet", "web-1")] } });
const web = aDeployment({ metadata: { name: "web" } });
const ref = { namespace: "default", name: "deployment-web" };

const memory: ObserveWorld["memory"] = {
  metrics: () => ({ available: true, freshForMs: 90_000 }),
  samplesOf: (metric, { namespace, pod }) =>
    namespace === "default"
      ? { samples: [{ bytes: mib(pod === "web-1-b" ? 300 : 100), ageMs: metric === "Usage" ? 1 : 2 }], bad: 3 }
      : { samples: [], bad: 0 },
};
const discovery = (minor: number, inPlace = true) => ({
  hasSubresource: async () => inPlace,
  version: async () => ({ major: 1, minor, gitVersion: `v1.${minor}.0` }),
});

function seeing(
  objects: readonly Stored<KubernetesObject>[],
  { at = ref, nodes = true, minor = 37, inPlace = true, ...world }: Partial<ObserveWorld> & Partial<Where> = {},
) {
  const cached = cachedObjects(...objects);
  const ctx = { cached, clock, signal: new AbortController().signal, client: { discovery: discovery(minor, inPlace) } };
  return observe(at, ctx, { memory, raises: new RaiseWitness(clock), nodes, ...world });
}

interface Where {
  readonly at: ObjectRef;
  readonly minor: number;
  readonly inPlace: boolean;
}

const remembered = (status: object) =>
  anObject<AppMemory>(AppMemory, { metadata: { name: ref.name }, spec: { app: "Deployment/web" }, status });

describe("what is seen of an app", () => {
  it("is its pods with their samples, its template, and the AppMonitor in charge", async () => {
    const seen = await seeing([replica("web-1-b"), replica("web-1-a"), set, web, johnnyCache(), aNode()]);
    expect(seen).toMatchObject({
      app: { kind: "Deployment", namespace: "default", name: "web" },
      nowMs: clock.now(),
      policies: [
        { name: "johnny-cache", thresholdPercent: 75, multiplier: 2, strategy: "Auto", cooldownMs: 60_000, maxMemory: undefined },
      ],
      pods: [
        { name: "web-1-a", monitored: true, containers: [{ name: "main", samples: [{ bytes: mib(100) }], badSamples: 3 }] },
        { name: "web-1-b", monitored: true, containers: [{ name: "main", samples: [{ bytes: mib(300) }], badSamples: 3 }] },
      ],
      template: { uid: web.metadata.uid, replicas: 3, rolledOut: true },
      record: { intents: [], raises: 0 },
      cluster: { inPlace: true, resizeAfterOomKill: true },
      rival: undefined,
      underWayElsewhere: 0,
    });
  });

  it("is nothing where there are neither pods nor a memory of them", async () => {
    expect(await seeing([web, set, johnnyCache()])).toBeUndefined();
    expect(await seeing([], { at: { namespace: "default", name: "whatever" } })).toBeUndefined();
  });

  it("is what is remembered, when all pods are gone", async () => {
    expect(await seeing([remembered({ raises: 2 })])).toMatchObject({ pods: [], record: { raises: 2 } });
  });

  it("M5: is when pods were raised that were replaced since, by a clock that never goes back", async () => {
    const raises = new RaiseWitness(clock);
    raises.note("gone");
    const action = {
      ...{ at: "2026-01-01T00:00:00Z", road: "Template", pod: { name: "web-1-z", uid: "gone" }, changes: [] },
      ...{ reason: "ThresholdCrossed", outcome: "Applied" },
    };
    const seen = await seeing([set, web, replica("web-1-a"), remembered({ actions: [action] })], { raises });
    expect(seen?.raisedAgoMs).toEqual(new Map([["gone", 0]]));
  });

  it("E3: is what can be read of a memory that somebody spoiled; the rest is told", async () => {
    const broken: string[] = [];
    const spoiled = remembered({ raises: 2, intents: [{ id: 7 }] });
    const seen = await seeing([spoiled], { onBroken: (where) => broken.push(where) });
    expect(seen?.record).toMatchObject({ raises: 2, intents: [] });
    expect(broken).toEqual(["intents[0]"]);
  });

  it("is found by a name that had to be shortened", async () => {
    const name = `long-${"x".repeat(245)}`;
    const at = { namespace: "default", name: appMemoryName({ kind: "Pod", namespace: "default", name }) };
    expect(at.name).toHaveLength(253);
    expect(await seeing([aPod({ metadata: { name, annotations } })], { at })).toMatchObject({ app: { kind: "Pod", name } });
  });

  it("is a pod without its insides where it does not ask for us", async () => {
    const quiet = aPod({ metadata: { name: "web-1-z", ownerReferences: [owner("ReplicaSet", "web-1")] } });
    const seen = await seeing([set, web, replica("web-1-a"), quiet]);
    expect(seen?.pods.map(({ name, monitored, ready, containers }) => [name, monitored, ready, containers.length])).toEqual([
      ["web-1-a", true, true, 1],
      ["web-1-z", false, true, 0],
    ]);
  });

  it("D4: is the room on the node, counted over the pods of all namespaces that have not ended", async () => {
    const other = aPod({ metadata: { namespace: "bank", name: "till" } });
    const ended = aPod({ metadata: { name: "ended" }, status: { phase: "Failed" } });
    const away = aPod({ metadata: { name: "away" }, spec: { nodeName: "node-2" } });
    const seen = await seeing([set, web, replica("web-1-a"), other, ended, away, aNode()]);
    expect(seen?.pods[0]?.node).toEqual({ name: "node-1", allocatable: mib(8192), requested: mib(512) });
  });

  it("S1: is no room where nodes may not be read", async () => {
    expect((await seeing([set, web, replica("web-1-a"), aNode()], { nodes: false }))?.pods[0]?.node).toBeUndefined();
  });

  it("is the metric that the AppMonitor wants", async () => {
    const seen = await seeing([set, web, replica("web-1-a"), johnnyCache({ metric: "Usage" })]);
    expect(seen?.pods[0]?.containers[0]?.samples[0]?.ageMs).toBe(1);
  });

  it("F2: is every AppMonitor that selects one of the pods, and no other", async () => {
    const mine = johnnyCache({ selector: { matchLabels: { app: "web" } } }, { name: "a-mine" });
    const theirs = johnnyCache({ selector: { matchLabels: { app: "db" } } }, { name: "theirs" });
    const going = johnnyCache({}, { name: "going", deletionTimestamp: "2026-01-01T00:00:00Z" });
    const seen = await seeing([set, web, replica("web-1-a"), johnnyCache(), mine, theirs, going]);
    expect(seen?.policies.map(({ name }) => name)).toEqual(["a-mine", "johnny-cache"]);
  });

  it("T1: is nothing of another namespace: no pod, no AppMonitor, no bounds, no autoscaler", async () => {
    const there = { namespace: "bank" };
    const hpa = { metadata: there, spec: memoryHpa };
    const seen = await seeing([
      ...[set, web, replica("web-1-a"), johnnyCache({}, there), anObject(HorizontalPodAutoscaler, hpa)],
      aPod({ metadata: { ...there, name: "web-1-x", annotations, ownerReferences: [owner("ReplicaSet", "web-1")] } }),
      anObject(LimitRange, { metadata: there, spec: { limits: [{ type: "Pod", max: { memory: "1Gi" } }] } }),
      anObject(ResourceQuota, { metadata: there, spec: { hard: { memory: "1Gi" } } }),
    ]);
    expect(seen).toMatchObject({
      policies: [],
      limits: { ranges: [], quotas: [] },
      rival: undefined,
      pods: [{ name: "web-1-a" }],
    });
    expect(seen?.pods).toHaveLength(1);
  });

  const memoryHpa = {
    maxReplicas: 3,
    scaleTargetRef: { kind: "Deployment", name: "web" },
    metrics: [{ type: "Resource", resource: { name: "memory", target: { type: "Utilization", averageUtilization: 80 } } }],
  } as const;
  it("F1: is the autoscaler that minds, by name", async () => {
    const hpa = anObject(HorizontalPodAutoscaler, { metadata: { name: "web-hpa" }, spec: memoryHpa });
    const vpa = { vpaUpdates: "Pod resources updated by web-vpa: container 0: memory request" };
    const touched = aPod({
      metadata: { name: "web-1-b", annotations: { ...annotations, ...vpa }, ownerReferences: [owner("ReplicaSet", "web-1")] },
    });
    expect((await seeing([set, web, replica("web-1-a"), hpa]))?.rival).toEqual({
      name: "HorizontalPodAutoscaler/web-hpa",
      kind: "HPA",
    });
    expect((await seeing([set, web, touched, hpa]))?.rival).toEqual({ name: "VerticalPodAutoscaler/web-vpa", kind: "VPA" });
  });

  it("D5: is the bounds of the namespace, by name", async () => {
    const range = anObject(LimitRange, {
      metadata: { name: "small" },
      spec: { limits: [{ type: "Container", max: { memory: "1Gi" } }] },
    });
    const quota = anObject(ResourceQuota, { metadata: { name: "team" }, status: { hard: { "limits.memory": "4Gi" }, used: {} } });
    expect((await seeing([set, web, replica("web-1-a"), range, quota]))?.limits).toEqual({
      ranges: [{ name: "small", per: "Container", max: mib(1024), maxRatio: undefined }],
      quotas: [{ name: "team", of: "limits", hard: mib(4096), used: 0 }],
    });
  });

  it("D3: is how much is under way elsewhere; what waits does not count, nor does this app itself", async () => {
    const intent = {
      id: "i",
      road: "InPlace",
      pod: { name: "p", uid: "u" },
      changes: [],
      reason: "OutOfMemory",
      at: "2026-01-01T00:00:00Z",
      attempt: 1,
    } as const;
    const busy = (name: string, ...intents: readonly object[]) =>
      anObject<AppMemory>(AppMemory, {
        metadata: { name },
        spec: { app: "Pod/x" },
        status: { intents: intents.map((more, at) => ({ ...intent, id: `${at}`, ...more })) },
      });
    const others = [busy("pod-x", {}, { limitsApplied: true }, { waitingFor: "Deferred" }), busy("pod-y", {}), busy("pod-z")];
    const own = anObject<AppMemory>(AppMemory, {
      metadata: { name: ref.name },
      spec: { app: "Deployment/web" },
      status: { intents: [intent] },
    });
    expect((await seeing([set, web, replica("web-1-a"), own, ...others]))?.underWayElsewhere).toBe(2);
  });

  it.each([
    {
      name: "the API server is older than 1.37",
      kubelet: "v1.36.1",
      minor: 36,
      inPlace: true,
      cluster: { inPlace: true, resizeAfterOomKill: false },
    },
    {
      name: "only the kubelet is older than 1.37",
      kubelet: "v1.36.1",
      minor: 37,
      inPlace: true,
      cluster: { inPlace: true, resizeAfterOomKill: false },
    },
    { name: "all are new", kubelet: "v1.37.1", minor: 37, inPlace: true, cluster: { inPlace: true, resizeAfterOomKill: true } },
    {
      name: "pods/resize is not served",
      kubelet: "v1.32.2",
      minor: 32,
      inPlace: false,
      cluster: { inPlace: false, resizeAfterOomKill: false },
    },
  ])("is what the cluster can do: $name", async ({ kubelet, minor, inPlace, cluster }) => {
    const node = aNode({ status: { nodeInfo: { kubeletVersion: kubelet } } });
    expect((await seeing([set, web, replica("web-1-a"), node], { minor, inPlace }))?.cluster).toEqual(cluster);
  });

  it("is why the kubelet of a node cannot resize, where it is too old", async () => {
    const node = aNode({ status: { nodeInfo: { kubeletVersion: "v1.32.2" } } });
    expect((await seeing([set, web, replica("web-1-a"), node]))?.pods[0]?.notResizable).toMatch(/kubelet of node-1 is 1\.32/);
  });

  it("a ReplicaSet is rolled out only when no pod is smaller than its template", async () => {
    const resources = { limits: { memory: "512Mi" } };
    const alone = (limit: string) =>
      anObject(ReplicaSet, {
        metadata: { name: "alone", uid: "uid-alone" },
        spec: { replicas: 1, template: { spec: { containers: [{ name: "main", resources: { limits: { memory: limit } } }] } } },
        status: { observedGeneration: 1, replicas: 1, readyReplicas: 1 },
      });
    const own = aPod({
      metadata: { name: "alone-a", annotations, ownerReferences: [owner("ReplicaSet", "alone")] },
      spec: { containers: [{ name: "main", resources }] },
    });
    const at = { namespace: "default", name: "replicaset-alone" };
    expect((await seeing([alone("512Mi"), own], { at }))?.template).toMatchObject({ rolledOut: true, replacesPods: false });
    expect((await seeing([alone("1Gi"), own], { at }))?.template).toMatchObject({ rolledOut: false });
  });
});

describe("the witness of raises", () => {
  it("M5: counts by a clock that never goes back", async () => {
    const time = manualClock();
    const witness = new RaiseWitness(time);
    witness.note("a");
    await time.advance(5_000);
    time.stepWallClock(-3_600_000);
    expect(witness.ago(["a", "b"])).toEqual(new Map([["a", 5_000]]));
  });

  it("forgets after a day", async () => {
    const time = manualClock();
    const witness = new RaiseWitness(time);
    witness.note("a");
    await time.advance(25 * 3_600_000);
    witness.note("b");
    expect([...witness.ago(["a", "b"]).keys()]).toEqual(["b"]);
  });
});
