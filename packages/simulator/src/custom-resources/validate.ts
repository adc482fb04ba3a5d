// Everything there is to say about a custom resource, in the order the API server says it: the schema, the paths of its scale,
// lists with keys, and last its rules, which are not asked about an object that is of the wrong shape.
import { type ApiObject, isObject, valueAt } from "../json.ts";
import type { ScalePaths } from "../kinds/kind-entry.ts";
import type { FieldError } from "../server/field-error.ts";
import { type RuleNode, ruleErrors } from "./cel/rules.ts";
import { invalidValue, isBlocking, nowhere, rulesNotChecked } from "./complaints.ts";
import { listInvariantErrors } from "./list-errors.ts";
import { schemaErrors } from "./schema-errors.ts";
import type { StructuralSchema } from "./structural-schema.ts";

export interface Judge {
  readonly schema: StructuralSchema;
  readonly rules: RuleNode | undefined;
  readonly scale: ScalePaths | undefined;
}

export interface Judged {
  readonly object: ApiObject;
  readonly old: ApiObject | undefined;
  readonly subresource: string | undefined;
}

export function customResourceErrors(judged: Judged, { schema, rules, scale }: Judge): readonly FieldError[] {
  const { object, old } = judged;
  const wasUnique = old === undefined || listInvariantErrors(old, schema).length === 0;
  const shape = [
    ...(judged.subresource === "status" ? statusErrors(judged, schema) : schemaErrors({ value: object, old, path: "" }, schema)),
    ...scaleErrors(judged, scale),
    ...(wasUnique ? listInvariantErrors(object, schema) : []),
  ];
  if (rules === undefined) return shape;
  return [...shape, ...(shape.some(isBlocking) ? [rulesNotChecked] : ruleErrors(object, old, rules))];
}

function statusErrors({ object, old }: Judged, schema: StructuralSchema): readonly FieldError[] {
  const status = schema.properties?.status;
  if (status === undefined || object.status === undefined) return [];
  // The sentences speak of the status as if it were the whole; only their fields say where it is.
  const errors = schemaErrors({ value: object.status, old: old?.status, path: "" }, status);
  return errors.map((error) => (error.field === nowhere ? error : { ...error, field: `status.${error.field}` }));
}

const most = 2 ** 31 - 1;

function scaleErrors({ object, subresource }: Judged, scale: ScalePaths | undefined): readonly FieldError[] {
  if (scale === undefined) return [];
  const spec = subresource === "status" ? [] : replicasErrors(object, scale.specReplicas);
  return [...spec, ...replicasErrors(object, scale.statusReplicas), ...selectorErrors(object, scale.labelSelector)];
}

function replicasErrors(object: ApiObject, path: string): readonly FieldError[] {
  const replicas = valueAt(object, ...fieldsOf(path));
  const obstacle = obstacleOn(object, path) ?? (isOf(replicas, "int64") ? undefined : misfit(replicas, "int64"));
  if (obstacle !== undefined) return [invalidValue(path, 0, `${path} accessor error: ${obstacle}`)];
  if (typeof replicas !== "number") return [];
  if (replicas < 0) return [invalidValue(path, replicas, "should be a non-negative integer")];
  return replicas > most ? [invalidValue(path, replicas, `should be less than or equal to ${most}`)] : [];
}

function selectorErrors(object: ApiObject, path: string | undefined): readonly FieldError[] {
  if (path === undefined) return [];
  const selector = valueAt(object, ...fieldsOf(path));
  const obstacle = obstacleOn(object, path) ?? (isOf(selector, "string") ? undefined : misfit(selector, "string"));
  return obstacle === undefined ? [] : [invalidValue(path, "", `${path} accessor error: ${obstacle}`)];
}

function fieldsOf(path: string): readonly string[] {
  return path.split(".").filter((field) => field !== "");
}

function isOf(value: unknown, type: "int64" | "string"): boolean {
  return value === undefined || (type === "int64" ? Number.isInteger(value) : typeof value === "string");
}

/** What stands in the way of following a path. */
function obstacleOn(object: ApiObject, path: string): string | undefined {
  let found: unknown = object;
  for (const field of fieldsOf(path).slice(0, -1)) {
    found = isObject(found) ? found[field] : undefined;
    if (found === undefined) return undefined;
    if (!isObject(found)) return misfit(found, "map[string]interface{}");
  }
  return undefined;
}

function misfit(value: unknown, expected: string): string {
  return `${goText(value)} is of the type ${goType(value)}, expected ${expected}`;
}

function goType(value: unknown): string {
  if (Array.isArray(value)) return "[]interface {}";
  if (isObject(value)) return "map[string]interface {}";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  return value === null ? "<nil>" : typeof value === "boolean" ? "bool" : "string";
}

/** As Go prints it with %v. */
function goText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goText).join(" ")}]`;
  if (!isObject(value)) return value === null ? "<nil>" : String(value);
  const keys = Object.keys(value).sort();
  return `map[${keys.map((key) => `${key}:${goText(value[key])}`).join(" ")}]`;
}
