// Strategic merge patch: a merge patch that knows which lists are merged, and by which key. Directives in the patch say what
// plain data cannot:
//
//     $patch: delete | replace                 in an object, or in an element of a list
//     $retainKeys: [a, b]                      no other fields than these
//     $setElementOrder/containers: [{name: a}] the order of a merged list
//     $deleteFromPrimitiveList/finalizers: [x] take these out of a list of scalars
//
// kubectl apply and kubectl edit write all of them.
import { draftOf, isObject, type JsonObject } from "../json.ts";
import { badRequest, StatusError } from "../server/status-error.ts";
import { goTypeOf } from "./json-patch.ts";
import { fieldOf, type MergeSchema, plain } from "./merge-schema.ts";
import { orderedBy, strategicRule, withoutDirectives } from "./strategic-order.ts";

const order = "$setElementOrder/";
const deletion = "$deleteFromPrimitiveList/";

/** The target with the patch merged in; the target itself stays as it is. @throws StatusError 400, 500 */
export function applyStrategicMerge(target: JsonObject, patch: unknown, schema: MergeSchema): JsonObject {
  if (patch === null) return target;
  if (!isObject(patch))
    throw badRequest(`json: cannot unmarshal ${goTypeOf(patch)} into Go value of type map[string]interface {}`);
  return mergeStrategicObject(target, draftOf(patch), schema);
}

/** The patch is a private copy and may be written to; the target is copied level by level, where something changes. */
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

/** Lists whose order the patch prescribes. They are merged here and leave the patch. */
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

/** What is new is taken as it is, but for fields that say null. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([, each]) => each !== null);
  return Object.fromEntries(kept.map(([key, each]) => [key, withoutNulls(each)]));
}

function failed(message: string): StatusError {
  return new StatusError({ code: 500, reason: "", message });
}

/** A list after a patch of it: merged by key or as a set where the schema says so, otherwise the patch. */
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

/** As Go prints maps. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(shown).join(" ")}]`;
  if (!isObject(value)) return value === null ? "<nil>" : String(value);
  const sorted = Object.keys(value).sort();
  return `map[${sorted.map((key) => `${key}:${shown(value[key])}`).join(" ")}]`;
}
