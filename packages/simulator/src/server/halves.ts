// An object has two halves, what it shall be and its status, and each has a door of its own. Through one door only one half
// may be changed. The other one is known to be good (it is stored), so a write takes it over frozen, and all that looks at
// drafts passes frozen parts by: a kubelet that says "Ready" does not pay for the spec of its pod.
import { type ApiObject, type Draft, draftOf, sameJson } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";
import type { Target } from "./core.ts";

/** Readies a draft that may share parts with what is stored: what is behind this door is writable all the way down. */
export function openHalf(draft: Draft, old: ApiObject, { kind, subresource }: Target): void {
  // What a definition says may have changed since an object was stored: of custom resources all is looked at again.
  const known = kind.customResource === undefined;
  if (known && (subresource === "status" || subresource === "binding")) {
    share(draft, old, "status");
    draft.metadata = { ...draft.metadata };
    share(draft.metadata, { ...old.metadata }, "managedFields");
    if (typeof draft.status === "object" && Object.isFrozen(draft.status)) draft.status = { ...draft.status };
    return;
  }
  if (known && subresource === undefined && kind.subresources?.status !== undefined) share(draft, old, "spec");
  for (const field of Object.keys(draft))
    if (draft[field] !== old[field] || field !== "status") draft[field] = thawed(draft[field]);
}

/** Fields that are as stored are taken from there. */
function share(draft: { [field: string]: unknown }, old: { readonly [field: string]: unknown }, except: string): void {
  for (const field of Object.keys(draft)) {
    if (field !== except && draft[field] !== old[field] && sameJson(draft[field], old[field])) draft[field] = old[field];
  }
}

/** The same value, its frozen parts replaced by copies. */
function thawed(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Object.isFrozen(value)) return draftOf(value);
  const parts = value as { [field: string]: unknown };
  for (const field of Object.keys(parts)) {
    const part = thawed(parts[field]);
    if (part !== parts[field]) parts[field] = part;
  }
  return value;
}

/** Takes back what was changed of the half behind the other door. */
export function keepOtherHalf(draft: Draft, old: ApiObject, { kind, subresource }: Target): void {
  if (kind.subresources?.status === undefined || subresource === "binding") return;
  if (subresource === "status") keepAllButStatus(draft, old, kind);
  else if (old.status === undefined) delete draft.status;
  else draft.status = old.status;
}

function keepAllButStatus(draft: Draft, old: ApiObject, { statusWrites = "metadata" }: KindEntry): void {
  for (const field of new Set([...Object.keys(draft), ...Object.keys(old)])) {
    if (field === "status" || field === "metadata") continue;
    if (old[field] === undefined) delete draft[field];
    else draft[field] = old[field];
  }
  const { managedFields } = draft.metadata;
  if (statusWrites === "status only") draft.metadata = { ...old.metadata, ...(managedFields && { managedFields }) };
  if (statusWrites !== "annotations") return;
  if (old.metadata.labels === undefined) delete draft.metadata.labels;
  else draft.metadata.labels = old.metadata.labels;
}
