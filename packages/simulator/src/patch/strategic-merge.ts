// Strategic merge patch: a merge patch that merges lists by key. It has directives:
//
//     $patch: delete | replace                 in an object or a list element
//     $retainKeys: [a, b]                      removes all other fields
//     $setElementOrder/containers: [{name: a}] the order of a merged list
//     $deleteFromPrimitiveList/finalizers: [x] removes elements from a list of scalars
//
// kubectl apply and kubectl edit use all of them.
import { draftOf, isObject, type JsonObject } from "../json.ts";
import { badRequest, StatusError } from "../server/status-error.ts";
import { goTypeOf } from "./json-patch.ts";
import { fieldOf, type MergeSchema, plain, type StrategicRule } from "./merge-schema.ts";

const order = "$setElementOrder/";
const deletion = "$deleteFromPrimitiveList/";

/** Merges the patch. Does not change the target. @throws StatusError 400, 500 */
export function applyStrategicMerge(target: JsonObject, patch: unknown, schema: MergeSchema): JsonObject {
  if (patch === null) return target;
  if (!isObject(patch))
    throw badRequest(`json: cannot unmarshal ${goTypeOf(patch)} into Go value of type map[string]interface {}`);
  return mergeStrategicObject(target, draftOf(patch), schema);
}

/** Changes `patch`, which is a private copy. Copies `target` level by level where it changes. */
function mergeStrategicObject(target: JsonObject, patch: JsonObject, schema: MergeSchema): JsonObject {
  const { $patch: directive, $retainKeys: retained, ...rest } = patch;
  if (directive !== undefined) return replaced(directive, rest);
  const original = { ...target };
  if (retained !== undefined) retainKeys(original, rest, retained);
  mergeOrderedLists(original, rest, schema);
  for (const [key, value] of Object.entries(rest)) mergeField(original, { key, value }, schema);
  return original;
}

function replaced(directive: unknown, patch: JsonObject): JsonObject {
  if (directive === "replace") return patch;
  if (directive === "delete") return {};
  throw failed(`unknown patch type: ${directive} in map: ${shown({ $patch: directive, ...patch })}`);
}

function retainKeys(original: JsonObject, patch: JsonObject, retained: unknown): void {
  const badFormat = () => badRequest("invalid patch format of retainKeys");
  if (!Array.isArray(retained)) throw badFormat();
  const patched = Object.keys(patch).filter((key) => patch[key] !== null && !key.startsWith(order) && !key.startsWith(deletion));
  if (patched.some((key) => !retained.includes(key))) throw badFormat();
  for (const key of Object.keys(original)) if (!retained.includes(key)) delete original[key];
}

/** Merges the lists that have a $setElementOrder, and removes them from the patch. */
function mergeOrderedLists(original: JsonObject, patch: JsonObject, schema: MergeSchema): void {
  for (const directive of Object.keys(patch).filter((key) => key.startsWith(order))) {
    const key = directive.slice(order.length);
    const wanted = patch[directive];
    const [live, changes] = [original[key], patch[key]];
    delete patch[directive];
    if (!Array.isArray(wanted)) throw badRequest("invalid patch format of setElementOrder list");
    if (live === undefined && changes === undefined) continue;
    const field = fieldOf(schema, key)?.schema ?? plain;
    const merged = Array.isArray(changes) ? mergedList(live, changes, field) : (live as readonly unknown[]);
    original[key] = orderedBy(merged, { wanted, live: Array.isArray(live) ? live : [], schema: field });
    delete patch[key];
  }
}

function mergedList(live: unknown, changes: readonly unknown[], schema: MergeSchema): readonly unknown[] {
  if (!Array.isArray(live)) return withoutDirectives(changes) as readonly unknown[];
  return mergeStrategicList(live, changes, schema);
}

function mergeField(original: JsonObject, { key, value }: { key: string; value: unknown }, schema: MergeSchema): void {
  if (key.startsWith(deletion)) {
    deleteScalars(original, key.slice(deletion.length), value);
    return;
  }
  const merged = value === null ? undefined : mergedValue(original[key], value, fieldOf(schema, key)?.schema ?? plain);
  if (merged === undefined) delete original[key];
  else original[key] = merged;
}

function mergedValue(live: unknown, value: unknown, schema: MergeSchema): unknown {
  const rule = strategicRule(schema);
  if (isObject(live) && isObject(value)) return rule.replace === true ? value : mergeStrategicObject(live, value, schema);
  if (Array.isArray(live) && Array.isArray(value)) return mergeStrategicList(live, value, schema);
  return withoutDirectives(withoutNulls(value));
}

function deleteScalars(original: JsonObject, key: string, values: unknown): void {
  const list = original[key];
  if (!Array.isArray(values)) throw badRequest("invalid patch format of primitive list");
  if (Array.isArray(list)) original[key] = list.filter((each) => !values.includes(each));
}

