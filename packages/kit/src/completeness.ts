// Two questions every author should ask of a definition, as tests:
//
//     expect(unbounded(AppMonitor)).toEqual([]);      // promise S3: no list, map or string without an end
//     expect(undescribed(AppMonitor)).toEqual([]);    // `kubectl explain` answers for every field
import type { AnyResource } from "@memhog/runtime";
import { type StructuralSchema, schemaOf } from "@memhog/runtime/schema";
import { type Field, fieldsOf } from "./reference.ts";

/** Fields whose values may grow without limit, each with what it lacks: "spec.names[]: a string without .max()". */
export function unbounded(resource: AnyResource): readonly string[] {
  return [...fieldsOf(schemaOf(resource))].flatMap(({ path, schema }) => lackOf(schema).map((lack) => `${path}: ${lack}`));
}

function lackOf(schema: StructuralSchema): readonly string[] {
  const { type, maxLength, maxItems, maxProperties } = schema;
  if (schema["x-kubernetes-preserve-unknown-fields"]) return ["fields of any size, since unknown ones are preserved"];
  if (schema["x-kubernetes-int-or-string"] && maxLength === undefined) return ["an int-or-string without .max() for the string"];
  if (type === "array" && maxItems === undefined) return ["a list without .max()"];
  if (schema.additionalProperties !== undefined && maxProperties === undefined) return ["a map without a bound: use mapOf()"];
  return type === "string" && !isShort(schema) ? ["a string without .max()"] : [];
}

/** Bounded by its length, by its values, or by a format that allows no long ones. */
function isShort({ maxLength, format = "", enum: values, anyOf }: StructuralSchema): boolean {
  if (maxLength !== undefined || values !== undefined || fixedFormats.has(format)) return true;
  return anyOf?.every(isShort) ?? false;
}

const fixedFormats: ReadonlySet<string> = new Set(["date-time", "date", "uuid", "ipv4", "ipv6"]);

/** Fields without a description, by path. The elements of lists and maps may go without one of their own. */
export function undescribed(resource: AnyResource): readonly string[] {
  return [...fieldsOf(schemaOf(resource))].filter(isUndescribed).map(({ path }) => path);
}

function isUndescribed({ path, schema }: Field): boolean {
  return schema.description === undefined && !path.endsWith("[]") && !path.endsWith("{}");
}
