// When a dying object is gone: nothing holds it any more and its time is up.
import { type ApiObject, listAt, valueAt } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";

/** Whether an object, as it is about to be stored, is to be kept at all. */
export function mayRemainStored(kind: KindEntry, object: ApiObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata;
  if (deletionTimestamp === undefined || finalizers.length > 0 || deletionGracePeriodSeconds > 0) return true;
  return isNamespace(kind) && heldBySpec(object);
}

export function isNamespace({ group, plural }: KindEntry): boolean {
  return group === "" && plural === "namespaces";
}

/** A namespace has finalizers in its spec too: they go when it is empty. */
export function heldBySpec(object: ApiObject): boolean {
  return valueAt(object, "spec", "finalizers") !== undefined && listAt(object, "spec", "finalizers").length > 0;
}
