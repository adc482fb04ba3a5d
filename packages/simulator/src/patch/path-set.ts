// A set of paths into an object: what somebody owns. A tree whose nodes say whether the path to them is in the set; the same
// shape as FieldsV1, which is how it is written in managedFields:
//
//     { "f:spec": { "f:replicas": {}, "f:template": { ".": {}, "f:spec": {} } } }
//
// holds spec.replicas, spec.template and spec.template.spec, and not spec itself.
import { isObject, type JsonObject } from "../json.ts";
import { compareElements, type PathElement, shownElement } from "./path-element.ts";

export interface PathSet {
  /** Whether the path that leads here is in the set. */
  member: boolean;
  readonly below: Map<PathElement, PathSet>;
}

export type Path = readonly PathElement[];

export function emptySet(member = false): PathSet {
  return { member, below: new Map() };
}

/** The set of these paths, each written as fields: `setOf(["metadata", "name"], ["kind"])`. */
export function setOf(...paths: readonly Path[]): PathSet {
  const set = emptySet();
  for (const path of paths) insert(set, path);
  return set;
}

/** Adds a path to a set that is being made. */
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

/** No path is in both. */
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

/** What is in the first and not in the second. A path may go while longer ones stay. */
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

/** Without these paths and everything below them. */
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

/** Every path of a set: those of a level in order, then what is below them, as Go walks it. */
export function pathsOf(set: PathSet, before: Path = []): readonly Path[] {
  const elements = [...set.below].sort(([a], [b]) => compareElements(a, b));
  const members = elements.filter(([, node]) => node.member).map(([element]) => [...before, element]);
  return [...members, ...elements.flatMap(([element, node]) => pathsOf(node, [...before, element]))];
}

/** `.spec.containers[name="app"].image` */
export function shownPath(path: Path): string {
  return path.map(shownElement).join("");
}

/** As FieldsV1. */
export function encodeSet(set: PathSet): JsonObject {
  const fields: JsonObject = set.member && set.below.size > 0 ? { ".": {} } : {};
  const elements = [...set.below].sort(([a], [b]) => compareElements(a, b));
  for (const [element, node] of elements) if (!isEmpty(node)) fields[element] = encodeSet(node);
  return fields;
}

/** From FieldsV1; undefined if it is not. */
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
