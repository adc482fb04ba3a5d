// Merges an applied configuration into a live object: its values win, list elements are merged by key, nothing is removed. Where
// the order of elements differs, the configuration wins; elements that only the live object has keep their position.
import { isObject, type JsonObject, objectAt } from "../json.ts";
import { StatusError } from "../server/status-error.ts";
import { fieldOf, isAtomicList, type MergeSchema, plain } from "./merge-schema.ts";
import {
  emptySet,
  fieldElement,
  fieldName,
  insert,
  itemElement,
  type Path,
  type PathElement,
  type PathSet,
  SchemaMismatchError,
  shownElement,
} from "./path-set.ts";

export function mergeValues(live: unknown, config: unknown, schema: MergeSchema): unknown {
  if (config === undefined) return live;
  // Null means an empty list or object here, which adds nothing.
  if (config === null && typeof live === "object" && live !== null && !isOneValue(live, schema)) return live;
  if (isObject(live) && isObject(config) && schema.atomic !== true) return mergeObjects(live, config, schema);
  if (Array.isArray(live) && Array.isArray(config) && !isAtomicList(schema)) return mergeLists(live, config, schema);
  return config;
}

function isOneValue(value: object, schema: MergeSchema): boolean {
  return Array.isArray(value) ? isAtomicList(schema) : schema.atomic === true;
}

function mergeObjects(live: JsonObject, config: JsonObject, schema: MergeSchema): JsonObject {
  const merged: JsonObject = { ...live };
  for (const [name, value] of Object.entries(config))
    merged[name] = mergeValues(live[name], value, fieldOf(schema, name)?.schema ?? plain);
  return merged;
}

interface Item {
  readonly element: PathElement;
  readonly value: unknown;
}

function mergeLists(live: readonly unknown[], config: readonly unknown[], schema: MergeSchema): readonly unknown[] {
  const itemsOf = (list: readonly unknown[]): readonly Item[] =>
    list.map((value) => ({ element: itemElement(value, schema), value }));
  const [left, right] = [itemsOf(live), itemsOf(config)];
  const wanted = new Set(right.map(({ element }) => element));
  const merge = ({ element, value }: Item) => {
    const same = left.filter((item) => item.element === element);
    // Duplicates cannot be matched, so they are replaced.
    return same.length === 1 ? mergeValues(same[0]?.value, value, schema.items ?? plain) : value;
  };
  const shared = right.filter(({ element }) => left.some((item) => item.element === element));
  return interleave(left, right, { wanted, merge, shared: shared.map(({ element }) => element) });
}

interface Interleaving {
  readonly wanted: ReadonlySet<PathElement>;
  readonly merge: (item: Item) => unknown;
  /** Elements of both lists, in the order of the configuration. */
  readonly shared: readonly PathElement[];
}

/** Merges both lists. Elements in both keep the order of the configuration. */
function interleave(left: readonly Item[], right: readonly Item[], { wanted, merge, shared }: Interleaving): readonly unknown[] {
  const result: unknown[] = [];
  const done = new Set<PathElement>();
  const expected = [...shared];
  let [l, r] = [0, 0];
  while (l < left.length || r < right.length) {
    const [mine, theirs] = [left[l], right[r]];
    if (mine !== undefined && theirs !== undefined) {
      if (mine.element === theirs.element) {
        result.push(merge(theirs));
        done.add(theirs.element);
        expected.shift();
        l += 1;
        r += 1;
        continue;
      }
      if (wanted.has(mine.element) && expected.length > 0 && expected[0] !== mine.element) {
        l += 1; // the order of the configuration determines its position
        continue;
      }
    }
    if (mine !== undefined) {
      if (!wanted.has(mine.element)) {
        result.push(mine.value);
        l += 1;
        continue;
      }
      if (done.has(mine.element)) l += 1;
    }
    if (theirs !== undefined) {
      result.push(merge(theirs));
      done.add(theirs.element);
      if (expected[0] === theirs.element) expected.shift();
      r += 1;
    }
  }
  return result;
}

// Removes fields from a value, and objects and lists that become empty.

/** Removes these paths. Returns undefined if nothing is left. */
export function removePaths(value: unknown, paths: PathSet, schema: MergeSchema): unknown {
  if (Array.isArray(value)) return isAtomicList(schema) ? undefined : removeItems(value, paths, schema);
  if (isObject(value)) return schema.atomic === true ? undefined : removeFields(value, paths, schema);
  return value;
}

function removeFields(value: JsonObject, paths: PathSet, schema: MergeSchema): JsonObject | undefined {
  const left: JsonObject = {};
  for (const [name, child] of Object.entries(value)) {
    const node = paths.below.get(fieldElement(name));
    if (node?.member === true) continue;
    const kept =
      node === undefined || node.below.size === 0 ? child : removePaths(child, node, fieldOf(schema, name)?.schema ?? plain);
    // Go writes null for an empty value.
    left[name] = kept === undefined ? null : kept;
  }
  return Object.keys(left).length > 0 ? left : undefined;
}

