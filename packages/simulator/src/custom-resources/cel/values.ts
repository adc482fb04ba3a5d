// JSON as rules see it. The schema decides what a value is: a whole number is an int (a bigint here) only where it says so, a
// text with a time format is an instant, and the names of fields are escaped where they are no identifiers of CEL.
import { isObject, type JsonObject } from "../../json.ts";
import { fieldSchema, type StructuralSchema } from "../structural-schema.ts";
import { durationValue } from "./durations.ts";

/** The value of `self` or `oldSelf`. The object itself shows of its metadata only the name, as in the real one. */
export function celValue(value: unknown, schema: StructuralSchema | undefined, isRoot = false): unknown {
  if (value === undefined || value === null) return null;
  if (typeof value === "number") return numberValue(value, schema);
  if (typeof value === "string") return textValue(value, schema);
  if (Array.isArray(value)) return value.map((item) => celValue(item, schema?.items));
  return isObject(value) ? objectValue(value, schema, isRoot) : value;
}

function numberValue(value: number, schema: StructuralSchema | undefined): unknown {
  const isInteger = schema?.type === "integer" || (schema?.type !== "number" && Number.isInteger(value));
  return isInteger && Number.isInteger(value) ? BigInt(value) : value;
}

function textValue(text: string, schema: StructuralSchema | undefined): unknown {
  if (schema?.type !== "string") return text;
  if (schema.format === "date-time" || schema.format === "date") return new Date(text);
  if (schema.format === "duration") return durationValue(text);
  return schema.format === "byte" ? Buffer.from(text, "base64") : text;
}

function objectValue(object: JsonObject, schema: StructuralSchema | undefined, isRoot: boolean): JsonObject {
  const isMap = schema?.properties === undefined;
  const fields = Object.entries(object).filter(([, value]) => value !== undefined);
  const known = isMap ? fields : fields.filter(([name]) => schema.properties?.[name] !== undefined);
  const seen = known.map(([name, value]) => [isMap ? name : escaped(name), celValue(value, fieldSchema(schema, name))] as const);
  const isResource = isRoot || schema?.["x-kubernetes-embedded-resource"] === true;
  return Object.fromEntries(isResource ? [...seen, ...resourceFields(object)] : seen);
}

function resourceFields({ apiVersion, kind, metadata }: JsonObject): readonly (readonly [string, unknown])[] {
  const { name, generateName } = isObject(metadata) ? metadata : {};
  const shown = { ...(name !== undefined && { name }), ...(generateName !== undefined && { generateName }) };
  return [
    ["apiVersion", apiVersion ?? ""],
    ["kind", kind ?? ""],
    ["metadata", shown],
  ];
}

const words = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return".split(" "),
);

/** "storage-size" → "storage__dash__size": how Kubernetes spells fields that CEL could not name. */
export function escaped(name: string): string {
  const spelled = name
    .replaceAll("__", "__underscores__")
    .replaceAll(".", "__dot__")
    .replaceAll("-", "__dash__")
    .replaceAll("/", "__slash__");
  return words.has(spelled) ? `__${spelled}__` : spelled;
}
