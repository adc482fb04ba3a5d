// Who owns what after a write that was not an apply: the writer takes what it added or changed, and everybody loses what is
// gone. A write that changes nothing leaves managedFields as they were, times included.
import { type ApiObject, isObject } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";
import { type Comparison, compare } from "./compare.ts";
import { emptyObject } from "./empty-objects.ts";
import { decodeManaged, idOf, isReset, type Managed, type Manager, type Ownership } from "./managed-fields.ts";
import type { MergeSchema } from "./merge-schema.ts";
import { difference, emptySet, isApart, isEmpty, union } from "./path-set.ts";
import { identity, onlyWritable } from "./untracked.ts";

export interface Write {
  readonly kind: KindEntry;
  readonly schema: MergeSchema;
  readonly subresource: string | undefined;
  readonly before: unknown;
  readonly after: unknown;
}

/** The comparison of a write, without what this subresource cannot write. */
export function changesOf({ kind, schema, subresource, before, after }: Write): Comparison {
  const { added, modified, removed } = compare(before, after, schema);
  const writable = (set: Comparison["added"]) => onlyWritable(set, kind, subresource);
  return { added: writable(added), modified: writable(modified), removed: writable(removed) };
}

export interface TrackedWrite extends Omit<Write, "before" | "after"> {
  readonly before: ApiObject | undefined;
  /** With managedFields as the request has them. */
  readonly after: ApiObject;
  readonly manager: Manager;
  readonly now: string;
}

/** Undefined: this object is not tracked, because somebody asked to forget its managers. */
export function trackChanges(write: TrackedWrite): Managed {
  const { before, after, kind, manager, now } = write;
  const managed = managedBefore(write);
  if (before !== undefined && managed.size === 0) return managed;
  const changes = changesOf({ ...write, before: bare(before ?? emptyObject(kind)), after: bare(after) });
  loseTo(changes, managed, undefined);
  takeOver(changes, managed, { manager, now });
  return capped(managed);
}

/** A request may write managedFields itself; empty or unreadable ones are taken for those of a client that knows no better. */
function managedBefore({ before, after, subresource }: TrackedWrite): Managed {
  const live = () => decodeManaged(before?.metadata.managedFields) ?? new Map();
  const asked = after.metadata.managedFields as unknown;
  if (subresource !== undefined || asked === undefined) return live();
  if (isReset(asked)) return new Map();
  const managed = decodeManaged(asked);
  return managed === undefined || managed.size === 0 ? live() : managed;
}

/** Managers lose what is gone, and what somebody else changed. */
export function loseTo({ added, modified, removed }: Comparison, managed: Managed, winner: string | undefined): void {
  const lost = union(union(added, modified), removed);
  for (const [id, ownership] of managed) {
    if (id === winner || (isApart(ownership.fields, lost) && !isEmpty(ownership.fields))) continue;
    const fields = difference(ownership.fields, lost);
    if (isEmpty(fields)) managed.delete(id);
    else managed.set(id, { ...ownership, fields });
  }
}

function takeOver({ added, modified }: Comparison, managed: Managed, { manager, now }: { manager: Manager; now: string }): void {
  const taken = difference(union(added, modified), identity);
  if (isEmpty(taken)) return;
  const id = idOf(manager);
  const fields = union(managed.get(id)?.fields ?? emptySet(), taken);
  // The real one loses the time of those who scale; everybody else is told when.
  managed.set(id, { ...manager, fields, time: manager.subresource === "scale" ? undefined : now });
}

const maxUpdaters = 10;

/** More than ten updaters become fewer: the oldest of a version are put together as "ancient-changes". */
function capped(managed: Managed): Managed {
  const updaters = [...managed].filter(([, { operation }]) => operation === "Update").sort(byAge);
  let excess = updaters.length - maxUpdaters;
  const firsts = new Map<string, string>();
  for (const [id, ownership] of updaters) {
    if (excess <= 0) break;
    const first = firsts.get(ownership.apiVersion);
    if (first === undefined) {
      firsts.set(ownership.apiVersion, id);
      continue;
    }
    mergeIntoBucket(managed, first, ownership);
    managed.delete(id);
    excess -= 1;
  }
  return managed;
}

function mergeIntoBucket(managed: Managed, first: string, { apiVersion, fields, time }: Ownership): void {
  const bucket: Manager = { manager: "ancient-changes", operation: "Update", apiVersion };
  const id = idOf(bucket);
  const before = managed.get(id) ?? managed.get(first);
  if (!managed.has(id)) managed.delete(first);
  managed.set(id, { ...bucket, fields: union(fields, before?.fields ?? emptySet()), time });
}

function byAge([a, left]: readonly [string, Ownership], [b, right]: readonly [string, Ownership]): number {
  const [older, newer] = [left.time ?? "", right.time ?? ""];
  if (older !== newer) return older < newer ? -1 : 1;
  return a < b ? -1 : 1;
}

/** Without managedFields, which are nobody's. */
export function bare(object: unknown): unknown {
  if (!isObject(object) || !isObject(object.metadata) || !("managedFields" in object.metadata)) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
