// Maps a change to the apps it enqueues. A change that leaves the facts equal, such as a node heartbeat, enqueues none. A ResourceQuota
// change, which would enqueue every app of its namespace, does so only if it frees memory; the apps see other changes with their
// next samples.
import type { Kind, KubernetesObject, ObjectOf, ObjectRef, Stored } from "@memhog/runtime";
import type { Change } from "@memhog/runtime/cache";
import type { CacheReader, Watch } from "@memhog/runtime/controller";
import { equals } from "@memhog/runtime/objects";
import type { AppMemory } from "../api/app-memory.ts";
import type { AppKind } from "../model/observed-app.ts";
import { appOf, appOfOwner, appRef, parseApp } from "./app-of.ts";
import {
  AppMonitorView,
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

export interface WatchesOptions {
  /**
   * Watch nodes, which requires a ClusterRole. Without nodes, their free memory is not a cap. If not all namespaces are watched, the
   * free memory is overestimated, because pods of other namespaces are not counted.
   */
  readonly nodes: boolean;
}

/** The watches of the app controller. */
export function watches({ nodes }: WatchesOptions) {
  // A kind that is not watched is not in the generated Role. `observe` gets the same `nodes` and does not read it then.
  const nodeWatch = watch(
    NodeView,
    ({ metadata }, cached) => appsOf(cached.lookup(podsByNode, metadata.name), cached),
    hasNewFacts,
  );
  const nodeWatches: readonly Watch<typeof NodeView>[] = nodes ? [nodeWatch] : [];
  return [
    watch(PodView, (pod, cached) => appsOf([pod], cached), hasNewFacts),
    watch(AppMonitorView, ({ metadata }, cached) => appsIn(metadata.namespace, cached), hasNewSpec),
    watch(ReplicaSetView, (set) => [appRef(appOfOwner(set, "ReplicaSet"))], hasNewFacts),
    watch(JobView, (job) => [appRef(appOfOwner(job, "Job"))], hasNewFacts),
    watch(DeploymentView, itself("Deployment"), hasNewFacts),
    watch(StatefulSetView, itself("StatefulSet"), hasNewFacts),
    watch(DaemonSetView, itself("DaemonSet"), hasNewFacts),
    watch(CronJobView, itself("CronJob"), hasNewFacts),
    watch(LimitRangeView, ({ metadata }, cached) => appsIn(metadata.namespace, cached), hasNewFacts),
    watch(ResourceQuotaView, ({ metadata }, cached) => appsIn(metadata.namespace, cached), hasNewRoom),
    watch(AutoscalerView, ({ metadata, facts }) => named(metadata.namespace, facts.target), hasNewFacts),
    ...nodeWatches,
  ] as const;
}

function watch<K extends Kind>(
  kind: K,
  map: (object: Stored<ObjectOf<K>>, cached: CacheReader) => Iterable<ObjectRef>,
  predicate: (change: Change<ObjectOf<K>>) => boolean,
): Watch<K> {
  return { kind, map, predicate };
}

type Pods = Iterable<Stored<ObjectOf<typeof PodView>>>;

/** The apps of the annotated pods among these. */
function* appsOf(pods: Pods, cached: CacheReader): Generator<ObjectRef> {
  for (const pod of pods) {
    const app = pod.facts.watched === undefined ? undefined : appOf(pod, cached);
    if (app !== undefined) yield appRef(app);
  }
}

function appsIn(namespace: string | undefined, cached: CacheReader): Iterable<ObjectRef> {
  return appsOf(cached.lookup(watchedPods, namespace ?? ""), cached);
}

/** A workload that is an app itself. If it has no annotated pods, `observe` returns undefined. */
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

/** Ignores status changes, which memhog writes itself. */
function hasNewSpec({ type, object, previous }: Change<ObjectOf<typeof AppMonitorView>>): boolean {
  return (
    type !== "changed" ||
    object.metadata.generation !== previous.metadata.generation ||
    object.metadata.deletionTimestamp !== previous.metadata.deletionTimestamp
  );
}

/** `used` changes with every new pod. Only changes that may free memory matter. */
function hasNewRoom({ type, object, previous }: Change<ObjectOf<typeof ResourceQuotaView>>): boolean {
  if (type !== "changed") return true;
  if (object.facts.length !== previous.facts.length) return true;
  return object.facts.some(({ hard, used }, at) => {
    const before = previous.facts[at];
    return before === undefined || hard !== before.hard || used < before.used;
  });
}

/**
 * Ignores the fields of an AppMemory that only report (phase, reason, conditions): two leaders that see different samples would
 * otherwise trigger each other forever (L1).
 */
export function hasNewRecord({ type, object, previous }: Change<AppMemory>): boolean {
  return type !== "changed" || !equals(recordIn(object), recordIn(previous));
}

function recordIn({ metadata, spec, status = {} }: Stored<AppMemory>) {
  const { phase, reason, container, limit, wanted, applied, conditions, ...record } = status;
  return { record, spec, deleted: metadata.deletionTimestamp, owners: metadata.ownerReferences };
}
