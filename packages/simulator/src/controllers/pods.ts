// Pods, as those see them who keep them running: which count, which are ready, how one is made from a template.
import {
  findCondition,
  hasCondition,
  type Kind,
  type KubernetesObject,
  ownerReferenceTo,
  type Pod,
  type PodTemplateSpec,
  parseTime,
  type Stored,
} from "@memhog/runtime";

/** Counts: it has not ended, and nobody has asked it to. */
export function isActive(pod: Stored<Pod>): boolean {
  return !hasEnded(pod) && !isGoing(pod);
}

export function hasEnded({ status }: Stored<Pod>): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

/** Somebody has asked it to go. */
export function isGoing({ metadata }: Stored<KubernetesObject>): boolean {
  return metadata.deletionTimestamp !== undefined;
}

export function isReady({ status }: Stored<Pod>): boolean {
  return hasCondition(status?.conditions, "Ready");
}

/** Ready, and for long enough. */
export function isAvailable(pod: Stored<Pod>, minReadySeconds: number, nowMs: number): boolean {
  const inMs = availableInMs(pod, minReadySeconds, nowMs);
  return inMs !== undefined && inMs <= 0;
}

/** How long until a pod that stays ready is available; undefined if it is not ready. */
export function availableInMs(pod: Stored<Pod>, minReadySeconds: number, nowMs: number): number | undefined {
  const ready = findCondition(pod.status?.conditions, "Ready");
  if (ready?.status !== "True") return undefined;
  if (minReadySeconds === 0) return 0;
  return (parseTime(ready.lastTransitionTime) ?? nowMs) + minReadySeconds * 1_000 - nowMs;
}

/** When the first of these becomes available that is not yet; undefined if none is on its way. */
export function nextAvailableInMs(pods: readonly Stored<Pod>[], minReadySeconds: number, nowMs: number): number | undefined {
  if (minReadySeconds === 0) return undefined;
  const waits = pods.map((pod) => availableInMs(pod, minReadySeconds, nowMs)).filter((inMs) => inMs !== undefined && inMs > 0);
  return waits.length === 0 ? undefined : Math.min(...(waits as number[]));
}

export interface Naming {
  readonly name?: string;
  readonly generateName?: string;
}

/** A pod as its owner wants it. */
export function podFrom(
  template: PodTemplateSpec,
  owner: Stored<KubernetesObject>,
  kind: Kind,
  naming: Naming = { generateName: `${owner.metadata.name}-` },
): Pod {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  return {
    metadata: {
      ...naming,
      ...(owner.metadata.namespace !== undefined && { namespace: owner.metadata.namespace }),
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ...(finalizers && { finalizers }),
      ownerReferences: [ownerReferenceTo(owner, kind)],
    },
    spec: template.spec,
  };
}
