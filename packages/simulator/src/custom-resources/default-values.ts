// Writes the defaults of a schema into an object, top down: only where the parent exists, or has just been made by a default of
// its own. A null where no null is allowed counts as missing: it is replaced by the default, or dropped.
import { draftOf, isObject, type JsonObject } from "../json.ts";
import { fieldSchema, type StructuralSchema } from "./structural-schema.ts";

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