function removeItems(list: readonly unknown[], paths: PathSet, schema: MergeSchema): readonly unknown[] | undefined {
  const left = list.flatMap((item) => {
    const node = paths.below.get(itemElement(item, schema));
    if (node?.member === true) return [];
    return [node === undefined || node.below.size === 0 ? item : removePaths(item, node, schema.items ?? plain)];
  });
  return left.length > 0 ? left : undefined;
}

// The fields that an applied configuration owns: every leaf and every element of a keyed list.

export function ownedFields(value: unknown, schema: MergeSchema): PathSet {
  const set = emptySet();
  visit(value, schema, [], set);
  return set;
}

function visit(value: unknown, schema: MergeSchema, path: Path, set: PathSet): void {
  if (Array.isArray(value)) visitList(value, schema, path, set);
  else if (isObject(value) && schema.atomic !== true) visitObject(value, schema, path, set);
  else if (path.length > 0) insert(set, path);
}

function visitObject(value: Readonly<Record<string, unknown>>, schema: MergeSchema, path: Path, set: PathSet): void {
  for (const [name, child] of Object.entries(value)) {
    const field = fieldOf(schema, name);
    const below = [...path, fieldElement(name)];
    visit(child, field?.schema ?? plain, below, set);
    const isEmpty = child === null || (isObject(child) && Object.keys(child).length === 0);
    // The contents of a field that the schema names imply it. A client chooses the keys of a map, so it owns them.
    if (isEmpty || field?.named !== true) insert(set, below);
  }
}

function visitList(list: readonly unknown[], schema: MergeSchema, path: Path, set: PathSet): void {
  if (isAtomicList(schema)) {
    insert(set, path);
    return;
  }
  const elements = list.map((item) => itemElement(item, schema));
  for (const [at, item] of list.entries()) {
    const element = elements[at] ?? "";
    insert(set, [...path, element]);
    const isTwice = elements.indexOf(element) !== elements.lastIndexOf(element);
    if (!isTwice) visit(item, schema.items ?? plain, [...path, element], set);
  }
}

/** Adds the named parent fields of the members: when all contents of a field are removed, the field is removed too. */
export function withNamedFields(set: PathSet, schema: MergeSchema): PathSet {
  const result = emptySet(set.member);
  for (const [element, node] of set.below) {
    const name = fieldName(element);
    const field = name === undefined ? undefined : fieldOf(schema, name);
    const below = withNamedFields(node, field?.schema ?? schema.items ?? plain);
    result.below.set(element, { member: below.member || field?.named === true, below: below.below });
  }
  return result;
}

// Checks an applied configuration: unknown fields, duplicate list elements.

/** @throws StatusError 500, as the real server does */
export function checkConfig(config: JsonObject, schema: MergeSchema): void {
  const problems = problemsOf(config, schema, "");
  if (problems.length === 0) return;
  const { namespace = "", name = "" } = objectAt(config, "metadata");
  const [group, version] = `/${config.apiVersion}`.split("/").slice(-2);
  const what = `${namespace}/${name}; ${group}/${version}, Kind=${config.kind}`;
  const found = problems.length === 1 ? problems[0] : ["errors:", ...problems.map((each) => `  ${each}`)].join("\n");
  throw new StatusError({ code: 500, reason: "", message: `failed to create typed patch object (${what}): ${found}` });
}

function problemsOf(value: unknown, schema: MergeSchema, path: string): readonly string[] {
  if (Array.isArray(value)) return listProblems(value, schema, path);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, child]) => {
    const field = fieldOf(schema, name);
    if (field === undefined) return [`${path}.${name}: field not declared in schema`];
    return problemsOf(child, field.schema, `${path}.${name}`);
  });
}

function listProblems(list: readonly unknown[], schema: MergeSchema, path: string): readonly string[] {
  const seen = new Set<string>();
  return list.flatMap((item, at) => {
    if (isAtomicList(schema)) return problemsOf(item, schema.items ?? plain, `${path}[${at}]`);
    const element = elementOf(item, schema);
    if (element instanceof SchemaMismatchError) return [`${path}: element ${at}: ${element.message}`];
    const shown = shownElement(element);
    const twice = seen.has(element) ? [`${path}: duplicate entries for key ${shown}`] : [];
    seen.add(element);
    return [...twice, ...problemsOf(item, schema.items ?? plain, path + shown)];
  });
}

function elementOf(item: unknown, schema: MergeSchema): string | SchemaMismatchError {
  try {
    return itemElement(item, schema);
  } catch (error) {
    if (error instanceof SchemaMismatchError) return error;
    throw error;
  }
}
