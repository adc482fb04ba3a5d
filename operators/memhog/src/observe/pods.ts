// The pods of an app, each with its node and the samples of its containers.
import type { Stored } from "@memhog/runtime";
import type { Clock } from "@memhog/runtime/concurrency";
import type { CacheReader } from "@memhog/runtime/controller";
import { controllerOf } from "@memhog/runtime/objects";
import { type Bytes, bytes } from "../model/bytes.ts";
import type { AppName, Metric, ObservedContainer, ObservedNode, ObservedPod } from "../model/observed-app.ts";
import { barePodApp } from "./app-of.ts";
import {
  controllerKey,
  jobsByController,
  type Kept,
  NodeView,
  PodView,
  podsByController,
  podsByNode,
  replicaSetsByController,
} from "./kinds.ts";
import type { MemoryPoller } from "./memory-poller.ts";
import type { NodeFacts } from "./namespace-facts.ts";
import type { ContainerFacts, PodFacts, WatchedPod } from "./pod-facts.ts";

export type KeptPod = Stored<Kept<PodFacts>>;
type Cached = Pick<CacheReader, "get" | "lookup">;

const owners = {
  Deployment: "apps/v1",
  StatefulSet: "apps/v1",
  DaemonSet: "apps/v1",
  ReplicaSet: "apps/v1",
  CronJob: "batch/v1",
  Job: "batch/v1",
  Pod: "v1",
} as const;

/** Sorted by name, so that the result is deterministic. */
export function podsOf(app: AppName, cached: Cached): readonly KeptPod[] {
  const found = controllersOf(app, cached).flatMap((key) => cached.lookup(podsByController, key));
  return (app.kind === "Pod" ? barePods(app, found, cached) : [...found]).sort((a, b) =>
    a.metadata.name < b.metadata.name ? -1 : 1,
  );
}

/** Without those that only claim to belong to the app. The pod of that name may claim to belong to another one. */
function barePods({ namespace, name }: AppName, claiming: readonly KeptPod[], cached: Cached): KeptPod[] {
  const itself = cached.get(PodView, { namespace, name });
  const all = itself === undefined || claiming.includes(itself) ? claiming : [...claiming, itself];
  return all.filter((pod) => controllerOf(pod) === undefined && barePodApp(pod, cached) === name);
}

/** The controllers of the pods of an app: the app itself, or its ReplicaSets and Jobs. */
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
  readonly memory: Pick<MemoryPoller, "samplesOf"> & Partial<Pick<MemoryPoller, "windowOf">>;
  readonly metric: Metric;
  /** The length of the window for spec.shrink. @default no window */
  readonly windowMs?: number | undefined;
  /** Nodes are in the cache. */
  readonly nodes: boolean;
}

export function observedPod(pod: KeptPod, tools: PodTools): ObservedPod {
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
    containers: containers.map((container) => observedContainer(container, { namespace, pod: name }, tools)),
  };
}

/** A pod of the app without the annotation: only its existence and health matter. */
const unwatched: Omit<ObservedPod, "name" | "uid" | "resourceVersion" | "createdAtMs" | "phase" | "ready" | "deleting"> = {
  monitored: false,
  qos: "BestEffort",
  node: undefined,
  containers: [],
  resize: { state: "none" },
  notResizable: undefined,
  copyOf: undefined,
  copyRisk: undefined,
};

function observedContainer(
  facts: ContainerFacts,
  of: { readonly namespace: string; readonly pod: string },
  tools: PodTools,
): ObservedContainer {
  const { life, ...rest } = facts;
  const { memory, metric, windowMs } = tools;
  const key = { ...of, container: facts.name };
  const { samples, bad } = memory.samplesOf(metric, key, life);
  const window = windowMs === undefined ? undefined : memory.windowOf?.(metric, key, windowMs);
  return { ...rest, samples, badSamples: bad, ...(window && { window }) };
}

/** The most memory that requests can still take on one node; undefined if there is no node. */
export function mostFreeOnNode(cached: CacheReader): Bytes | undefined {
  const free = cached.list(NodeView).flatMap(({ metadata }) => {
    const seen = nodeOf(metadata.name, cached)?.seen;
    return seen === undefined ? [] : [Math.max(0, seen.allocatable - seen.requested)];
  });
  return free.length === 0 ? undefined : bytes(Math.max(...free));
}

function nodeOf(
  name: string,
  cached: Cached,
): { readonly seen: ObservedNode | undefined; readonly facts: NodeFacts } | undefined {
  const facts = cached.get(NodeView, { name })?.facts;
  if (facts === undefined) return undefined;
  const { allocatable, underPressure } = facts;
  if (allocatable === undefined) return { seen: undefined, facts };
  const requested = cached.lookup(podsByNode, name).reduce((sum, pod) => sum + pod.facts.requested, 0);
  return { seen: { name, allocatable, requested: bytes(requested), underPressure }, facts };
}

/** The API server may support in-place resize while the kubelet of the node is too old for it. */
function oldKubelet(facts: NodeFacts | undefined, node: string | undefined): string | undefined {
  const minor = facts?.kubeletMinor;
  return minor !== undefined && minor < 33 ? `in-place resize requires kubelet 1.33, and ${node} has 1.${minor}` : undefined;
}

/** Whether the kubelets of these pods have at least this minor version. Unknown versions count as new enough. */
export function kubeletsHave(
  version: number,
  pods: readonly KeptPod[],
  { cached, nodes }: Pick<PodTools, "cached" | "nodes">,
): boolean {
  if (!nodes) return true;
  const minors = pods.map(({ facts }) => facts.node && cached.get(NodeView, { name: facts.node })?.facts.kubeletMinor);
  return minors.every((minor) => typeof minor !== "number" || minor >= version);
}

/** The VPA that manages one of these pods. */
export function vpaOf(pods: readonly KeptPod[]): WatchedPod["vpa"] {
  return pods.map(({ facts }) => facts.watched?.vpa).find((vpa) => vpa !== undefined);
}

/** Raises are counted by the hour and cooldowns last at most a day, so older times are not needed. */
const rememberMs = 24 * 3_600_000;

/**
 * When this process last raised each pod, on the monotonic clock. The stored record has wall-clock times, which survive a restart but
 * are wrong after the clock steps (M5). The more recent of the two counts.
 */
export class RaiseTimes {
  readonly #clock: Pick<Clock, "monotonic">;
  /** By pod UID, oldest first. */
  readonly #raises = new Map<string, number>();
  /** By stage of a rollout, oldest first. */
  readonly #stages = new Map<string, number>();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Records that the pod was raised now. */
  note(uid: string): void {
    this.#raises.delete(uid);
    this.#raises.set(uid, this.#clock.monotonic());
    this.#forget(this.#raises);
  }

  /** Milliseconds since this process first asked about this stage of a rollout. A stage that comes back is not a new one. */
  since(stage: string): number {
    this.#forget(this.#stages);
    const at = this.#stages.get(stage) ?? this.#clock.monotonic();
    this.#stages.set(stage, at);
    return this.#clock.monotonic() - at;
  }

  #forget(times: Map<string, number>): void {
    for (const [old, at] of times) {
      if (this.#clock.monotonic() - at <= rememberMs) break;
      times.delete(old);
    }
  }

  /** Milliseconds since each pod was raised. Pods that this process did not raise are missing. */
  ago(uids: Iterable<string>): ReadonlyMap<string, number> {
    const known = [...uids].flatMap((uid) => {
      const at = this.#raises.get(uid);
      return at === undefined ? [] : [[uid, this.#clock.monotonic() - at] as const];
    });
    return new Map(known);
  }
}
