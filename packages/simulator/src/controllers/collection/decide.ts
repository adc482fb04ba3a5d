// What the garbage collector decides, without looking at a clock or a server.
//
// An object with owners goes when the last of them has gone. How an owner goes is its own business, written on it as a
// finalizer by whoever deleted it:
//
//     background           no finalizer: the owner goes at once, what it owned is found without it and goes after it
//     foregroundDeletion   what it owns goes first; the owner waits for those that say blockOwnerDeletion
//     orphan               what it owns stays, and forgets it
import { equals, type KubernetesObject, type OwnerReference, type Stored } from "@memhog/runtime";

type Any = Stored<KubernetesObject>;

export const foreground = "foregroundDeletion";
export const orphan = "orphan";

/** What became of an owner: it is there; it is gone (or another object has its name now); it waits for what it owns to go. */
export type OwnerState = "there" | "gone" | "waiting";

export interface Ownership {
  readonly reference: OwnerReference;
  readonly state: OwnerState;
}

export type DependentDecision =
  | { readonly kind: "keep" }
  /** Somebody still owns it: only the references to the others are taken away. */
  | { readonly kind: "release"; readonly from: readonly string[] }
  | { readonly kind: "delete"; readonly propagationPolicy: "Background" | "Foreground" | "Orphan" };

/** What is to become of an object, given what became of its owners. */
export function decideDependent(object: Any, owners: readonly Ownership[], ownsOthers: boolean): DependentDecision {
  if (owners.length === 0 || isBeingDeleted(object)) return { kind: "keep" };
  const lost = owners.filter(({ state }) => state !== "there").map(({ reference }) => reference.uid);
  if (lost.length === 0) return { kind: "keep" };
  if (lost.length < owners.length) return { kind: "release", from: lost };
  // An owner that waits for us wants everything below us gone before it goes itself.
  const isAwaited = owners.some(({ state }) => state === "waiting") && ownsOthers;
  return { kind: "delete", propagationPolicy: isAwaited ? "Foreground" : policyOf(object) };
}

/** An object may carry the wish for its own deletion already. */
function policyOf(object: Any): "Background" | "Foreground" | "Orphan" {
  if (hasFinalizer(object, orphan)) return "Orphan";
  return hasFinalizer(object, foreground) ? "Foreground" : "Background";
}

export type OwnerDecision =
  | { readonly kind: "nothing" }
  /** Take the owner out of these, then let it go. */
  | { readonly kind: "orphan"; readonly release: readonly Any[] }
  /** Look at these again: they know now that their owner waits. The owner goes once nothing `blocks`. */
  | { readonly kind: "collect"; readonly visit: readonly Any[]; readonly blocked: boolean };

/** What an owner that is being deleted wants done about what it owns. */
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

/** An owner that is gone, or is waiting: what that means for those who name it. */
export function stateOf(owner: Any | undefined, uid: string): OwnerState {
  if (owner === undefined || owner.metadata.uid !== uid) return "gone";
  return isBeingDeleted(owner) && hasFinalizer(owner, foreground) ? "waiting" : "there";
}

/** Whether an object is any business of the collector's. */
export function isOfInterest(object: Any): boolean {
  const owned = (object.metadata.ownerReferences ?? []).length > 0;
  return owned || (isBeingDeleted(object) && (hasFinalizer(object, orphan) || hasFinalizer(object, foreground)));
}

/** Most changes of most objects are about something else. */
export function isOwnedTheSame({ metadata: a }: Any, { metadata: b }: Any): boolean {
  const same = a.uid === b.uid && a.deletionTimestamp === b.deletionTimestamp;
  return same && equals(a.ownerReferences, b.ownerReferences) && equals(a.finalizers, b.finalizers);
}

export function isBeingDeleted({ metadata }: Any): boolean {
  return metadata.deletionTimestamp !== undefined;
}

export function hasFinalizer({ metadata }: Any, name: string): boolean {
  return metadata.finalizers?.includes(name) ?? false;
}
