// Rolling updates: children move to the latest revision of their parent one by one, and only while those that moved are healthy.
//
// A revision is the part of the parent that `revisionHistory.fieldPaths` names. It is stored in a ControllerRevision, with the names of
// the children that belong to it in an annotation. A move is written there before the child is touched, so a crash loses nothing, and
// a child of an old revision that is lost during a rollout comes back as it was.

import type { ReconcileScope } from "../controller/reconcile.ts";
import { hashOf } from "../controller/settled.ts";
import { findCondition } from "../objects/condition.ts";
import { isRecord } from "../objects/diff.ts";
import { type Condition, namespacedKind } from "../objects/kinds/kind.ts";
import { dnsSubdomain } from "../objects/names.ts";
import { type Kind, type KubernetesObject, ownerReferenceTo, type Stored } from "../objects/object.ts";
import type { HookObject } from "./hook.ts";
import type { ChildRule } from "./update.ts";

interface ControllerRevision extends KubernetesObject {
  readonly data?: unknown;
  readonly revision: number;
}
export const ControllerRevision: Kind<ControllerRevision> = namespacedKind(
  "apps/v1",
  "ControllerRevision",
  "controllerrevisions",
);

/** A revision of a parent, and the children that belong to it. */
export interface Revision {
  readonly name: string;
  /** The fields of the parent that make the revision. */
  readonly patch: HookObject;
  /** See `childKey`. */
  readonly children: readonly string[];
}

/** "Pod./web-0", "StatefulSet.apps/web": without the version, which can change. */
export function childKey(kind: Kind, name: string): string {
  return `${kind.kind}.${kind.group}/${name}`;
}

/** How a child looks from the latest revision. */
export type ChildState =
  | { readonly kind: "missing" }
  | { readonly kind: "outdated" }
  | { readonly kind: "unhealthy"; readonly message: string }
  | { readonly kind: "healthy" };

export interface Rollout {
  /** Child → name of its revision. */
  readonly claims: ReadonlyMap<string, string>;
  /** The condition `Updated` of the parent. */
  readonly condition: Condition;
}

/** A child that can be rolled, in the order of the response of the hook. */
export interface RollingChild {
  readonly key: string;
  readonly state: ChildState;
}

/**
 * Decides which child moves to the latest revision next: at most one, the first in the order of the hook, and none while a child that
 * is already there is missing, outdated or unhealthy. For three children a, b, c, in the order c, b, a:
 *
 *     c      b      a        then
 *     old    old    old      c moves
 *     new ✗  old    old      nothing: c is not healthy
 *     new ✓  old    old      b moves
 *     new ✓  new ✗  old      nothing
 *     new ✓  new ✓  new ✓    OnLatestRevision
 */
export function nextRollout(latest: string, children: readonly RollingChild[], before: ReadonlyMap<string, string>): Rollout {
  const claims = new Map(children.map(({ key, state }) => [key, claimOf(latest, before.get(key), state)]));
  const condition = (status: Condition["status"], reason: string, message: string): Condition => ({
    ...{ type: "Updated", status, reason, message },
  });
  const next = children.find(({ key }) => claims.get(key) !== latest);
  if (next === undefined) return { claims, condition: condition("True", "OnLatestRevision", `All children are at ${latest}`) };
  const blocking = children.find(({ key, state }) => claims.get(key) === latest && state.kind !== "healthy");
  if (blocking !== undefined) {
    const why = blocking.state.kind === "unhealthy" ? blocking.state.message : blocking.state.kind;
    return { claims, condition: condition("False", "RolloutWaiting", `${blocking.key} at the latest revision: ${why}`) };
  }
  claims.set(next.key, latest);
  return { claims, condition: condition("False", "RolloutProgressing", `Updating ${next.key}`) };
}

/** A child that nobody claims, or that already is as the latest revision wants it, belongs to the latest revision. */
function claimOf(latest: string, before: string | undefined, { kind }: ChildState): string {
  const same = kind === "healthy" || kind === "unhealthy";
  return before === undefined || same ? latest : before;
}

