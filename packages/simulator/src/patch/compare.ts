// What changed between two states of an object, as sets of paths. The unit of change is the unit of ownership: a scalar, an
// atomic list or object, an element of a list with keys.
import { isObject, type JsonObject, sameJson } from "../json.ts";
import { fieldOf, isAtomicList, type MergeSchema, plain } from "./merge-schema.ts";
import { fieldElement, itemElement, type PathElement } from "./path-element.ts";
import { emptySet, insert, type Path, type PathSet } from "./path-set.ts";

/** No path is in two of them. */
export interface Comparison {
  readonly added: PathSet;
  readonly modified: PathSet;
  readonly removed: PathSet;
}

/** Undefined is nothing; null is a value, and stands for an empty list or object too. */
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
  // Parts that a draft shares with what is stored are most of it.
  if (before === after) return;
  const leaf = isLeaf(pair);
  if (!leaf) for (const child of childrenOf(pair, comparison)) visit(child, comparison);
  if (path.length === 0) return;
  if (before === undefined) insert(comparison.added, path);
  else if (after === undefined) insert(comparison.removed, path);
  else if (leaf && !sameJson(before, after)) insert(comparison.modified, path);
}

/** Owned as one: scalars, what is atomic, and what is empty on both sides. */
function isLeaf({ before, after, schema }: Pair): boolean {
  if (isOf(before, after, isObject)) return schema.atomic === true || (sizeOf(before) === 0 && sizeOf(after) === 0);
  if (isOf(before, after, Array.isArray)) return isAtomicList(schema) || (sizeOf(before) === 0 && sizeOf(after) === 0);
  return true;
}

/** Both are of a type, or one is and the other is nothing. */
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

/** Elements with the same keys should not be, but can be: then they are owned together, as one. */
function duplicates(were: readonly unknown[], are: readonly unknown[], { path, comparison, to }: Duplicates): readonly Pair[] {
  if (were.length >= 2 && are.length >= 2) {
    if (!sameJson(were, are)) insert(comparison.modified, path);
    return [];
  }
  insert(were.length >= 2 ? comparison.removed : comparison.added, path);
  if (were.length >= 2) return are.length > 0 ? [to(undefined, are[0])] : [];
  return were.length > 0 ? [to(were[0], undefined)] : [];
}

/** The elements of a list by what tells them apart. What cannot be told apart does not count. */
function byElement(list: unknown, schema: MergeSchema): Map<PathElement, unknown[]> {
  const found = new Map<PathElement, unknown[]>();
  for (const item of Array.isArray(list) ? list : []) {
    const element = itemElement(item, schema);
    found.set(element, [...(found.get(element) ?? []), item]);
  }
  return found;
}
