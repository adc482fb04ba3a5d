import type { KubernetesObject, ObjectRef, Stored } from "@memhog/runtime";
import { HorizontalPodAutoscaler, LimitRange, ReplicaSet, ResourceQuota } from "@memhog/runtime/kinds";
import { aDeployment, aNode, anObject, aPod, manualClock } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { AppMemory } from "../api/app-memory.ts";
import { monitorAnnotation } from "../api/names.ts";
import { mib } from "../model/bytes.ts";
import { appMemoryName } from "./app-of.ts";
import { cachedObjects, johnnyCache } from "./cached.fixture.ts";
import { type ObserveDeps, observe } from "./observe.ts";
import { RaiseTimes } from "./pods.ts";

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

const memory: ObserveDeps["memory"] = {
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
  { at = ref, nodes = true, minor = 37, inPlace = true, ...world }: Partial<ObserveDeps> & Partial<Where> = {},
) {
  const cached = cachedObjects(...objects);
  const ctx = { ...cached, clock, signal: new AbortController().signal, client: { discovery: discovery(minor, inPlace) } };
  return observe(at, ctx, { memory, raises: new RaiseTimes(clock), nodes, ...world });
}

interface Where {
  readonly at: ObjectRef;
  readonly minor: number;
  readonly inPlace: boolean;
}

const remembered = (status: object) =>
  anObject<AppMemory>(AppMemory, { metadata: { name: ref.name }, spec: { app: "Deployment/web" }, status });