/** Whether a child that is as desired passes the checks. */
export function healthOf(child: HookObject, { updateStrategy = {} }: ChildRule): ChildState {
  const { method, statusChecks } = updateStrategy;
  const { generation = 0 } = child.metadata ?? {};
  const { observedGeneration = generation, conditions } = child.status ?? {};
  if (method === "RollingInPlace" && observedGeneration < generation)
    return { kind: "unhealthy", message: "its controller has not observed the latest spec" };
  for (const { type, status, reason } of statusChecks?.conditions ?? []) {
    const found = findCondition<Condition>(conditions, type);
    const passes = found !== undefined && (status ?? found.status) === found.status && (reason ?? found.reason) === found.reason;
    const is = found === undefined ? "missing" : `${found.status} (${found.reason ?? "no reason"})`;
    if (!passes) return { kind: "unhealthy", message: `condition ${type} is ${is}` };
  }
  return { kind: "healthy" };
}

/** The fields of a parent at these paths: `{ spec: { template } }`. */
export function patchOf(parent: HookObject, fieldPaths: readonly string[]): HookObject {
  return fieldPaths.reduce<HookObject>((patch, path) => withValue(patch, path.split("."), valueAt(parent, path.split("."))), {});
}

/** The parent as it was at a revision. */
export function atRevision(parent: HookObject, { patch }: Revision, fieldPaths: readonly string[]): HookObject {
  return fieldPaths.reduce<HookObject>(
    (object, path) => withValue(object, path.split("."), valueAt(patch, path.split("."))),
    parent,
  );
}

function valueAt(object: unknown, path: readonly string[]): unknown {
  return path.reduce((value, field) => (isRecord(value) ? value[field] : undefined), object);
}

function withValue(object: HookObject, [field = "", ...rest]: readonly string[], value: unknown): HookObject {
  const inner = object[field];
  return { ...object, [field]: rest.length === 0 ? value : withValue(isRecord(inner) ? { ...inner } : {}, rest, value) };
}

export function revisionName(parent: Stored<KubernetesObject>, patch: HookObject): string {
  return dnsSubdomain(parent.metadata.name, hashOf(patch).slice(0, 10));
}

// Storage.

const childrenAnnotation = ({ group }: Kind) => `${group === "" ? "" : `${group}/`}revision-children`;

/** The revisions of a parent, as they are stored. */
export function storedRevisions(scope: ReconcileScope, parent: Stored<KubernetesObject>): readonly Revision[] {
  return revisionsOf(scope, parent).map(({ metadata, data }) => {
    const children: unknown = JSON.parse(metadata.annotations?.[childrenAnnotation(scope.kind)] ?? "[]");
    return {
      name: metadata.name,
      patch: isRecord(data) ? { ...data } : {},
      children: Array.isArray(children) ? children.map(String) : [],
    };
  });
}

function revisionsOf({ list }: ReconcileScope, parent: Stored<KubernetesObject>): readonly Stored<ControllerRevision>[] {
  return list(ControllerRevision, { ownedBy: parent }).filter((found) => "revision" in found) as Stored<ControllerRevision>[];
}

/** Writes the revisions that changed, and deletes those that are no longer used. Each write is a compare-and-swap. */
export async function storeRevisions(
  scope: ReconcileScope,
  parent: Stored<KubernetesObject>,
  revisions: readonly Revision[],
): Promise<void> {
  const stored = revisionsOf(scope, parent);
  const annotation = childrenAnnotation(scope.kind);
  const highest = Math.max(0, ...stored.map(({ revision }) => revision));
  for (const { name, patch, children } of revisions) {
    const found = stored.find(({ metadata }) => metadata.name === name);
    const text = JSON.stringify(children);
    if (found?.metadata.annotations?.[annotation] === text) continue;
    const only = found === undefined ? {} : { uid: found.metadata.uid, resourceVersion: found.metadata.resourceVersion };
    const { namespace } = parent.metadata;
    const metadata = { name, ...(namespace && { namespace }), ...only, annotations: { [annotation]: text } };
    const owned = { ...metadata, ownerReferences: [ownerReferenceTo(parent, scope.kind)] };
    const object = { metadata: owned, data: patch, revision: found?.revision ?? highest + 1 };
    await scope.client.apply<ControllerRevision>(ControllerRevision, object, { fieldManager: scope.fieldManager, force: true });
  }
  const kept = new Set(revisions.map(({ name }) => name));
  for (const { metadata } of stored)
    if (!kept.has(metadata.name))
      await scope.client.delete(ControllerRevision, metadata, { uid: metadata.uid, ignoreNotFound: true });
}
