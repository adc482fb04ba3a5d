// Ownership after a write that is not an apply: the writer owns what it added or changed, and all managers lose removed fields. A
// write without changes leaves managedFields unchanged, including timestamps.
import { type ApiObject, isObject, type JsonObject, sameJson } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";
import {
  decodeManaged,
  emptyObject,
  identity,
  idOf,
  isReset,
  type Managed,
  type Manager,
  type Ownership,
  onlyWritable,
} from "./managed-fields.ts";
import { fieldOf, isAtomicList, type MergeSchema, plain } from "./merge-schema.ts";
import {
  difference,
  emptySet,
  fieldElement,
  insert,
  isApart,
  isEmpty,
  itemElement,
  type Path,
  type PathElement,
  type PathSet,
  union,
} from "./path-set.ts";

export interface Write {
  readonly kind: KindEntry;
  readonly schema: MergeSchema;
  readonly subresource: string | undefined;
  readonly before: unknown;
  readonly after: unknown;
}

/** Compares the states before and after a write. Ignores fields that this subresource cannot write. */
export function changesOf({ kind, schema, subresource, before, after }: Write): Comparison {
  const { added, modified, removed } = compare(before, after, schema);
  const writable = (set: Comparison["added"]) => onlyWritable(set, kind, subresource);
  return { added: writable(added), modified: writable(modified), removed: writable(removed) };
}

interface TrackedWrite extends Omit<Write, "before" | "after"> {
  readonly before: ApiObject | undefined;
  /** With managedFields as in the request. */
  readonly after: ApiObject;
  readonly manager: Manager;
  readonly now: string;
}

/** Returns the managers after a write. Empty if a client has reset managedFields. */
export function trackChanges(write: TrackedWrite): Managed {
  const { before, after, kind, manager, now } = write;
  const managed = managedBefore(write);
  if (before !== undefined && managed.size === 0) return managed;
  const changes = changesOf({ ...write, before: bare(before ?? emptyObject(kind)), after: bare(after) });
  removeOwnership(changes, managed, undefined);
  takeOver(changes, managed, { manager, now });
  return capped(managed);
}

/** Uses managedFields from the request. If they are empty or malformed, uses the stored ones. */
function managedBefore({ before, after, subresource }: TrackedWrite): Managed {
  const live = () => decodeManaged(before?.metadata.managedFields) ?? new Map();
  const asked = after.metadata.managedFields as unknown;
  if (subresource !== undefined || asked === undefined) return live();
  if (isReset(asked)) return new Map();
  const managed = decodeManaged(asked);
  return managed === undefined || managed.size === 0 ? live() : managed;
}

/** Removes from all managers the deleted fields and those that `winner` changed. */
export function removeOwnership({ added, modified, removed }: Comparison, managed: Managed, winner: string | undefined): void {
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
  // The real server sets no time for the scale subresource.
  managed.set(id, { ...manager, fields, time: manager.subresource === "scale" ? undefined : now });
}

const maxUpdaters = 10;

/** Limits the number of Update entries to ten: merges the oldest of each version into "ancient-changes". */
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

/** The object without managedFields. */
export function bare(object: unknown): unknown {
  if (!isObject(object) || !isObject(object.metadata) || !("managedFields" in object.metadata)) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

// The difference between two states of an object, as sets of paths: scalars, atomic lists and objects, elements of keyed lists.

/** The three sets are disjoint. */
interface Comparison {
  readonly added: PathSet;
  readonly modified: PathSet;
  readonly removed: PathSet;
}

/** Undefined means missing. Null is a value and also means an empty list or object. */
export function compare(before: unknown, after: unknown, schema: MergeSchema): Comparison {
  const comparison = { added: emptySet(), modified: emptySet(), removed: emptySet() };
  visit({ before, after, schema, path: [] }, comparison);
  return comparison;
}

interface Pair {
  readonly before: unknown;
  readonly after: unknown;
  readonly schema: MergeSchema;
  readonly path: Path;
}

function visit(pair: Pair, comparison: Comparison): void {
  const { before, after, path } = pair;
  // A draft shares most of its parts with the stored object.
  if (before === after) return;
  const leaf = isLeaf(pair);
  if (!leaf) for (const child of childrenOf(pair, comparison)) visit(child, comparison);
  if (path.length === 0) return;
  if (before === undefined) insert(comparison.added, path);
  else if (after === undefined) insert(comparison.removed, path);
  else if (leaf && !sameJson(before, after)) insert(comparison.modified, path);
}

/** Owned as one value: scalars, atomic values, and values that are empty on both sides. */
function isLeaf({ before, after, schema }: Pair): boolean {
  if (isOf(before, after, isObject)) return schema.atomic === true || (sizeOf(before) === 0 && sizeOf(after) === 0);
  if (isOf(before, after, Array.isArray)) return isAtomicList(schema) || (sizeOf(before) === 0 && sizeOf(after) === 0);
  return true;
}

/** Whether both values have the type, or one has it and the other is missing. */
function isOf(before: unknown, after: unknown, isType: (value: unknown) => boolean): boolean {
  return (isType(before) || before == null) && (isType(after) || after == null) && !(before == null && after == null);
}

function sizeOf(value: unknown): number {
  return typeof value === "object" && value !== null ? Object.keys(value).length : 0;
}

function childrenOf(pair: Pair, comparison: Comparison): readonly Pair[] {
  return Array.isArray(pair.before) || Array.isArray(pair.after) ? itemsOf(pair, comparison) : fieldsOf(pair);
}

function fieldsOf({ before, after, schema, path }: Pair): readonly Pair[] {
  const [left, right] = [before ?? {}, after ?? {}] as [JsonObject, JsonObject];
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...names].map((name) => ({
    before: left[name],
    after: right[name],
    schema: fieldOf(schema, name)?.schema ?? plain,
    path: [...path, fieldElement(name)],
  }));
}

function itemsOf({ before, after, schema, path }: Pair, comparison: Comparison): readonly Pair[] {
  const [left, right] = [byElement(before, schema), byElement(after, schema)];
  const elements = new Set([...left.keys(), ...right.keys()]);
  return [...elements].flatMap((element) => {
    const [were, are] = [left.get(element) ?? [], right.get(element) ?? []];
    const to = (from: unknown, into: unknown): Pair => ({
      before: from,
      after: into,
      schema: schema.items ?? plain,
      path: [...path, element],
    });
    if (were.length <= 1 && are.length <= 1) return [to(were[0], are[0])];
    return duplicates(were, are, { path: [...path, element], comparison, to });
  });
}

interface Duplicates {
  readonly path: Path;
  readonly comparison: Comparison;
  readonly to: (before: unknown, after: unknown) => Pair;
}

/** Invalid lists can have elements with the same keys. They are owned together. */
function duplicates(were: readonly unknown[], are: readonly unknown[], { path, comparison, to }: Duplicates): readonly Pair[] {
  if (were.length >= 2 && are.length >= 2) {
    if (!sameJson(were, are)) insert(comparison.modified, path);
    return [];
  }
  insert(were.length >= 2 ? comparison.removed : comparison.added, path);
  if (were.length >= 2) return are.length > 0 ? [to(undefined, are[0])] : [];
  return were.length > 0 ? [to(were[0], undefined)] : [];
}

/** Groups the elements of a list by path element. Skips elements that have none. */
function byElement(list: unknown, schema: MergeSchema): Map<PathElement, unknown[]> {
  const found = new Map<PathElement, unknown[]>();
  for (const item of Array.isArray(list) ? list : []) {
    const element = itemElement(item, schema);
    found.set(element, [...(found.get(element) ?? []), item]);
  }
  return found;
}
