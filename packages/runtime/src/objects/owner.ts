// Ownership: which object another one exists for. The garbage collector follows these references, so they are made by
// UID: an object that was deleted and made again under its old name is not the owner of what the first one left behind.
import { apiVersionOf, type Kind, type KubernetesObject, type OwnerReference } from "./object.ts";

/** What is needed of an owner: an object that the API server has stored. */
export interface Owner {
  readonly metadata: { readonly name: string; readonly uid: string };
}

export interface OwnerReferenceOptions {
  /** Whether the owner manages the object; an object has one such owner at most. @default true */
  readonly controller?: boolean;
  /** Whether a foreground deletion of the owner waits for the object to go. @default true */
  readonly blockOwnerDeletion?: boolean;
}

/** A reference for `metadata.ownerReferences` of a child. */
export function ownerReferenceTo(
  owner: Owner,
  kind: Pick<Kind, "group" | "version" | "kind">,
  options: OwnerReferenceOptions = {},
): OwnerReference {
  const { controller = true, blockOwnerDeletion = true } = options;
  const { name, uid } = owner.metadata;
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, name, uid, controller, blockOwnerDeletion };
}

/** Whether the reference is to an object of this kind. Another version of the same group is the same kind. */
export function isReferenceTo(
  kind: Pick<Kind, "group" | "kind">,
  { apiVersion, kind: found }: Pick<OwnerReference, "apiVersion" | "kind">,
): boolean {
  const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
  return found === kind.kind && group === kind.group;
}

/** The reference to the one owner that manages the object. */
export function controllerOf(object: KubernetesObject): OwnerReference | undefined {
  return object.metadata?.ownerReferences?.find((reference) => reference.controller === true);
}

/** Whether the object with this UID is among the owners. */
export function isOwnedBy(object: KubernetesObject, uid: string): boolean {
  return object.metadata?.ownerReferences?.some((reference) => reference.uid === uid) ?? false;
}

/** Whether the object with this UID manages the object. */
export function isControlledBy(object: KubernetesObject, uid: string): boolean {
  return controllerOf(object)?.uid === uid;
}
