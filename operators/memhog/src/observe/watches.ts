// Which change concerns which app. A change that leaves the facts as they were concerns nobody: heartbeats of nodes and counters in
// statuses pass in silence. And what could concern every app of a namespace wakes them only when it may let them do more; the rest
// is seen with the next samples anyway.
import {
  type CachedObjects,
  type Change,
  equals,
  type Kind,
  type KubernetesObject,
  type ObjectOf,
  type ObjectRef,
  type Stored,
  type Watch,
} from "@memhog/runtime";
import type { AppMemory } from "../api/app-memory.ts";
import { AppMonitor } from "../api/app-monitor.ts";
import type { AppKind } from "../model/seen.ts";
import { appOf, appOfOwner, appRef, parseApp } from "./app-of.ts";
import {
  AutoscalerView,
  CronJobView,
  DaemonSetView,
  DeploymentView,
  JobView,
  type Kept,
  LimitRangeView,
  NodeView,
  PodView,
  podsByNode,
  ReplicaSetView,
  ResourceQuotaView,
  StatefulSetView,
  watchedPods,
} from "./kinds.ts";

/** The kinds that `observe` reads, in the order of `watches`. */
export type Watched = readonly [
  typeof PodView,
  typeof AppMonitor,
  typeof ReplicaSetView,
  typeof JobView,
  typeof DeploymentView,
  typeof StatefulSetView,
  typeof DaemonSetView,
  typeof CronJobView,
  typeof LimitRangeView,
  typeof ResourceQuotaView,
  typeof AutoscalerView,
  typeof NodeView,
];

type WatchesOf<W extends readonly Kind[]> = { readonly [I in keyof W]: Watch<W[I], typeof AppMemory> };
type Watches = WatchesOf<Watched>;

export interface WatchesOptions {
  /**
   * Nodes belong to no namespace: an install with Roles alone may not read them. Then nothing is known about room on nodes, and
   * no cap comes from them. Where not all namespaces are watched, room is an overestimate: pods of others are not counted.
   */
  readonly nodes: boolean;
}

/** For the `watches` of the controller of AppMemory. */
export function watches({ nodes }: WatchesOptions): Watches {
  const all: Watches = [
    watch(PodView, (pod, cached) => appsOf([pod], cached), hasNewFacts),
    watch(AppMonitor, ({ metadata }, cached) => appsIn(metadata.namespace, cached), hasNewSpec),
    watch(ReplicaSetView, (set) => [appRef(appOfOwner(set, "ReplicaSet"))], hasNewFacts),
    watch(JobView, (job) => [appRef(appOfOwner(job, "Job"))], hasNewFacts),
    watch(DeploymentView, itself("Deployment"), hasNewFacts),
    watch(StatefulSetView, itself("StatefulSet"), hasNewFacts),
    watch(DaemonSetView, itself("DaemonSet"), hasNewFacts),
    watch(CronJobView, itself("CronJob"), hasNewFacts),
    watch(LimitRangeView, ({ metadata }, cached) => appsIn(metadata.namespace, cached), hasNewFacts),
    watch(ResourceQuotaView, ({ metadata }, cached) => appsIn(metadata.namespace, cached), hasNewRoom),
    watch(AutoscalerView, ({ metadata, facts }) => named(metadata.namespace, facts.target), hasNewFacts),
    watch(NodeView, ({ metadata }, cached) => appsOf(cached.lookup(podsByNode, metadata.name), cached), hasNewFacts),
  ];
  // A kind that is not watched is not in the Role either. The compiler still knows it: `observe` is told not to ask for it.
  return nodes ? all : (all.slice(0, -1) as unknown as Watches);
}

function watch<K extends Kind>(
  kind: K,
  map: (object: Stored<ObjectOf<K>>, cached: CachedObjects) => Iterable<ObjectRef>,
  when: (change: Change<ObjectOf<K>>) => boolean,
): Watch<K, typeof AppMemory> {
  return { kind, map: (object, _all, cached) => map(object, cached), when };
}

type Pods = Iterable<Stored<ObjectOf<typeof PodView>>>;

/** The apps of those among these pods that are looked after. */
function* appsOf(pods: Pods, cached: CachedObjects): Generator<ObjectRef> {
  for (const pod of pods) {
    const app = pod.facts.watched === undefined ? undefined : appOf(pod, cached);
    if (app !== undefined) yield appRef(app);
  }
}

function appsIn(namespace: string | undefined, cached: CachedObjects): Iterable<ObjectRef> {
  return appsOf(cached.lookup(watchedPods, namespace ?? ""), cached);
}

/** An owner that is an app by itself. Most have no pods of ours: `observe` finds nothing, and nothing is done. */
function itself(kind: AppKind): (object: Stored<KubernetesObject>) => Iterable<ObjectRef> {
  return ({ metadata: { namespace = "", name } }) => [appRef({ kind, namespace, name })];
}

function named(namespace: string | undefined, target: string): Iterable<ObjectRef> {
  const app = parseApp(namespace ?? "", target);
  return app === undefined ? [] : [appRef(app)];
}

function hasNewFacts({ type, object, previous }: Change<Kept<unknown>>): boolean {
  if (type !== "changed") return true;
  const [is, was] = [object.metadata, previous.metadata];
  return (
    !equals(object.facts, previous.facts) || !equals(is.labels, was.labels) || !equals(is.ownerReferences, was.ownerReferences)
  );
}

/** Our own reports in its status are no news to us. */
function hasNewSpec({ type, object, previous }: Change<ObjectOf<typeof AppMonitor>>): boolean {
  return (
    type !== "changed" ||
    object.metadata.generation !== previous.metadata.generation ||
    object.metadata.deletionTimestamp !== previous.metadata.deletionTimestamp
  );
}

/** `used` grows with every pod that is made: only what leaves more room than before is news. */
function hasNewRoom({ type, object, previous }: Change<ObjectOf<typeof ResourceQuotaView>>): boolean {
  if (type !== "changed") return true;
  if (object.facts.length !== previous.facts.length) return true;
  return object.facts.some(({ hard, used }, at) => {
    const before = previous.facts[at];
    return before === undefined || hard !== before.hard || used < before.used;
  });
}

/**
 * Whether what an app's memory knows is other than before. Its words (phase, reason, conditions) are for people and wake nobody: two of us that
 * see different samples would otherwise contradict each other as fast as the server can write (promise L1).
 */
export function knowsOther({ type, object, previous }: Change<AppMemory>): boolean {
  return type !== "changed" || !equals(knowledgeIn(object), knowledgeIn(previous));
}

function knowledgeIn({ metadata, spec, status = {} }: Stored<AppMemory>) {
  const { phase, reason, container, limit, wanted, applied, conditions, ...record } = status;
  return { record, spec, deleted: metadata.deletionTimestamp, owners: metadata.ownerReferences };
}
