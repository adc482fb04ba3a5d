// Validation helpers for several kinds.
import { parseQuantity } from "@memhog/runtime";
import type { LabelSelector } from "@memhog/runtime/kinds";
import { formatSelector, matches } from "@memhog/runtime/objects";
import { type ApiObject, isObject, type JsonObject, objectAt, sameJson, valueAt } from "../json.ts";
import { type FieldError, forbiddenField, invalid, notSupported, required } from "../server/field-error.ts";

const notNegativeText = "must be greater than or equal to 0";

export function notNegative(field: string, value: unknown): readonly FieldError[] {
  return typeof value === "number" && value < 0 ? [invalid(field, value, notNegativeText)] : [];
}

/** Rejects negative numbers in these fields below `prefix`. */
export function notNegativeFields(object: JsonObject, prefix: string, fields: readonly string[]): readonly FieldError[] {
  return fields.flatMap((field) => notNegative(`${prefix}.${field}`, object[field]));
}

export function oneOf(field: string, value: unknown, supported: readonly string[]): readonly FieldError[] {
  return value === undefined || value === "" || supported.includes(value as string)
    ? []
    : [notSupported(field, value, supported)];
}

/** Rejects changes to a field, for example "spec.selector". */
export function immutable(field: string, object: ApiObject, old: ApiObject | undefined): readonly FieldError[] {
  const fields = field.split(".");
  const value = valueAt(object, ...fields);
  return old === undefined || sameJson(value, valueAt(old, ...fields)) ? [] : [invalid(field, value, "field is immutable")];
}

/** Rejects changes to the data of an object with `immutable: true`. */
export function immutableData(fields: readonly string[], object: ApiObject, old: ApiObject | undefined): readonly FieldError[] {
  if (old?.immutable !== true) return [];
  const detail = "field is immutable when `immutable` is set";
  const reopened = object.immutable === true ? [] : [forbiddenField("immutable", detail)];
  const changed = fields.filter((field) => !sameJson(object[field], old[field]));
  return [...reopened, ...changed.map((field) => forbiddenField(field, detail))];
}

export function isPort(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= 65_535;
}

export const portText = "must be between 1 and 65535, inclusive";

/** Validates that the selector of a workload matches the labels of its template. */
export function selectorErrors(object: ApiObject, what: string): readonly FieldError[] {
  const selector = valueAt(object, "spec", "selector");
  const labels = valueAt(object, "spec", "template", "metadata", "labels");
  if (!isObject(selector)) return [required("spec.selector"), mismatch(labels)];
  if (formatSelector(selector as LabelSelector) === "")
    return [invalid("spec.selector", selector, `empty selector is invalid for ${what}`)];
  return matches(selector as LabelSelector, labels as Record<string, string>) ? [] : [mismatch(labels)];
}

function mismatch(labels: unknown): FieldError {
  return invalid("spec.template.metadata.labels", labels ?? null, "`selector` does not match template `labels`");
}

/** Validates a number or a percentage such as "25%". */
export function intOrPercentErrors(field: string, value: unknown): readonly FieldError[] {
  if (typeof value === "number") return notNegative(field, value);
  if (value === undefined || (typeof value === "string" && /^[0-9]+%$/.test(value))) return [];
  const problem =
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
  return [invalid(field, value, problem)];
}

const standardResource = /^(cpu|memory|ephemeral-storage|hugepages-.+)$/;

/** Validates requests and limits of a container. */
export function resourceErrors(field: string, resources: JsonObject): readonly FieldError[] {
  const limits = objectAt(resources, "limits");
  const requests = objectAt(resources, "requests");
  return [
    ...amountErrors(`${field}.limits`, limits),
    ...Object.keys(requests).flatMap((name) => [
      ...amountErrors(`${field}.requests`, { [name]: requests[name] }),
      ...exceeds(`${field}.requests`, name, requests[name], limits[name]),
    ]),
  ];
}

function exceeds(field: string, name: string, request: unknown, limit: unknown): readonly FieldError[] {
  if (limit === undefined || parseQuantity(String(request)).compare(parseQuantity(String(limit))) <= 0) return [];
  return [invalid(field, request, `must be less than or equal to ${name} limit of ${limit}`)];
}

function amountErrors(field: string, amounts: JsonObject): readonly FieldError[] {
  return Object.entries(amounts).flatMap(([name, amount]) => [
    ...(parseQuantity(String(amount)).sign < 0 ? [invalid(`${field}[${name}]`, amount, notNegativeText)] : []),
    ...(name.includes("/") || standardResource.test(name)
      ? []
      : [
          invalid(`${field}[${name}]`, name, "must be a standard resource type or fully qualified"),
          invalid(`${field}[${name}]`, name, "must be a standard resource for containers"),
        ]),
  ]);
}
