// The pods of an app, each with its node and with the samples of its containers.
import type { CachedObjects, Stored } from "@memhog/runtime";
import { bytes } from "../model/bytes.ts";
import type { Metric } from "../model/policy.ts";
import type { AppName, ContainerSeen, NodeSeen, PodSeen } from "../model/seen.ts";
import type { ContainerFacts } from "./facts/container-facts.ts";
import type { NodeFacts } from "./facts/node-facts.ts";
import type { PodFacts, WatchedPod } from "./facts/pod-facts.ts";
import {
  controllerKey,
  jobsByController,
  type Kept,
  NodeView,
  podsByController,
  podsByNode,
  replicaSetsByController,
} from "./kinds.ts";
import type { MemoryPoller } from "./memory-poller.ts";

export type KeptPod = Stored<Kept<PodFacts>>;
type Cached = Pick<CachedObjects, "get" | "lookup">;

const owners = {
  Deployment: "apps/v1",
  StatefulSet: "apps/v1",
  DaemonSet: "apps/v1",
  ReplicaSet: "apps/v1",
  CronJob: "batch/v1",
  Job: "batch/v1",
  Pod: "v1",
} as const;

/** By name, so that the same world always looks the same. */
export function podsOf(app: AppName, cached: Cached): readonly KeptPod[] {
  return [...controllersOf(app, cached)]
    .flatMap((key) => cached.lookup(podsByController, key))
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

/** What controls the pods of an app: itself, or the ReplicaSets and Jobs it made. */
function controllersOf({ kind, namespace, name }: AppName, cached: Cached): readonly string[] {
  const controlledBy = (by: string) => [
    ...cached.lookup(replicaSetsByController, by).map(({ metadata }) => ["ReplicaSet", metadata.name] as const),
    ...cached.lookup(jobsByController, by).map(({ metadata }) => ["Job", metadata.name] as const),
  ];
  const keyed = ([of, named]: readonly ["ReplicaSet" | "Job", string]) =>
    controllerKey(namespace, { apiVersion: owners[of], kind: of, name: named });
  if (kind === "Other") {
    const own = `${namespace}/${name}`;
    return [own, ...controlledBy(own).map(keyed)];
  }
  const own = controllerKey(namespace, { apiVersion: owners[kind], kind, name });
  return kind === "Deployment" || kind === "CronJob" ? controlledBy(own).map(keyed) : [own];
}

export interface PodTools {
  readonly cached: Cached;
  readonly memory: Pick<MemoryPoller, "samplesOf">;
  readonly metric: Metric;
  /** Nodes are in the cache. */
  readonly nodes: boolean;
}

export function podSeen(pod: KeptPod, tools: PodTools): PodSeen {
  const { name, uid, resourceVersion, namespace = "" } = pod.metadata;
  const { node, requested: _, watched, ...health } = pod.facts;
  const common = { name, uid, resourceVersion, ...health };
  if (watched === undefined) return { ...common, ...unwatched };
  const { containers, notResizable, vpa: _vpa, ...rest } = watched;
  const found = tools.nodes && node !== undefined ? nodeOf(node, tools.cached) : undefined;
  return {
    ...common,
    ...rest,
    node: found?.seen,
    notResizable: notResizable ?? oldKubelet(found?.facts, node),
    containers: containers.map((container) => containerSeen(container, { namespace, pod: name }, tools)),
  };
}

/** A pod of the app that does not ask for us: whether it is there and well is all that matters. */
const unwatched: Omit<PodSeen, "name" | "uid" | "resourceVersion" | "createdAtMs" | "phase" | "ready" | "deleting"> = {
  monitored: false,
  qos: "BestEffort",
  node: undefined,
  containers: [],
  resize: { state: "none" },
  notResizable: undefined,
  copyOf: undefined,
};

function containerSeen(
  facts: ContainerFacts,
  of: { readonly namespace: string; readonly pod: string },
  tools: PodTools,
): ContainerSeen {
  const { life, ...rest } = facts;
  const { samples, bad } = tools.memory.samplesOf(tools.metric, { ...of, container: facts.name }, life);
  return { ...rest, samples, badSamples: bad };
}

function nodeOf(name: string, cached: Cached): { readonly seen: NodeSeen | undefined; readonly facts: NodeFacts } | undefined {
  const facts = cached.get(NodeView, { name })?.facts;
  if (facts === undefined) return undefined;
  const { allocatable } = facts;
  if (allocatable === undefined) return { seen: undefined, facts };
  const requested = cached.lookup(podsByNode, name).reduce((sum, pod) => sum + pod.facts.requested, 0);
  return { seen: { name, allocatable, requested: bytes(requested) }, facts };
}

/** The API server may serve resizes that the kubelet of this node has never heard of. */
function oldKubelet(facts: NodeFacts | undefined, node: string | undefined): string | undefined {
  const minor = facts?.kubeletMinor;
  return minor !== undefined && minor < 33 ? `the kubelet of ${node} is 1.${minor}; in place needs 1.33` : undefined;
}

/** Whether a container of these pods that is already OOMKilled may be resized, as far as their kubelets go. */
export function kubeletsResizeAfterOomKill(
  pods: readonly KeptPod[],
  { cached, nodes }: Pick<PodTools, "cached" | "nodes">,
): boolean {
  if (!nodes) return true;
  const minors = pods.map(({ facts }) => facts.node && cached.get(NodeView, { name: facts.node })?.facts.kubeletMinor);
  return minors.every((minor) => typeof minor !== "number" || minor >= 37);
}

/** The VPA that looks after one of these pods. */
export function vpaOf(pods: readonly KeptPod[]): WatchedPod["vpa"] {
  return pods.map(({ facts }) => facts.watched?.vpa).find((vpa) => vpa !== undefined);
}