/** Drops fields that are null from a new value. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([, each]) => each !== null);
  return Object.fromEntries(kept.map(([key, each]) => [key, withoutNulls(each)]));
}

function failed(message: string): StatusError {
  return new StatusError({ code: 500, reason: "", message });
}

/** Merges a list by key or as a set according to the schema; otherwise replaces it. */
function mergeStrategicList(live: readonly unknown[], changes: readonly unknown[], schema: MergeSchema): readonly unknown[] {
  const { key, replace } = strategicRule(schema);
  if (replace === true || (key === undefined && schema.set !== true)) return changes;
  if (live.length === 0 && changes.length === 0) return live;
  if (key === undefined) return orderedBy([...new Set([...live, ...changes])], { wanted: changes, live, schema });
  return mergeByKey(live, changes, { key, schema });
}

interface Keyed {
  readonly key: string;
  readonly schema: MergeSchema;
}

function mergeByKey(live: readonly unknown[], changes: readonly unknown[], { key, schema }: Keyed): readonly unknown[] {
  const patches = changes.map(asObject);
  const isReplaced = patches.some(({ $patch }) => $patch === "replace");
  const deleted = patches.filter((patch) => isDeletion(patch)).map((patch) => keyOf(patch, key));
  const rest = patches.filter(({ $patch }) => $patch === undefined);
  if (isReplaced) return rest;
  const left = live.map(asObject).filter((item) => !deleted.includes(item[key]));
  const merged = [...left];
  for (const patch of rest) {
    const at = merged.findIndex((item) => item[key] === keyOf(patch, key));
    const before = merged[at];
    if (before === undefined) merged.push(patch);
    else merged[at] = mergeStrategicObject(before, patch, schema.items ?? plain);
  }
  return orderedBy(merged, { wanted: rest, live: left, schema });
}

function isDeletion(patch: JsonObject): boolean {
  const { $patch: directive } = patch;
  if (directive === "merge") throw failed("merging lists cannot yet be specified in the patch");
  if (directive !== undefined && directive !== "delete" && directive !== "replace")
    throw failed(`unknown patch type: ${directive} in map: ${shown(patch)}`);
  return directive === "delete";
}

function asObject(item: unknown): JsonObject {
  if (isObject(item)) return item;
  throw failed(`expected a map, but received a ${Array.isArray(item) ? "slice" : typeof item}`);
}

function keyOf(item: JsonObject, key: string): unknown {
  if (item[key] !== undefined) return item[key];
  throw failed(`map: ${shown(item)} does not contain declared merge key: ${key}`);
}

/** Formats a value as Go prints maps. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(shown).join(" ")}]`;
  if (!isObject(value)) return value === null ? "<nil>" : String(value);
  const sorted = Object.keys(value).sort();
  return `map[${sorted.map((key) => `${key}:${shown(value[key])}`).join(" ")}]`;
}

// The order of elements in a merged list, and how they are identified.

function strategicRule(schema: MergeSchema): StrategicRule {
  return schema.strategic ?? (schema.keys?.[0] === undefined ? {} : { key: schema.keys[0] });
}

export interface Order {
  /** The order of the elements in the patch: elements or only their keys. */
  readonly wanted: readonly unknown[];
  /** The order of the other elements. */
  readonly live: readonly unknown[];
  readonly schema: MergeSchema;
}

/** Orders elements of the patch as the patch does, and inserts the others at their previous positions. */
function orderedBy(list: readonly unknown[], { wanted, live, schema }: Order): readonly unknown[] {
  const { key } = strategicRule(schema);
  const idOf = (item: unknown) => (key !== undefined && isObject(item) ? item[key] : item);
  const [first, before] = [wanted.map(idOf), live.map(idOf)];
  const sorted = (items: readonly unknown[], by: readonly unknown[]) =>
    [...items].sort((a, b) => by.indexOf(idOf(a)) - by.indexOf(idOf(b)));
  const mentioned = sorted(
    list.filter((item) => first.includes(idOf(item))),
    first,
  );
  const others = sorted(
    list.filter((item) => !first.includes(idOf(item))),
    before,
  );
  return interleave(others, mentioned, (item) => before.indexOf(idOf(item)));
}

/** Places an other element before the next element of the patch if it was before that one in the live list. */
function interleave(
  others: readonly unknown[],
  mentioned: readonly unknown[],
  place: (item: unknown) => number,
): readonly unknown[] {
  const result: unknown[] = [];
  const rest = [...others];
  for (const item of mentioned) {
    const at = place(item);
    while (rest.length > 0 && at >= 0 && place(rest[0]) >= 0 && place(rest[0]) < at) result.push(rest.shift());
    result.push(item);
  }
  return [...result, ...rest];
}

/** Removes objects with directives from a new value. */
function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((each) => each !== undefined);
  if (!isObject(value)) return value;
  if ("$patch" in value) return undefined;
  const kept = Object.entries(value).map(([key, each]) => [key, withoutDirectives(each)] as const);
  return Object.fromEntries(kept.filter(([, each]) => each !== undefined));
}
