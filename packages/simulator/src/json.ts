// Objects inside the simulator are plain JSON values, as they came over the wire. What is stored is frozen; what is on its
// way in is a draft: a private copy that defaults and admission may write to. These few helpers are all that is needed.
import type { KubernetesObject, ObjectMeta } from "@memhog/runtime";

export interface JsonObject {
  [field: string]: unknown;
}

/** Any object of the API: a type, metadata, and whatever else its kind has. */
export interface ApiObject extends KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

/** A copy of an object that nobody else holds, writable all the way down. */
export interface Draft extends JsonObject {
  apiVersion: string;
  kind: string;
  metadata: { -readonly [F in keyof ObjectMeta]: ObjectMeta[F] } & JsonObject;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object at this field, or an empty one: for reading on through what may be missing. */
export function objectAt(value: unknown, ...fields: readonly string[]): JsonObject {
  const found = valueAt(value, ...fields);
  return isObject(found) ? found : {};
}

/** The list at this field, or an empty one. */
export function listAt(value: unknown, ...fields: readonly string[]): readonly JsonObject[] {
  const found = valueAt(value, ...fields);
  return Array.isArray(found) ? found : [];
}

/** The value at this field, undefined if anything on the way is missing. */
export function valueAt(value: unknown, ...fields: readonly string[]): unknown {
  let found = value;
  for (const field of fields) {
    if (!isObject(found) || !Object.hasOwn(found, field)) return undefined;
    found = found[field];
  }
  return found;
}

/** A draft of a stored object, or of a part of one. */
export function draftOf(object: ApiObject): Draft;
export function draftOf<T>(value: T): T;
export function draftOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => draftOf(each));
  if (!isObject(value)) return value;
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) {
    if (key === "__proto__") setOwn(copy, key, draftOf(value[key]));
    else copy[key] = draftOf(value[key]);
  }
  return copy;
}

/** A draft that takes over the frozen parts of a value as they are: what nobody touched has been through everything before. */
export function draftOver<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  if (Array.isArray(value)) return value.map((each) => draftOver(each)) as T;
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) {
    const each = draftOver((value as JsonObject)[key]);
    if (key === "__proto__") setOwn(copy, key, each);
    else copy[key] = each;
  }
  return copy as T;
}

/** A field of this very name: a plain assignment to `__proto__` would change what the object inherits instead. */
function setOwn(object: JsonObject, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

/** Frozen all the way down. What is frozen already is taken to be so throughout, which keeps unchanged parts cheap. */
export function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const each of Object.values(value)) frozen(each);
  return Object.freeze(value);
}

/** Equal as JSON: the order of fields does not matter, that of lists does, and undefined is the same as missing. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((each, at) => sameJson(each, b[at]));
  if (!isObject(a) || !isObject(b)) return false;
  let missing = 0;
  for (const key of Object.keys(a)) {
    if (a[key] === undefined) missing += 1;
    else if (!Object.hasOwn(b, key) || !sameJson(a[key], b[key])) return false;
  }
  const others = Object.keys(b);
  const rest = others.length - (Object.keys(a).length - missing);
  return rest === 0 || others.filter((key) => b[key] === undefined).length === rest;
}
