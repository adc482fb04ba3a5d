// One step of a path into an object, in the spelling of FieldsV1: "f:spec" for a field, `k:{"name":"app"}` for the element of
// a list with these keys, `v:"x"` for the element of a set. The spelling is unique, so elements are compared as text.
import { isObject } from "../json.ts";
import type { MergeSchema } from "./merge-schema.ts";

export type PathElement = string;

/** A value that does not fit its schema; `path` is filled in on the way out. */
export class MisfitError extends Error {
  readonly code = "PATCH_MISFIT";
  override readonly name = "MisfitError";
}

export function fieldElement(name: string): PathElement {
  return `f:${name}`;
}

/** The name, of an element that is a field. */
export function fieldName(element: PathElement): string | undefined {
  return element.startsWith("f:") ? element.slice(2) : undefined;
}

/** The element of a list that is a set, or has keys. @throws MisfitError */
export function itemElement(item: unknown, schema: MergeSchema): PathElement {
  return schema.keys === undefined ? setElement(item) : keyElement(item, schema.keys, schema.keyDefaults ?? {});
}

function setElement(item: unknown): PathElement {
  if (isObject(item)) throw new MisfitError("associative list without keys has an element that's a map type");
  if (Array.isArray(item)) throw new MisfitError("not supported: associative list with lists as elements");
  if (item === null) throw new MisfitError("associative list without keys has an element that's an explicit null");
  return `v:${JSON.stringify(item)}`;
}

function keyElement(item: unknown, keys: readonly string[], defaults: Readonly<Record<string, unknown>>): PathElement {
  if (item === null) throw new MisfitError("associative list with keys may not have a null element");
  if (!isObject(item)) throw new MisfitError("associative list with keys may not have non-map elements");
  const known = keys.flatMap((key) => {
    const value = item[key] ?? defaults[key];
    return value === undefined ? [] : [[key, value] as const];
  });
  if (known.length === 0) {
    const quoted = keys.map((key) => JSON.stringify(key)).join(" ");
    throw new MisfitError(
      `associative list with keys has an element that omits all key fields [${quoted}] (and doesn't have default values for any key fields)`,
    );
  }
  return `k:${JSON.stringify(Object.fromEntries(known.sort(([a], [b]) => (a < b ? -1 : 1))))}`;
}

/** For people: `.spec`, `[name="app"]`, `[="x"]`. */
export function shownElement(element: PathElement): string {
  const rest = element.slice(2);
  if (element.startsWith("f:")) return `.${rest}`;
  if (element.startsWith("v:")) return `[=${rest}]`;
  if (!element.startsWith("k:")) return `[${rest}]`;
  const keys = Object.entries(JSON.parse(rest) as object).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return `[${keys.join(",")}]`;
}

const ranks = ["f:", "k:", "v:", "i:"];

/** Fields first, then elements by keys, then by values. */
export function compareElements(a: PathElement, b: PathElement): number {
  const rank = ranks.indexOf(a.slice(0, 2)) - ranks.indexOf(b.slice(0, 2));
  if (rank !== 0) return rank;
  return a === b ? 0 : a < b ? -1 : 1;
}
