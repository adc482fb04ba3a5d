// Validates a custom resource in the order of the API server: schema, scale paths, keyed lists, and finally rules, which it skips
// if the object does not match its schema.
import { type ApiObject, isObject, type JsonObject, valueAt } from "../json.ts";
import type { ScalePaths } from "../kinds/kind-entry.ts";
import { duplicate, type FieldError } from "../server/field-error.ts";
import { type RuleNode, ruleErrors } from "./cel-rules.ts";
import { invalidValue, isBlocking, noField, rulesNotChecked, schemaErrors } from "./schema-errors.ts";
import { fieldSchema, isNamed, type StructuralSchema } from "./structural-schema.ts";

interface Validator {
  readonly schema: StructuralSchema;
  readonly rules: RuleNode | undefined;
  readonly scale: ScalePaths | undefined;
}

interface ValidatedWrite {
  readonly object: ApiObject;
  readonly old: ApiObject | undefined;
  readonly subresource: string | undefined;
}

export function customResourceErrors(write: ValidatedWrite, { schema, rules, scale }: Validator): readonly FieldError[] {
  const { object, old } = write;
  const wasUnique = old === undefined || listInvariantErrors(old, schema).length === 0;
  const shape = [
    ...(write.subresource === "status" ? statusErrors(write, schema) : schemaErrors({ value: object, old, path: "" }, schema)),
    ...scaleErrors(write, scale),
    ...(wasUnique ? listInvariantErrors(object, schema) : []),
  ];
  if (rules === undefined) return shape;
  return [...shape, ...(shape.some(isBlocking) ? [rulesNotChecked] : ruleErrors(object, old, rules))];
}

function statusErrors({ object, old }: ValidatedWrite, schema: StructuralSchema): readonly FieldError[] {
  const status = schema.properties?.status;
  if (status === undefined || object.status === undefined) return [];
  // The messages treat the status as the whole object; only the field contains "status".
  const errors = schemaErrors({ value: object.status, old: old?.status, path: "" }, status);
  return errors.map((error) => (error.field === noField ? error : { ...error, field: `status.${error.field}` }));
}

const most = 2 ** 31 - 1;

function scaleErrors({ object, subresource }: ValidatedWrite, scale: ScalePaths | undefined): readonly FieldError[] {
  if (scale === undefined) return [];
  const spec = subresource === "status" ? [] : replicasErrors(object, scale.specReplicas);
  return [...spec, ...replicasErrors(object, scale.statusReplicas), ...selectorErrors(object, scale.labelSelector)];
}

function replicasErrors(object: ApiObject, path: string): readonly FieldError[] {
  const replicas = valueAt(object, ...fieldsOf(path));
  const problem = pathError(object, path) ?? (isOf(replicas, "int64") ? undefined : typeMismatch(replicas, "int64"));
  if (problem !== undefined) return [invalidValue(path, 0, `${path} accessor error: ${problem}`)];
  if (typeof replicas !== "number") return [];
  if (replicas < 0) return [invalidValue(path, replicas, "should be a non-negative integer")];
  return replicas > most ? [invalidValue(path, replicas, `should be less than or equal to ${most}`)] : [];
}

function selectorErrors(object: ApiObject, path: string | undefined): readonly FieldError[] {
  if (path === undefined) return [];
  const selector = valueAt(object, ...fieldsOf(path));
  const problem = pathError(object, path) ?? (isOf(selector, "string") ? undefined : typeMismatch(selector, "string"));
  return problem === undefined ? [] : [invalidValue(path, "", `${path} accessor error: ${problem}`)];
}

function fieldsOf(path: string): readonly string[] {
  return path.split(".").filter((field) => field !== "");
}

function isOf(value: unknown, type: "int64" | "string"): boolean {
  return value === undefined || (type === "int64" ? Number.isInteger(value) : typeof value === "string");
}

/** Returns an error if a field on the path is not an object. */
function pathError(object: ApiObject, path: string): string | undefined {
  let found: unknown = object;
  for (const field of fieldsOf(path).slice(0, -1)) {
    found = isObject(found) ? found[field] : undefined;
    if (found === undefined) return undefined;
    if (!isObject(found)) return typeMismatch(found, "map[string]interface{}");
  }
  return undefined;
}

function typeMismatch(value: unknown, expected: string): string {
  return `${goText(value)} is of the type ${goType(value)}, expected ${expected}`;
}

function goType(value: unknown): string {
  if (Array.isArray(value)) return "[]interface {}";
  if (isObject(value)) return "map[string]interface {}";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  return value === null ? "<nil>" : typeof value === "boolean" ? "bool" : "string";
}

/** Formats a value as Go prints it with %v. */
function goText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goText).join(" ")}]`;
  if (!isObject(value)) return value === null ? "<nil>" : String(value);
  const keys = Object.keys(value).sort();
  return `map[${keys.map((key) => `${key}:${goText(value[key])}`).join(" ")}]`;
}

// Sets and keyed lists must not contain duplicates.

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
  if (type === "set") return duplicateErrors(list, path);
  if (type !== "map") return [];
  const odd = list.findIndex((item) => item !== null && !isObject(item));
  if (odd >= 0) return [invalidValue(`${path}[${odd}]`, list[odd], "must be an object for an array of list-type map")];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  return duplicateErrors(
    list.map((item) => keysOf(item, keys)),
    path,
  );
}

function keysOf(item: unknown, keys: readonly string[]): JsonObject {
  const found = keys.flatMap((key) => (isObject(item) && key in item ? [[key, item[key]] as const] : []));
  return Object.fromEntries(found);
}

/** Reports each duplicate once, at its second position. */
function duplicateErrors(list: readonly unknown[], path: string): readonly FieldError[] {
  const texts = list.map((item) => JSON.stringify(item));
  const seen = new Map<string, number>();
  return texts.flatMap((text, at) => {
    const times = (seen.get(text) ?? 0) + 1;
    seen.set(text, times);
    return times === 2 ? [duplicate(`${path}[${at}]`, list[at])] : [];
  });
}
