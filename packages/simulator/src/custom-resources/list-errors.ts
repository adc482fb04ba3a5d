// Lists that are sets or have keys: nothing may be in them twice.
import { isObject, type JsonObject } from "../json.ts";
import { duplicate, type FieldError } from "../server/field-error.ts";
import { invalidValue } from "./complaints.ts";
import { fieldSchema, isNamed, type StructuralSchema } from "./structural-schema.ts";

export function listInvariantErrors(value: unknown, schema: StructuralSchema | undefined, path = ""): readonly FieldError[] {
  if (schema === undefined) return [];
  if (Array.isArray(value)) {
    const items = value.flatMap((item, at) => listInvariantErrors(item, schema.items, `${path}[${at}]`));
    return [...duplicatesIn(value, schema, path), ...items];
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const below = isNamed(schema, name) ? (path === "" ? name : `${path}.${name}`) : `${path}[${name}]`;
    return listInvariantErrors(field, fieldSchema(schema, name), below);
  });
}

function duplicatesIn(list: readonly unknown[], schema: StructuralSchema, path: string): readonly FieldError[] {
  const type = schema["x-kubernetes-list-type"];
  if (type === "set") return secondTimes(list, path);
  if (type !== "map") return [];
  const odd = list.findIndex((item) => item !== null && !isObject(item));
  if (odd >= 0) return [invalidValue(`${path}[${odd}]`, list[odd], "must be an object for an array of list-type map")];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  return secondTimes(
    list.map((item) => keysOf(item, keys)),
    path,
  );
}

function keysOf(item: unknown, keys: readonly string[]): JsonObject {
  const found = keys.flatMap((key) => (isObject(item) && key in item ? [[key, item[key]] as const] : []));
  return Object.fromEntries(found);
}

/** What is there more than once is told once, at its second place. */
function secondTimes(list: readonly unknown[], path: string): readonly FieldError[] {
  const texts = list.map((item) => JSON.stringify(item));
  const seen = new Map<string, number>();
  return texts.flatMap((text, at) => {
    const times = (seen.get(text) ?? 0) + 1;
    seen.set(text, times);
    return times === 2 ? [duplicate(`${path}[${at}]`, list[at])] : [];
  });
}
