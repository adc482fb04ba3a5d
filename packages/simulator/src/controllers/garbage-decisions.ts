// The decisions of the garbage collector, as pure functions.
//
// An object with owners is deleted when the last owner is gone. How the deletion of an owner propagates is recorded in its
// finalizers:
//
//     background           no finalizer: the owner goes at once, its dependents follow
//     foregroundDeletion   dependents go first; the owner waits for those with blockOwnerDeletion
//     orphan               dependents stay and lose the reference
import type { KubernetesObject, Stored } from "@memhog/runtime";
import { equals, type OwnerReference } from "@memhog/runtime/objects";

type Any = Stored<KubernetesObject>;

export const foreground = "foregroundDeletion";
export const orphan = "orphan";

/** The state of an owner: present; gone (or another object has its name); waiting for its dependents in foreground deletion. */
export type OwnerState = "there" | "gone" | "waiting";

export interface Ownership {
  readonly reference: OwnerReference;
  readonly state: OwnerState;
}

type DependentDecision =
  | { readonly kind: "keep" }
  /** Another owner remains: only the references to the others are removed. */
  | { readonly kind: "release"; readonly from: readonly string[] }
  | { readonly kind: "delete"; readonly propagationPolicy: "Background" | "Foreground" | "Orphan" };

/** What to do with an object, given the states of its owners. */
export function decideDependent(object: Any, owners: readonly Ownership[], ownsOthers: boolean): DependentDecision {
  if (owners.length === 0 || isBeingDeleted(object)) return { kind: "keep" };
  const lost = owners.filter(({ state }) => state !== "there").map(({ reference }) => reference.uid);
  if (lost.length === 0) return { kind: "keep" };
  if (lost.length < owners.length) return { kind: "release", from: lost };
  // The owner waits in foreground deletion, so dependents of this object must be deleted first, too.
  const isAwaited = owners.some(({ state }) => state === "waiting") && ownsOthers;
  return { kind: "delete", propagationPolicy: isAwaited ? "Foreground" : policyOf(object) };
}

/** The propagation policy that the finalizers of the object request. */
function policyOf(object: Any): "Background" | "Foreground" | "Orphan" {
  if (hasFinalizer(object, orphan)) return "Orphan";
  return hasFinalizer(object, foreground) ? "Foreground" : "Background";
}

type OwnerDecision =
  | { readonly kind: "nothing" }
  /** Remove the reference to the owner from these, then its finalizer. */
  | { readonly kind: "orphan"; readonly release: readonly Any[] }
  /** Reconcile these: their owner waits for them. The owner is deleted once none of them `blocks`. */
  | { readonly kind: "collect"; readonly visit: readonly Any[]; readonly blocked: boolean };

/** What the deletion of an owner requires of its dependents. */
export function decideOwner(owner: Any, dependents: readonly Any[]): OwnerDecision {
  if (!isBeingDeleted(owner)) return { kind: "nothing" };
  if (hasFinalizer(owner, orphan)) return { kind: "orphan", release: dependents };
  if (!hasFinalizer(owner, foreground)) return { kind: "nothing" };
  const blocks = (each: Any) =>
    each.metadata.ownerReferences?.some(
      ({ uid, blockOwnerDeletion }) => uid === owner.metadata.uid && blockOwnerDeletion === true,
    );
  const blocked = dependents.some(blocks);
  return { kind: "collect", visit: dependents.filter((each) => !isBeingDeleted(each)), blocked };
}

/** The state of the owner that a reference with this UID names. */
export function stateOf(owner: Any | undefined, uid: string): OwnerState {
  if (owner === undefined || owner.metadata.uid !== uid) return "gone";
  return isBeingDeleted(owner) && hasFinalizer(owner, foreground) ? "waiting" : "there";
}

/** Whether the collector handles an object. */
export function isOfInterest(object: Any): boolean {
  const owned = (object.metadata.ownerReferences ?? []).length > 0;
  return owned || (isBeingDeleted(object) && (hasFinalizer(object, orphan) || hasFinalizer(object, foreground)));
}

/** Whether a change does not matter to the collector, as is the case for most. */
export function isOwnedTheSame({ metadata: a }: Any, { metadata: b }: Any): boolean {
  const same = a.uid === b.uid && a.deletionTimestamp === b.deletionTimestamp;
  return same && equals(a.ownerReferences, b.ownerReferences) && equals(a.finalizers, b.finalizers);
}

function isBeingDeleted({ metadata }: Any): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function hasFinalizer({ metadata }: Any, name: string): boolean {
  return metadata.finalizers?.includes(name) ?? false;
}
