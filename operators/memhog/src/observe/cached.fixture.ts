// Caches without a cluster: whole objects go in, and come out as the views keep them.
import type { Kind, KubernetesObject, ObjectRef, Stored } from "@memhog/runtime";
import { type Index, type View, withoutManagedFields } from "@memhog/runtime/cache";
import type { CacheReader, ListFilter } from "@memhog/runtime/controller";
import { anObject } from "@memhog/runtime/testing";
import { AppMonitor } from "../api/app-monitor.ts";
import {
  AppMemoryView,
  AppMonitorView,
  AutoscalerView,
  CronJobView,
  DaemonSetView,
  DeploymentView,
  JobView,
  LimitRangeView,
  NodeView,
  PodView,
  ReplicaSetView,
  ResourceQuotaView,
  StatefulSetView,
} from "./kinds.ts";

const views: readonly View[] = [
  ...[PodView, NodeView, DeploymentView, StatefulSetView, DaemonSetView, ReplicaSetView, JobView, CronJobView],
  ...[LimitRangeView, ResourceQuotaView, AutoscalerView, AppMonitorView, AppMemoryView],
];

/** What would be kept of an object, whatever its kind. */
export function asKept(object: Stored<KubernetesObject>): Stored<KubernetesObject> {
  const kind = views.find((view) => view.kind === object.kind);
  if (kind === undefined) throw new TypeError(`expected a kind that is watched, found ${object.kind}`);
  return (kind.project ?? withoutManagedFields)(object);
}

export function cachedObjects(...whole: readonly Stored<KubernetesObject>[]): CacheReader {
  const all = whole.map((object) => ({ kind: object.kind, object: asKept(object) }));
  const of = (kind: Kind) => all.filter((entry) => entry.kind === kind.kind).map(({ object }) => object);
  const cached = {
    get: (kind: Kind, { namespace, name }: ObjectRef) =>
      of(kind).find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
    list: (kind: Kind, { namespace }: ListFilter = {}) =>
      of(kind).filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace),
    lookup: ({ kind, values }: Index, value: string) =>
      of(kind).filter((object) => [values(object) ?? []].flat().includes(value)),
  };
  return cached as unknown as CacheReader; // a cache of a kind holds objects of that kind
}

/** The sample AppMonitor johnny-cache. */
export function johnnyCache(spec: Partial<AppMonitor["spec"]> = {}, metadata: object = {}): Stored<AppMonitor> {
  return anObject<AppMonitor>(AppMonitor, {
    metadata: { name: "johnny-cache", ...metadata },
    spec: { memThresholdPercent: 75, memMultiplier: 2, ...spec } as AppMonitor["spec"],
  });
}