describe("an observed app", () => {
  it("contains its pods with samples, its template, and its AppMonitor", async () => {
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
      otherAutoscaler: undefined,
      underWayElsewhere: { namespace: 0, cluster: 0, otherNamespaces: 0 },
    });
  });

  it("is undefined if there are neither pods nor an AppMemory", async () => {
    expect(await seeing([web, set, johnnyCache()])).toBeUndefined();
    expect(await seeing([], { at: { namespace: "default", name: "whatever" } })).toBeUndefined();
  });

  it("contains the AppMemory if all pods are gone", async () => {
    expect(await seeing([remembered({ raises: 2 })])).toMatchObject({ pods: [], record: { raises: 2 } });
  });

  it("M5: contains the times of raises of replaced pods, by a monotonic clock", async () => {
    const raises = new RaiseTimes(clock);
    raises.note("gone");
    const action = {
      ...{ at: "2026-01-01T00:00:00Z", method: "Template", pod: { name: "web-1-z", uid: "gone" }, changes: [] },
      ...{ reason: "ThresholdCrossed", outcome: "Applied" },
    };
    const seen = await seeing([set, web, replica("web-1-a"), remembered({ actions: [action] })], { raises });
    expect(seen?.raisedAgoMs).toEqual(new Map([["gone", 0]]));
  });

  it("E3: contains the readable part of a malformed AppMemory and reports the rest", async () => {
    const broken: string[] = [];
    const spoiled = remembered({ raises: 2, intents: [{ id: 7 }] });
    const seen = await seeing([spoiled], { onBroken: (where) => broken.push(where) });
    expect(seen?.record).toMatchObject({ raises: 2, intents: [] });
    expect(broken).toEqual(["intents[0]"]);
  });

  it("is found by a shortened name", async () => {
    const name = `long-${"x".repeat(245)}`;
    const at = { namespace: "default", name: appMemoryName({ kind: "Pod", namespace: "default", name }) };
    expect(at.name).toHaveLength(253);
    expect(await seeing([aPod({ metadata: { name, annotations } })], { at })).toMatchObject({ app: { kind: "Pod", name } });
  });

  it("contains no container facts of a pod without the annotation", async () => {
    const quiet = aPod({ metadata: { name: "web-1-z", ownerReferences: [owner("ReplicaSet", "web-1")] } });
    const seen = await seeing([set, web, replica("web-1-a"), quiet]);
    expect(seen?.pods.map(({ name, monitored, ready, containers }) => [name, monitored, ready, containers.length])).toEqual([
      ["web-1-a", true, true, 1],
      ["web-1-z", false, true, 0],
    ]);
  });

  it("D4: contains the free memory of the node, counting running pods of all namespaces", async () => {
    const other = aPod({ metadata: { namespace: "bank", name: "till" } });
    const ended = aPod({ metadata: { name: "ended" }, status: { phase: "Failed" } });
    const away = aPod({ metadata: { name: "away" }, spec: { nodeName: "node-2" } });
    const seen = await seeing([set, web, replica("web-1-a"), other, ended, away, aNode()]);
    expect(seen?.pods[0]?.node).toEqual({ name: "node-1", allocatable: mib(8192), requested: mib(512), underPressure: false });
  });

  it("S1: contains no free memory if nodes cannot be read", async () => {
    expect((await seeing([set, web, replica("web-1-a"), aNode()], { nodes: false }))?.pods[0]?.node).toBeUndefined();
  });

  it("uses the metric that the AppMonitor selects", async () => {
    const seen = await seeing([set, web, replica("web-1-a"), johnnyCache({ metric: "Usage" })]);
    expect(seen?.pods[0]?.containers[0]?.samples[0]?.ageMs).toBe(1);
  });

  it("F2: contains the most specific AppMonitor that selects one of the pods, and the names of the others", async () => {
    const mine = johnnyCache({ selector: { matchLabels: { app: "web" } } }, { name: "a-mine" });
    const theirs = johnnyCache({ selector: { matchLabels: { app: "db" } } }, { name: "theirs" });
    const going = johnnyCache({}, { name: "going", deletionTimestamp: "2026-01-01T00:00:00Z" });
    const seen = await seeing([set, web, replica("web-1-a"), johnnyCache(), mine, theirs, going]);
    expect(seen?.policies.map(({ name }) => name)).toEqual(["a-mine"]);
    expect(seen?.outranked).toEqual(["johnny-cache"]);
  });

  it("T1: contains no pod, AppMonitor, quota, LimitRange or autoscaler of another namespace", async () => {
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
      otherAutoscaler: undefined,
      pods: [{ name: "web-1-a" }],
    });
    expect(seen?.pods).toHaveLength(1);
  });

  const memoryHpa = {
    maxReplicas: 3,
    scaleTargetRef: { kind: "Deployment", name: "web" },
    metrics: [{ type: "Resource", resource: { name: "memory", target: { type: "Utilization", averageUtilization: 80 } } }],
  } as const;
  it("F1: names the autoscaler that depends on the memory request", async () => {
    const hpa = anObject(HorizontalPodAutoscaler, { metadata: { name: "web-hpa" }, spec: memoryHpa });
    const vpa = { vpaUpdates: "Pod resources updated by web-vpa: container 0: memory request" };
    const touched = aPod({
      metadata: { name: "web-1-b", annotations: { ...annotations, ...vpa }, ownerReferences: [owner("ReplicaSet", "web-1")] },
    });
    expect((await seeing([set, web, replica("web-1-a"), hpa]))?.otherAutoscaler).toEqual({
      name: "HorizontalPodAutoscaler/web-hpa",
      kind: "HPA",
    });
    expect((await seeing([set, web, touched, hpa]))?.otherAutoscaler).toEqual({
      name: "VerticalPodAutoscaler/web-vpa",
      kind: "VPA",
    });
  });

  it("D5: names the LimitRanges and ResourceQuotas of the namespace", async () => {
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

  it("D3: contains the number of raises in progress in other apps, without waiting ones", async () => {
    const intent = {
      id: "i",
      method: "InPlace",
      pod: { name: "p", uid: "u" },
      changes: [],
      reason: "OutOfMemory",
      at: new Date(clock.now()).toISOString(),
      attempt: 1,
    } as const;
    const busy = (name: string, ...intents: readonly object[]) =>
      anObject<AppMemory>(AppMemory, {
        metadata: { name },
        spec: { app: "Pod/x" },
        status: { intents: intents.map((more, at) => ({ ...intent, id: `${at}`, ...more })) },
      });
    const others = [
      busy("pod-x", {}, { limitsApplied: true }, { waiting: { reason: "ResizeDeferred" } }),
      busy("pod-y", {}),
      busy("pod-z"),
    ];
    const own = anObject<AppMemory>(AppMemory, {
      metadata: { name: ref.name },
      spec: { app: "Deployment/web" },
      status: { intents: [intent] },
    });
    expect((await seeing([set, web, replica("web-1-a"), own, ...others]))?.underWayElsewhere.cluster).toBe(2);
  });

  it.each([
    {
      name: "the API server is older than 1.37",
      kubelet: "v1.36.1",
      minor: 36,
      inPlace: true,
      cluster: { inPlace: true, resizeAfterOomKill: false, lowersLimits: true },
    },
    {
      name: "the API server is older than 1.34",
      kubelet: "v1.33.1",
      minor: 33,
      inPlace: true,
      cluster: { inPlace: true, resizeAfterOomKill: false },
    },
    {
      name: "only the kubelet is older than 1.34",
      kubelet: "v1.33.1",
      minor: 34,
      inPlace: true,
      cluster: { inPlace: true, resizeAfterOomKill: false, lowersLimits: false },
    },
    {
      name: "only the kubelet is older than 1.37",
      kubelet: "v1.36.1",
      minor: 37,
      inPlace: true,
      cluster: { inPlace: true, resizeAfterOomKill: false, lowersLimits: true },
    },
    {
      name: "API server and kubelet are 1.37",
      kubelet: "v1.37.1",
      minor: 37,
      inPlace: true,
      cluster: { inPlace: true, resizeAfterOomKill: true, lowersLimits: true },
    },
    {
      name: "pods/resize is not served",
      kubelet: "v1.32.2",
      minor: 32,
      inPlace: false,
      cluster: { inPlace: false, resizeAfterOomKill: false },
    },
  ])("contains the capabilities of the cluster: $name", async ({ kubelet, minor, inPlace, cluster }) => {
    const node = aNode({ status: { nodeInfo: { kubeletVersion: kubelet } } });
    expect((await seeing([set, web, replica("web-1-a"), node], { minor, inPlace }))?.cluster).toEqual(cluster);
  });

  it("contains the reason why an old kubelet cannot resize", async () => {
    const node = aNode({ status: { nodeInfo: { kubeletVersion: "v1.32.2" } } });
    expect((await seeing([set, web, replica("web-1-a"), node]))?.pods[0]?.notResizable).toMatch(/node-1 has 1\.32/);
  });

  it("treats a ReplicaSet as rolled out only if no pod is smaller than its template", async () => {
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

describe("raise times", () => {
  it("M5: use a monotonic clock", async () => {
    const time = manualClock();
    const witness = new RaiseTimes(time);
    witness.note("a");
    await time.advance(5_000);
    time.stepWallClock(-3_600_000);
    expect(witness.ago(["a", "b"])).toEqual(new Map([["a", 5_000]]));
  });

  it("are dropped after a day", async () => {
    const time = manualClock();
    const witness = new RaiseTimes(time);
    witness.note("a");
    await time.advance(25 * 3_600_000);
    witness.note("b");
    expect([...witness.ago(["a", "b"]).keys()]).toEqual(["b"]);
  });
});
