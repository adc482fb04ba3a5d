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

/** Writes the defaults of a table into an object. What is frozen comes from storage, and has them. */
export function applyDefaults(object: JsonObject, table: Defaults): void {
  if (Object.isFrozen(object)) return;
  for (const row of rowsOf(table)) applyRow(object, row);
}

interface Row {
  readonly field: string;
  readonly how: "call" | "each" | "make" | "enter" | "fill";
  readonly value: unknown;
}

const ways = { "*": "call", "[]": "each", "!": "make", "?": "enter" } as const;

/** Tables are constants, so their rows are read once. */
const read = new WeakMap<Defaults, readonly Row[]>();

function rowsOf(table: Defaults): readonly Row[] {
  const known = read.get(table);
  if (known !== undefined) return known;
  const rows = Object.entries(table).map(([key, value]): Row => {
    const [mark = ""] = /(\*|\[\]|[!?])$/.exec(key) ?? [];
    return { field: key.slice(0, key.length - mark.length), how: ways[mark as keyof typeof ways] ?? "fill", value };
  });
  read.set(table, rows);
  return rows;
}

function applyRow(object: JsonObject, { field, how, value }: Row): void {
  if (how === "call") (value as (parent: JsonObject) => void)(object);
  else if (how === "each") forEach(object[field], value as Defaults);
  else if (how === "make" || how === "enter") goInto(object, field, value as Defaults, how === "make");
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
