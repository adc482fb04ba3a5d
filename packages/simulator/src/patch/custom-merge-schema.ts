// How custom resources are merged, from the structural schema of their definition.
import { isObject, type JsonObject, objectAt } from "../json.ts";
import { anyKind } from "./merge-keys.ts";
import type { MergeSchema } from "./merge-schema.ts";

/** Of a whole object: its metadata is that of any object. */
export function customMergeSchema(schema: JsonObject): MergeSchema {
  const own = mergeSchemaOf(schema);
  const typeMeta = { apiVersion: {}, kind: {} };
  return { ...own, fields: { ...own.fields, ...typeMeta, ...anyKind.fields } };
}

/** A value of any shape: objects are maps, lists are one value. */
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
