// A set of field paths, as a tree in the format of FieldsV1:
//
//     { "f:spec": { "f:replicas": {}, "f:template": { ".": {}, "f:spec": {} } } }
//
// contains spec.replicas, spec.template and spec.template.spec, but not spec.
import { isObject, type JsonObject } from "../json.ts";
import type { MergeSchema } from "./merge-schema.ts";

export interface PathSet {
  /** Whether the path to this node is in the set. */
  member: boolean;
  readonly below: Map<PathElement, PathSet>;
}

export type Path = readonly PathElement[];

export function emptySet(member = false): PathSet {
  return { member, below: new Map() };
}

/** Builds a set of paths, each given as fields: `setOf(["metadata", "name"], ["kind"])`. */
export function setOf(...paths: readonly Path[]): PathSet {
  const set = emptySet();
  for (const path of paths) insert(set, path);
  return set;
}

/** Adds a path in place. Only for sets under construction. */
export function insert(set: PathSet, path: Path): void {
  let node = set;
  for (const element of path) {
    const next = node.below.get(element) ?? emptySet();
    node.below.set(element, next);
    node = next;
  }
  node.member = true;
}

export function isEmpty(set: PathSet): boolean {
  if (set.member) return false;
  for (const node of set.below.values()) if (!isEmpty(node)) return false;
  return true;
}

/** Whether the sets have no path in common. */
export function isApart(a: PathSet, b: PathSet): boolean {
  if (a.member && b.member) return false;
  for (const [element, left] of a.below) {
    const right = b.below.get(element);
    if (right !== undefined && !isApart(left, right)) return false;
  }
  return true;
}

export function union(a: PathSet, b: PathSet): PathSet {
  const result: PathSet = { member: a.member || b.member, below: new Map(a.below) };
  for (const [element, right] of b.below) {
    const left = a.below.get(element);
    result.below.set(element, left === undefined ? right : union(left, right));
  }
  return result;
}

export function intersection(a: PathSet, b: PathSet): PathSet {
  return combined(a, b, (left, right) => left && right);
}

/** Paths in the first set that are not in the second. Longer paths below a removed path stay. */
export function difference(a: PathSet, b: PathSet): PathSet {
  return combined(a, b, (left, right) => left && !right);
}

const nothing = emptySet();

function combined(a: PathSet, b: PathSet, keep: (left: boolean, right: boolean) => boolean): PathSet {
  const result = emptySet(keep(a.member, b.member));
  for (const [element, left] of a.below) {
    const node = combined(left, b.below.get(element) ?? nothing, keep);
    if (node.member || node.below.size > 0) result.below.set(element, node);
  }
  return result;
}

/** Removes these paths and everything below them. */
export function without(a: PathSet, roots: PathSet): PathSet {
  const result = emptySet(a.member);
  for (const [element, left] of a.below) {
    const root = roots.below.get(element);
    if (root?.member === true) continue;
    const node = root === undefined ? left : without(left, root);
    if (node.member || node.below.size > 0) result.below.set(element, node);
  }
  return result;
}

/** All paths of a set in Go's order: sorted per level, then the levels below. */
export function pathsOf(set: PathSet, before: Path = []): readonly Path[] {
  const elements = [...set.below].sort(([a], [b]) => compareElements(a, b));
  const members = elements.filter(([, node]) => node.member).map(([element]) => [...before, element]);
  return [...members, ...elements.flatMap(([element, node]) => pathsOf(node, [...before, element]))];
}

/** Formats a path: `.spec.containers[name="app"].image` */
export function shownPath(path: Path): string {
  return path.map(shownElement).join("");
}

/** Encodes a set as FieldsV1. */
export function encodeSet(set: PathSet): JsonObject {
  const fields: JsonObject = set.member && set.below.size > 0 ? { ".": {} } : {};
  const elements = [...set.below].sort(([a], [b]) => compareElements(a, b));
  for (const [element, node] of elements) if (!isEmpty(node)) fields[element] = encodeSet(node);
  return fields;
}

