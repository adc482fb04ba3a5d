// Defaults as data. A table says, field by field, what is written where nothing is:
//
//     { replicas: 1,                          a missing field gets this value
//       dnsPolicy: (spec) => …,               … or this one, computed from the object it stands in; undefined leaves it out
//       "strategy!": { type: "…" },           an object that is made if it is missing, with defaults of its own
//       "httpGet?": { scheme: "HTTP" },       an object that keeps being absent, and has defaults if it is there
//       "containers[]": { … },                a list whose every element has defaults
//       "*": (spec) => { … } }                what takes more than a value: called with the object, whatever it has
//
// Rows are applied from top to bottom, so a later row may look at what an earlier one wrote.
import { draftOf, isObject, type JsonObject } from "../json.ts";

export interface Defaults {
  readonly [field: string]: unknown | Defaults | ((parent: JsonObject) => unknown);
}

/** Writes the defaults of a table into an object. */
export function applyDefaults(object: JsonObject, table: Defaults): void {
  for (const [key, value] of Object.entries(table)) applyRow(object, key, value);
}

function applyRow(object: JsonObject, key: string, value: unknown): void {
  const field = key.replace(/(\[\]|[!?])$/, "");
  if (key === "*") (value as (parent: JsonObject) => void)(object);
  else if (key.endsWith("[]")) forEach(object[field], value as Defaults);
  else if (key.endsWith("!")) goInto(object, field, value as Defaults, true);
  else if (key.endsWith("?")) goInto(object, field, value as Defaults, false);
  else fill(object, field, value);
}

function goInto(object: JsonObject, field: string, table: Defaults, make: boolean): void {
  if (make) object[field] ??= {};
  const inner = object[field];
  if (isObject(inner)) applyDefaults(inner, table);
}

function fill(object: JsonObject, field: string, value: unknown): void {
  if (object[field] !== undefined && object[field] !== null) return;
  // A copy: what stands in a table must not end up in two objects.
  const computed = draftOf(typeof value === "function" ? value(object) : value);
  if (computed !== undefined) object[field] = computed;
}

function forEach(list: unknown, table: Defaults): void {
  if (!Array.isArray(list)) return;
  for (const element of list) if (isObject(element)) applyDefaults(element, table);
}
