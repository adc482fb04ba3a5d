// metadata.managedFields: who owns which paths of an object. A manager is known by its name, how it writes (Apply or Update),
// the subresource, and for updates the version; the same name may therefore have several entries.
import { isObject, type JsonObject } from "../json.ts";
import { decodeSet, encodeSet, type PathSet } from "./path-set.ts";

export interface Manager {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource?: string | undefined;
}

export interface Ownership extends Manager {
  readonly fields: PathSet;
  /** "2026-01-02T03:04:05Z" */
  readonly time?: string | undefined;
}

/** By `idOf`. */
export type Managed = Map<string, Ownership>;

/** What tells managers apart. Spelled as Go does, because conflicts are listed in this order. */
export function idOf({ manager, operation, apiVersion, subresource }: Manager): string {
  return JSON.stringify({
    ...(manager && { manager }),
    operation,
    ...(operation === "Update" && { apiVersion }),
    ...(subresource && { subresource }),
  });
}

/** Undefined for what the API server could not read. */
export function decodeManaged(entries: unknown): Managed | undefined {
  if (entries === undefined || entries === null) return new Map();
  if (!Array.isArray(entries)) return undefined;
  const managed: Managed = new Map();
  for (const entry of entries) {
    const ownership = decodeEntry(entry);
    if (ownership === undefined) return undefined;
    managed.set(idOf(ownership), ownership);
  }
  return managed;
}

/** Paths of stored entries, and back: most entries pass through a write unchanged. Sets are never changed once they are made. */
const decoded = new WeakMap<object, PathSet>();
const encoded = new WeakMap<PathSet, JsonObject>();

function fieldsIn(fieldsV1: unknown): PathSet | undefined {
  const known = isObject(fieldsV1) ? decoded.get(fieldsV1) : undefined;
  if (known !== undefined) return known;
  const fields = decodeSet(fieldsV1 ?? {});
  if (fields === undefined || !isObject(fieldsV1) || !Object.isFrozen(fieldsV1)) return fields;
  decoded.set(fieldsV1, fields);
  encoded.set(fields, fieldsV1);
  return fields;
}

function decodeEntry(entry: unknown): Ownership | undefined {
  if (!isObject(entry) || entry.fieldsType !== "FieldsV1") return undefined;
  const { operation, apiVersion, subresource, time } = entry as Record<string, string | undefined>;
  const fields = fieldsIn(entry.fieldsV1);
  if ((operation !== "Apply" && operation !== "Update") || !apiVersion || fields === undefined) return undefined;
  return { manager: String(entry.manager ?? ""), operation, apiVersion, subresource, time, fields };
}

/** As it is stored: appliers first, the oldest first; undefined if nobody owns anything. */
export function encodeManaged(managed: Managed): readonly JsonObject[] | undefined {
  if (managed.size === 0) return undefined;
  return [...managed.values()].sort(inOrder).map(encodeEntry);
}

function encodeEntry({ manager, operation, apiVersion, subresource, time, fields }: Ownership): JsonObject {
  return {
    ...(manager && { manager }),
    operation,
    apiVersion,
    ...(time && { time }),
    fieldsType: "FieldsV1",
    fieldsV1: encoded.get(fields) ?? encodeSet(fields),
    ...(subresource && { subresource }),
  };
}

function inOrder(a: Ownership, b: Ownership): number {
  const keys = (entry: Ownership) => [
    entry.operation,
    entry.time ?? "",
    entry.manager,
    entry.apiVersion,
    entry.subresource ?? "",
  ];
  const [left, right] = [keys(a), keys(b)];
  for (const [at, key] of left.entries()) {
    const other = right[at] ?? "";
    if (key !== other) return key < other ? -1 : 1;
  }
  return 0;
}

/** `[]` and `[{}]` in a request mean: forget who owns what. */
export function isReset(entries: unknown): boolean {
  if (!Array.isArray(entries)) return false;
  return entries.length === 0 || (entries.length === 1 && isObject(entries[0]) && Object.keys(entries[0]).length === 0);
}
