// The subset of OpenAPI v3 that a CustomResourceDefinition can use.
import type { JsonSchemaProps, ValidationRule } from "@memhog/runtime/kinds";
import { draftOf, isObject, type JsonObject } from "../json.ts";

/** The schema as the CRD has it, which may contain anything else. */
export type StructuralSchema = JsonSchemaProps;

/** A CEL rule. */
export type Rule = ValidationRule;

/** Returns the schema of a property, or of the values of a map. */
export function fieldSchema(schema: StructuralSchema | undefined, name: string): StructuralSchema | undefined {
  const named = schema?.properties;
  if (named !== undefined && Object.hasOwn(named, name)) return named[name];
  const values = schema?.additionalProperties;
  return isObject(values) ? (values as StructuralSchema) : undefined;
}

/** Whether the schema lists the field as a property, as opposed to a map key. */
export function isNamed(schema: StructuralSchema, name: string): boolean {
  return schema.properties !== undefined && Object.hasOwn(schema.properties, name);
}

// Applies the defaults of a schema, top down, if the parent exists or was itself defaulted. Replaces a null in a field that is not
// nullable by the default, or drops it.

export function applySchemaDefaults(object: JsonObject, schema: StructuralSchema): void {
  dropNulls(object, schema);
  fill(object, schema);
}

function isUnwantedNull(value: unknown, schema: StructuralSchema | undefined): boolean {
  return value === null && schema !== undefined && schema.nullable !== true;
}

function dropNulls(value: unknown, schema: StructuralSchema | undefined): void {
  if (Array.isArray(value)) {
    for (const item of value) dropNulls(item, schema?.items);
    return;
  }
  if (!isObject(value)) return;
  for (const name of Object.keys(value)) {
    const field = fieldSchema(schema, name);
    if (isUnwantedNull(value[name], field) && field?.default === undefined) delete value[name];
    else dropNulls(value[name], field);
  }
}

function fill(value: unknown, schema: StructuralSchema | undefined): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) fillItems(value, schema.items);
  else if (isObject(value)) fillFields(value, schema);
}

function fillFields(object: JsonObject, schema: StructuralSchema): void {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const isMissing = !Object.hasOwn(object, name) || isUnwantedNull(object[name], field);
    if (field.default !== undefined && isMissing) object[name] = draftOf(field.default);
  }
  for (const name of Object.keys(object)) {
    const field = fieldSchema(schema, name);
    if (isUnwantedNull(object[name], field)) object[name] = draftOf(field?.default ?? null);
    fill(object[name], field);
  }
}

function fillItems(list: unknown[], items: StructuralSchema | undefined): void {
  for (const [at, item] of list.entries()) {
    if (isUnwantedNull(item, items)) list[at] = draftOf(items?.default ?? null);
    fill(list[at], items);
  }
}

// Prunes fields that are not in the schema. Keeps apiVersion, kind, and metadata. Below `x-kubernetes-preserve-unknown-fields` it
// prunes only inside specified fields.

const metaFields = new Set(["apiVersion", "kind", "metadata"]);

/** Prunes an object in place. Returns the sorted paths of dropped fields: "spec.unknown", "spec.list[0].unknown". */
export function pruneUnknown(object: JsonObject, schema: StructuralSchema): readonly string[] {
  const dropped: string[] = [];
  prune(object, { ...schema, "x-kubernetes-embedded-resource": true }, { path: "", dropped });
  return dropped.sort();
}

interface Place {
  readonly path: string;
  readonly dropped: string[];
}

function prune(value: unknown, schema: StructuralSchema | undefined, place: Place): void {
  if (Array.isArray(value)) {
    const items = keptItems(schema);
    if (items === "all") return;
    for (const [at, item] of value.entries()) prune(item, items, { ...place, path: `${place.path}[${at}]` });
    return;
  }
  if (!isObject(value)) return;
  for (const name of Object.keys(value)) pruneField(value, name, schema, place);
}

/** A list that preserves unknown fields also preserves them in its elements. */
function keptItems(schema: StructuralSchema | undefined): StructuralSchema | undefined | "all" {
  if (schema?.["x-kubernetes-preserve-unknown-fields"] !== true) return schema?.items;
  return schema.items === undefined ? "all" : { ...schema.items, "x-kubernetes-preserve-unknown-fields": true };
}

function pruneField(object: JsonObject, name: string, schema: StructuralSchema | undefined, { path, dropped }: Place): void {
  if (schema?.["x-kubernetes-embedded-resource"] === true && metaFields.has(name)) return;
  const below = path === "" ? name : `${path}.${name}`;
  const isMap = schema?.additionalProperties !== undefined && schema.additionalProperties !== false;
  if (schema !== undefined && (isNamed(schema, name) || isMap)) {
    const field = fieldSchema(schema, name);
    // With `additionalProperties: true` the values have no schema, so unknown fields in them are pruned.
    prune(object[name], field, { path: below, dropped });
  } else if (schema?.["x-kubernetes-preserve-unknown-fields"] !== true) {
    dropped.push(below);
    delete object[name];
  }
}
