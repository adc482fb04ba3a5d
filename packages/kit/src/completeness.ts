// Two checks of a resource definition, for tests:
//
//     expect(unbounded(AppMonitor)).toEqual([]);      // S3: every list, map and string has a bound
//     expect(undescribed(AppMonitor)).toEqual([]);    // `kubectl explain` describes every field
import type { AnyResource } from "@memhog/runtime";
import { type StructuralSchema, schemaOf } from "@memhog/runtime/schema";
import { type Field, fieldsOf } from "./reference.ts";

/** Returns the fields without a bound and what each lacks: "spec.names[]: a string without .max()". */
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

/** Whether its length, its values or its format bound it. */
function isShort({ maxLength, format = "", enum: values, anyOf }: StructuralSchema): boolean {
  if (maxLength !== undefined || values !== undefined || fixedFormats.has(format)) return true;
  return anyOf?.every(isShort) ?? false;
}

const fixedFormats: ReadonlySet<string> = new Set(["date-time", "date", "uuid", "ipv4", "ipv6"]);

/** Returns the paths of fields without a description. Elements of lists and maps need none. */
export function undescribed(resource: AnyResource): readonly string[] {
  return [...fieldsOf(schemaOf(resource))].filter(isUndescribed).map(({ path }) => path);
}

function isUndescribed({ path, schema }: Field): boolean {
  return schema.description === undefined && !path.endsWith("[]") && !path.endsWith("{}");
}
