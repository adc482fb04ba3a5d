// How to merge and own a value, field by field: whether a list is atomic, and which keys identify its elements. Strategic merge
// patch and server-side apply use it. For built-in kinds it comes from a table (merge-keys.ts), for custom resources from
// `x-kubernetes-list-type` and related fields of their schema.
//
// The default for anything that a schema does not mention: objects are merged field by field, lists are replaced.
import { isObject, type JsonObject, objectAt } from "../json.ts";
import { anyKind } from "./merge-keys.ts";

export interface MergeSchema {
  /** An object with one owner: a manager that applies it applies all of it. */
  readonly atomic?: boolean;
  /** A list of scalars with an owner per element. */
  readonly set?: boolean;
  /** A list of objects identified by these fields. */
  readonly keys?: readonly string[];
  /** The value of a key that an element omits. */
  readonly keyDefaults?: Readonly<Record<string, unknown>>;
  /** Where strategic merge patch differs from the rules above. */
  readonly strategic?: StrategicRule;

  readonly fields?: Readonly<Record<string, MergeSchema>>;
  /** The elements of a list or the values of a map. */
  readonly items?: MergeSchema;
  /** Rejects fields that `fields` does not list. Set only for custom resources, whose schemas are complete. */
  readonly closed?: boolean;
}

export interface StrategicRule {
  /** The field that identifies the elements of a list. */
  readonly key?: string;
  /** Replaces the value instead of merging it. */
  readonly replace?: boolean;
}

/** The default rules: objects are merged, lists are replaced. */
export const plain: MergeSchema = {};

/** Returns the schema of a field and whether the schema names it. Undefined if the field is not allowed. */
export function fieldOf(
  schema: MergeSchema,
  name: string,
): { readonly schema: MergeSchema; readonly named: boolean } | undefined {
  const named = schema.fields !== undefined && Object.hasOwn(schema.fields, name) ? schema.fields[name] : undefined;
  if (named !== undefined) return { schema: named, named: true };
  if (schema.items !== undefined) return { schema: schema.items, named: false };
  return schema.closed === true ? undefined : { schema: plain, named: true };
}

/** Whether a list has one owner and is replaced as a whole. */
export function isAtomicList(schema: MergeSchema): boolean {
  return schema.set !== true && schema.keys === undefined;
}

// Merge rules of custom resources, from their structural schema.

/** The schema of a complete object, including the metadata that all kinds share. */
export function customMergeSchema(schema: JsonObject): MergeSchema {
  const own = mergeSchemaOf(schema);
  const typeMeta = { apiVersion: {}, kind: {} };
  return { ...own, fields: { ...own.fields, ...typeMeta, ...anyKind.fields } };
}

/** A value of any shape: objects are maps, lists are atomic. */
const anything: MergeSchema = {
  get items() {
    return anything;
  },
};

function mergeSchemaOf(schema: JsonObject): MergeSchema {
  if (schema["x-kubernetes-embedded-resource"] === true) return embedded(schema);
  return schema.type === "array" ? listSchema(schema) : objectSchema(schema);
}

function listSchema(schema: JsonObject): MergeSchema {
  const items = isObject(schema.items) ? schema.items : {};
  const type = schema["x-kubernetes-list-type"];
  if (type === "set") return { set: true, items: mergeSchemaOf(items) };
  if (type !== "map") return {};
  const keys = schema["x-kubernetes-list-map-keys"] as readonly string[];
  const defaults = keys.flatMap((key) => {
    const value = objectAt(items, "properties", key).default;
    return value === undefined ? [] : [[key, value] as const];
  });
  return { keys, keyDefaults: Object.fromEntries(defaults), items: mergeSchemaOf(items) };
}

function objectSchema(schema: JsonObject): MergeSchema {
  const { properties, additionalProperties: values } = schema;
  const fields = Object.entries(objectAt({ properties }, "properties")).map(
    ([name, field]) => [name, mergeSchemaOf(field as JsonObject)] as const,
  );
  const keepsUnknown = schema["x-kubernetes-preserve-unknown-fields"] === true || values === true;
  return {
    ...(fields.length > 0 && { fields: Object.fromEntries(fields) }),
    ...(isObject(values) ? { items: mergeSchemaOf(values) } : keepsUnknown ? { items: anything } : { closed: true }),
    ...(schema["x-kubernetes-map-type"] === "atomic" && { atomic: true }),
  };
}

function embedded(schema: JsonObject): MergeSchema {
  const { "x-kubernetes-embedded-resource": _, ...rest } = schema;
  const own = mergeSchemaOf(rest);
  return { ...own, fields: { ...own.fields, apiVersion: {}, kind: {}, ...anyKind.fields } };
}