/** Decodes FieldsV1. Returns undefined if it is malformed. */
export function decodeSet(fields: unknown): PathSet | undefined {
  if (!isObject(fields)) return undefined;
  const set = decodeNode(fields);
  if (set !== undefined) set.member = false;
  return set;
}

function decodeNode(fields: JsonObject): PathSet | undefined {
  const keys = Object.keys(fields);
  const set = emptySet(keys.length === 0 || keys.includes("."));
  for (const key of keys) {
    if (key === ".") continue;
    const value = fields[key];
    const node = /^[fkvi]:/.test(key) && isObject(value) ? decodeNode(value) : undefined;
    if (node === undefined) return undefined;
    set.below.set(key, node);
  }
  return set;
}

// One element of a path in the format of FieldsV1: "f:spec" for a field, `k:{"name":"app"}` for an element of a keyed list,
// `v:"x"` for an element of a set. The format is canonical, so elements can be compared as strings.

export type PathElement = string;

/** A value does not match its schema. Callers prepend to `path` while the error propagates. */
export class SchemaMismatchError extends Error {
  readonly code = "PATCH_SCHEMA_MISMATCH";
  override readonly name = "SchemaMismatchError";
}

export function fieldElement(name: string): PathElement {
  return `f:${name}`;
}

/** Returns the name if the element is a field. */
export function fieldName(element: PathElement): string | undefined {
  return element.startsWith("f:") ? element.slice(2) : undefined;
}

/** Returns the path element of an item in a set or keyed list. @throws SchemaMismatchError */
export function itemElement(item: unknown, schema: MergeSchema): PathElement {
  return schema.keys === undefined ? setElement(item) : keyElement(item, schema.keys, schema.keyDefaults ?? {});
}

function setElement(item: unknown): PathElement {
  if (isObject(item)) throw new SchemaMismatchError("associative list without keys has an element that's a map type");
  if (Array.isArray(item)) throw new SchemaMismatchError("not supported: associative list with lists as elements");
  if (item === null) throw new SchemaMismatchError("associative list without keys has an element that's an explicit null");
  return `v:${JSON.stringify(item)}`;
}

function keyElement(item: unknown, keys: readonly string[], defaults: Readonly<Record<string, unknown>>): PathElement {
  if (item === null) throw new SchemaMismatchError("associative list with keys may not have a null element");
  if (!isObject(item)) throw new SchemaMismatchError("associative list with keys may not have non-map elements");
  const known = keys.flatMap((key) => {
    const value = item[key] ?? defaults[key];
    return value === undefined ? [] : [[key, value] as const];
  });
  if (known.length === 0) {
    const quoted = keys.map((key) => JSON.stringify(key)).join(" ");
    throw new SchemaMismatchError(
      `associative list with keys has an element that omits all key fields [${quoted}] (and doesn't have default values for any key fields)`,
    );
  }
  return `k:${JSON.stringify(Object.fromEntries(known.sort(([a], [b]) => (a < b ? -1 : 1))))}`;
}

/** Formats an element for messages: `.spec`, `[name="app"]`, `[="x"]`. */
export function shownElement(element: PathElement): string {
  const rest = element.slice(2);
  if (element.startsWith("f:")) return `.${rest}`;
  if (element.startsWith("v:")) return `[=${rest}]`;
  if (!element.startsWith("k:")) return `[${rest}]`;
  const keys = Object.entries(JSON.parse(rest) as object).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return `[${keys.join(",")}]`;
}

const elementOrder = ["f:", "k:", "v:", "i:"];

/** Sorts fields first, then elements by keys, then by values. */
function compareElements(a: PathElement, b: PathElement): number {
  const order = elementOrder.indexOf(a.slice(0, 2)) - elementOrder.indexOf(b.slice(0, 2));
  if (order !== 0) return order;
  return a === b ? 0 : a < b ? -1 : 1;
}
