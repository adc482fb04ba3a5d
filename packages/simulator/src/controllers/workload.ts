// What the workload controllers share: the state of pods, pods from templates, status updates, revisions.
import {
  dynamicKind,
  findCondition,
  hasCondition,
  type Kind,
  type KubernetesObject,
  ownerReferenceTo,
  type Pod,
  type Stored,
  seconds,
} from "@memhog/runtime";
import { ForbiddenError, InvalidError } from "@memhog/runtime/client";
import type { IntOrString, PodTemplateSpec } from "@memhog/runtime/kinds";
import { equals, parseTime } from "@memhog/runtime/objects";

/** Active: neither terminated nor being deleted. */
export function isActive(pod: Stored<Pod>): boolean {
  return !hasEnded(pod) && !isBeingDeleted(pod);
}

export function hasEnded({ status }: Stored<Pod>): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

/** Has a deletionTimestamp. */
export function isBeingDeleted({ metadata }: Stored<KubernetesObject>): boolean {
  return metadata.deletionTimestamp !== undefined;
}

export function isReady({ status }: Stored<Pod>): boolean {
  return hasCondition(status?.conditions, "Ready");
}

/** Ready for at least minReadySeconds. */
export function isAvailable(pod: Stored<Pod>, minReadySeconds: number, nowMs: number): boolean {
  const inMs = availableInMs(pod, minReadySeconds, nowMs);
  return inMs !== undefined && inMs <= 0;
}

/** How long until a pod that stays ready is available; undefined if it is not ready. */
function availableInMs(pod: Stored<Pod>, minReadySeconds: number, nowMs: number): number | undefined {
  const ready = findCondition(pod.status?.conditions, "Ready");
  if (ready?.status !== "True") return undefined;
  if (minReadySeconds === 0) return 0;
  return (parseTime(ready.lastTransitionTime) ?? nowMs) + minReadySeconds * 1_000 - nowMs;
}

/** When the next of these pods becomes available; undefined if none is waiting for minReadySeconds. */
export function nextAvailableInMs(pods: readonly Stored<Pod>[], minReadySeconds: number, nowMs: number): number | undefined {
  if (minReadySeconds === 0) return undefined;
  const waits = pods.map((pod) => availableInMs(pod, minReadySeconds, nowMs)).filter((inMs) => inMs !== undefined && inMs > 0);
  return waits.length === 0 ? undefined : Math.min(...(waits as number[]));
}

export interface Naming {
  readonly name?: string;
  readonly generateName?: string;
}

/** A pod from a template, with its owner. */
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

/** The retry interval after rejected pods: a quota or a webhook sends no notification when it would admit them. */
export const rejectionRetry = seconds(5);

/** A rejection by a quota, a webhook or validation, which the controller reports. Rethrows every other error. */
export function rejectionOf(error: unknown): ForbiddenError | InvalidError {
  if (error instanceof ForbiddenError || error instanceof InvalidError) return error;
  throw error;
}

// Status updates, as the real controllers do them: the whole status at once, with the resourceVersion it is based on, and only if
// it changes. The runtime's `setStatus` is for custom resources: it adds `observedGeneration`, which half of the built-in kinds
// lack.

/**
 * Writes the status if it has changed.
 *
 *     await report(set, status, (next) => ctx.client.update(ReplicaSet, next, { subresource: "status" }));
 */
export async function report<T extends KubernetesObject & { readonly status?: S }, S extends object>(
  object: Stored<T>,
  status: S,
  write: (next: Stored<T>) => Promise<unknown>,
): Promise<boolean> {
  const next = withoutUndefined(status);
  if (equals(object.status ?? {}, next)) return false;
  await write({ ...object, status: next });
  return true;
}

/** For numbers that the API omits when they are zero. */
export function unlessZero(count: number): number | undefined {
  return count === 0 ? undefined : count;
}

/** Undefined fields are not sent, so they must not count as a difference. */
type Stated<S> = { readonly [K in keyof S]?: S[K] | undefined };

