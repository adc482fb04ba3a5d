import { type KubernetesObject, keyOf, type Stored } from "@memhog/runtime";
import { HorizontalPodAutoscaler, LimitRange, ReplicaSet, ResourceQuota } from "@memhog/runtime/kinds";
import { aDeployment, aNode, anObject, aPod } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { AppMemory } from "../api/app-memory.ts";
import { monitorAnnotation } from "../api/names.ts";
import { asKept, cachedObjects, johnnyCache } from "./cached.fixture.ts";
import { hasNewRecord, watches } from "./watches.ts";

const annotations = { [monitorAnnotation]: "true" };
const owner = (kind: string, name: string) => ({ apiVersion: "apps/v1", kind, name, uid: `uid-${name}`, controller: true });
const web1 = anObject(ReplicaSet, {
  metadata: { name: "web-1", uid: "uid-web-1", ownerReferences: [owner("Deployment", "web")] },
});
const pod = aPod({ metadata: { name: "web-1-a", annotations, ownerReferences: [owner("ReplicaSet", "web-1")] } });
const bare = aPod({ metadata: { name: "bare", annotations }, spec: { nodeName: "node-2" } });
const elsewhere = aPod({ metadata: { namespace: "bank", name: "till", annotations } });
const quiet = aPod({ metadata: { name: "quiet" } });
const cached = cachedObjects(web1, pod, bare, elsewhere, quiet);

type Found = {
  kind: { kind: string };
  map: (...all: readonly unknown[]) => Iterable<{ name: string }>;
  predicate: (change: object) => boolean;
};
const watchOf = (kind: string | undefined) =>
  watches({ nodes: true }).find((watch) => watch.kind.kind === kind) as unknown as Found;
const wakes = (object: Stored<KubernetesObject>) => [...watchOf(object.kind).map(asKept(object), cached)].map(keyOf).sort();
const matters = (previous: Stored<KubernetesObject>, object: Stored<KubernetesObject>) =>
  watchOf(object.kind).predicate({ type: "changed", previous: asKept(previous), object: asKept(object), initial: false });

describe("a change", () => {
  const hpa = { spec: { maxReplicas: 3, scaleTargetRef: { kind: "Deployment", name: "web" } } };
  const here = ["default/deployment-web", "default/pod-bare"];
  it.each([
    { name: "of a pod", object: pod, apps: ["default/deployment-web"] },
    { name: "of a pod without the annotation", object: quiet, apps: [] },
    { name: "of a ReplicaSet", object: web1, apps: ["default/deployment-web"] },
    { name: "of a Deployment", object: aDeployment({ metadata: { name: "web" } }), apps: ["default/deployment-web"] },
    { name: "of an autoscaler", object: anObject(HorizontalPodAutoscaler, hpa), apps: ["default/deployment-web"] },
    { name: "of a node", object: aNode({ metadata: { name: "node-2" } }), apps: ["default/pod-bare"] },
    { name: "of an AppMonitor", object: johnnyCache(), apps: here },
    { name: "of a LimitRange", object: anObject(LimitRange, {}), apps: here },
    { name: "of a ResourceQuota", object: anObject(ResourceQuota, {}), apps: here },
    {
      name: "T1: of an AppMonitor in another namespace",
      object: johnnyCache({}, { namespace: "bank" }),
      apps: ["bank/pod-till"],
    },
  ])("$name enqueues only the affected apps", ({ object, apps }) => expect(wakes(object)).toEqual(apps));

  const version = { metadata: { resourceVersion: "2" } };
  const monitored = (more: object) => aPod({ ...more, metadata: { annotations, resourceVersion: "2" } });
  const before = aPod({ metadata: { annotations } });
  const quota = (used: string, hard = "4Gi") =>
    anObject(ResourceQuota, { status: { hard: { memory: hard }, used: { memory: used } } });
  it.each([
    { name: "a node heartbeat", from: aNode(), to: aNode({ ...version, status: { conditions: [] } }), news: false },
    {
      name: "more allocatable memory on a node",
      from: aNode(),
      to: aNode({ ...version, status: { allocatable: { memory: "9Gi" } } }),
      news: true,
    },
    { name: "a pod that gets an IP address", from: before, to: monitored({ status: { podIP: "10.0.0.1" } }), news: false },
    { name: "a pod that is no longer ready", from: before, to: monitored({ status: { conditions: [] } }), news: true },
    { name: "a pod whose annotation was removed", from: before, to: aPod(version), news: true },
    { name: "a status write to an AppMonitor", from: johnnyCache(), to: johnnyCache({}, version.metadata), news: false },
    { name: "an edit of an AppMonitor", from: johnnyCache(), to: johnnyCache({ paused: true }, { generation: 2 }), news: true },
    { name: "a quota with more usage", from: quota("1Gi"), to: quota("2Gi"), news: false },
    { name: "a quota with less usage", from: quota("2Gi"), to: quota("1Gi"), news: true },
    { name: "a quota that allows more", from: quota("1Gi"), to: quota("1Gi", "8Gi"), news: true },
  ])("passes the predicate: $name → $news", ({ from, to, news }) => expect(matters(from, to)).toBe(news));

  it("S1: of a node is not watched if the operator has only Roles", () => {
    const kinds = (nodes: boolean) => watches({ nodes }).map((watch) => watch.kind.kind);
    expect(kinds(true)).toContain("Node");
    expect(kinds(false)).not.toContain("Node");
    expect(watches({ nodes: false }).every(({ kind }) => kind.namespaced)).toBe(true);
  });
});

describe("a change of an AppMemory", () => {
  const memory = (status: NonNullable<AppMemory["status"]>) =>
    anObject<AppMemory>(AppMemory, { metadata: { name: "pod-bare" }, spec: { app: "Pod/bare" }, status });
  const previous = memory({ reason: "NoSample", phase: "Watching", raises: 1 });
  it.each([
    {
      name: "passes if the record changed",
      status: { reason: "NoSample", phase: "Watching", raises: 2 } as const,
      is: true,
    },
    {
      name: "L1: does not pass if only reason and phase changed",
      status: { reason: "BelowThreshold", phase: "Waiting", raises: 1 } as const,
      is: false,
    },
  ])("$name", ({ status, is }) => {
    expect(hasNewRecord({ type: "changed", previous, object: memory(status), initial: false } as never)).toBe(is);
  });
});
