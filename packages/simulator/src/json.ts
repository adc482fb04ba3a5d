// Objects in the simulator are plain JSON values. Stored objects are frozen; an incoming object is a draft, a private copy that
// defaulting and admission may change.
import type { KubernetesObject } from "@memhog/runtime";
import type { ObjectMeta } from "@memhog/runtime/objects";

export interface JsonObject {
  [field: string]: unknown;
}

/** Any API object: type, metadata, and the fields of its kind. */
export interface ApiObject extends KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

/** A private copy of an object, writable at every depth. */
export interface Draft extends JsonObject {
  apiVersion: string;
  kind: string;
  metadata: { -readonly [F in keyof ObjectMeta]: ObjectMeta[F] } & JsonObject;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object at this field, or an empty object if the field is missing. */
export function objectAt(value: unknown, ...fields: readonly string[]): JsonObject {
  const found = valueAt(value, ...fields);
  return isObject(found) ? found : {};
}

/** The list at this field, or an empty list. */
export function listAt(value: unknown, ...fields: readonly string[]): readonly JsonObject[] {
  const found = valueAt(value, ...fields);
  return Array.isArray(found) ? found : [];
}

/** The value at this path, undefined if any field of the path is missing. */
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

/** A draft that shares the frozen parts of a value. Frozen parts are already defaulted and validated. */
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

/** Defines a field of this name. A plain assignment to `__proto__` would set the prototype instead. */
function setOwn(object: JsonObject, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

/** Freezes at every depth. A value that is already frozen is assumed to be frozen at every depth, which makes unchanged parts cheap. */
export function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const each of Object.values(value)) frozen(each);
  return Object.freeze(value);
}

/** Equal as JSON: the order of fields is ignored, the order of lists is not, and undefined equals missing. */
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

// Timestamps in the format of the API. The current time comes from the environment's clock.

/** "2026-01-02T03:04:05Z" for milliseconds since 1970. */
export function formatTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d{3}Z$/, "Z");
}

/** Milliseconds since 1970; undefined if the text is not a timestamp. */
export function parseTime(text: unknown): number | undefined {
  const milliseconds = typeof text === "string" ? Date.parse(text) : Number.NaN;
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}