/** The status without undefined fields. */
export function stated<S extends object>(status: Stated<S>): S {
  return withoutUndefined(status) as S;
}

function withoutUndefined<S extends object>(value: S): S {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as S;
}

// Bounds such as "25%" or 3, as budgets and rollouts have them.

/** The absolute number for `total`. Percentages are rounded as specified. */
export function resolveBound(bound: IntOrString, total: number, rounding: "up" | "down"): number {
  if (typeof bound === "number") return bound;
  const percent = /^(\d+)%$/.exec(bound)?.[1];
  if (percent === undefined) return Number.parseInt(bound, 10) || 0;
  const exact = (total * Number(percent)) / 100;
  return rounding === "up" ? Math.ceil(exact) : Math.floor(exact);
}

// The hash of a pod template, for names and labels. The real controllers hash how Go prints the template, so their hashes differ
// from these. Nothing depends on it except names.

const letters = "bcdfghjklmnpqrstvwxz2456789";

/** A hash in the form used in names and in the label pod-template-hash. */
export function templateHash(template: unknown, collisionCount = 0): string {
  const text = `${sorted(template)}${collisionCount === 0 ? "" : collisionCount}`;
  return [...String(fnv1a(text))].map((digit) => letters[digit.charCodeAt(0) % letters.length]).join("");
}

/** FNV-1a, 32 bits. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

/** JSON with sorted keys, because the order of fields in a template does not matter. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, each) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

// Revisions: the history of pod templates of StatefulSets and DaemonSets. A revision is named after the hash of its template; the
// label `controller-revision-hash` of a pod names the revision it was created from.

/** `apps/v1` `controllerrevisions`. */
export interface ControllerRevision extends KubernetesObject {
  readonly revision: number;
  readonly data?: unknown;
}
export const ControllerRevision: Kind<ControllerRevision> = dynamicKind({
  ...{ group: "apps", version: "v1", kind: "ControllerRevision", plural: "controllerrevisions", namespaced: true },
});

export const revisionLabel = "controller-revision-hash";

interface Revisions {
  /** The revision of the current template, existing or to be created. */
  readonly update: ControllerRevision & { readonly metadata: { readonly name: string } };
  /** It does not exist yet, or is no longer the newest. */
  readonly write?: "create" | "renumber";
  /** Beyond revisionHistoryLimit. */
  readonly forget: readonly Stored<ControllerRevision>[];
}

interface RevisionOptions {
  readonly owner: Stored<KubernetesObject>;
  readonly kind: Kind;
  readonly template: PodTemplateSpec;
  readonly limit?: number | undefined;
  /** Names of the revisions that pods still use. */
  readonly inUse: ReadonlySet<string>;
}

export function decideRevisions(options: RevisionOptions, known: readonly Stored<ControllerRevision>[]): Revisions {
  const { owner, kind, template, limit = 10, inUse } = options;
  const hash = templateHash(template);
  const name = `${owner.metadata.name}-${hash}`;
  const present = known.find(({ metadata }) => metadata.name === name);
  const newest = Math.max(0, ...known.filter((each) => each !== present).map(({ revision }) => revision));
  const revision = present !== undefined && present.revision > newest ? present.revision : newest + 1;
  const { namespace } = owner.metadata;
  const labels = { ...template.metadata?.labels, [revisionLabel]: hash };
  const metadata = {
    name,
    ...(namespace !== undefined && { namespace }),
    labels,
    ownerReferences: [ownerReferenceTo(owner, kind)],
  };
  const data = { spec: { template: { ...template, $patch: "replace" } } };
  const idle = known
    .filter(({ metadata }) => metadata.name !== name && !inUse.has(metadata.name))
    .sort((a, b) => a.revision - b.revision);
  const write = present === undefined ? "create" : present.revision === revision ? undefined : "renumber";
  return {
    update: { metadata, data, revision },
    ...(write && { write }),
    forget: idle.slice(0, Math.max(0, idle.length - limit)),
  };
}
