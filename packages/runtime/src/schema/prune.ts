// What a version of a kind does not know is dropped, as the API server does it before it stores an object.
import { isRecord } from "../objects/diff.ts";
import type { StructuralSchema } from "./structural-types.ts";

/** The value without fields that the schema has no word for. */
export function pruned(value: unknown, schema: StructuralSchema): unknown {
  const { items, properties, additionalProperties } = schema;
  if (Array.isArray(value)) return items === undefined ? value : value.map((each) => pruned(each, items));
  if (!isRecord(value) || schema["x-kubernetes-preserve-unknown-fields"] === true) return value;
  const known = Object.entries(value).flatMap(([name, field]) => {
    const of = properties?.[name] ?? additionalProperties;
    return of === undefined ? [] : [[name, pruned(field, of)] as const];
  });
  return Object.fromEntries(known);
}
