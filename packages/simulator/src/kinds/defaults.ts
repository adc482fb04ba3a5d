// Defaults as data:
//
//     { replicas: 1,                          the value of a missing field
//       dnsPolicy: (spec) => …,               computed from the surrounding object; undefined leaves the field out
//       "strategy!": { type: "…" },           an object that is created if it is missing, with its own defaults
//       "httpGet?": { scheme: "HTTP" },       an object with defaults if it exists
//       "containers[]": { … },                a list whose elements have defaults
//       "*": (spec) => { … } }                a function that changes the object
//
// Entries apply from top to bottom, so a later one can use values of an earlier one.
import { draftOf, isObject, type JsonObject } from "../json.ts";

export interface Defaults {
  readonly [field: string]: unknown | Defaults | ((parent: JsonObject) => unknown);
}

/** Applies a table to an object. Skips frozen values, which come from storage and already have defaults. */
export function applyDefaults(object: JsonObject, table: Defaults): void {
  if (Object.isFrozen(object)) return;
  for (const row of rowsOf(table)) applyRow(object, row);
}

interface Row {
  readonly field: string;
  readonly how: "call" | "each" | "make" | "enter" | "fill";
  readonly value: unknown;
}

const actions = { "*": "call", "[]": "each", "!": "make", "?": "enter" } as const;

/** Caches the parsed rows of each table. Tables are constants. */
const read = new WeakMap<Defaults, readonly Row[]>();

function rowsOf(table: Defaults): readonly Row[] {
  const known = read.get(table);
  if (known !== undefined) return known;
  const rows = Object.entries(table).map(([key, value]): Row => {
    const [mark = ""] = /(\*|\[\]|[!?])$/.exec(key) ?? [];
    return { field: key.slice(0, key.length - mark.length), how: actions[mark as keyof typeof actions] ?? "fill", value };
  });
  read.set(table, rows);
  return rows;
}

function applyRow(object: JsonObject, { field, how, value }: Row): void {
  if (how === "call") (value as (parent: JsonObject) => void)(object);
  else if (how === "each") forEach(object[field], value as Defaults);
  else if (how === "make" || how === "enter") applyNested(object, field, value as Defaults, how === "make");
  else fill(object, field, value);
}

function applyNested(object: JsonObject, field: string, table: Defaults, make: boolean): void {
  if (make) object[field] ??= {};
  const inner = object[field];
  if (isObject(inner)) applyDefaults(inner, table);
}

function fill(object: JsonObject, field: string, value: unknown): void {
  if (object[field] !== undefined && object[field] !== null) return;
  // A copy, because objects must not share values of the table.
  const computed = draftOf(typeof value === "function" ? value(object) : value);
  if (computed !== undefined) object[field] = computed;
}

function forEach(list: unknown, table: Defaults): void {
  if (!Array.isArray(list)) return;
  for (const element of list) if (isObject(element)) applyDefaults(element, table);
}
