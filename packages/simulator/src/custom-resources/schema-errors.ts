// Validates a value against its schema. An update can keep a value that was already invalid, so that a definition can become
// stricter without blocking existing objects ("ratcheting").

import { isIPv4, isIPv6 } from "node:net";
import { isObject, type JsonObject, sameJson } from "../json.ts";
import { type FieldError, required, tooLong, tooMany } from "../server/field-error.ts";
import { fieldSchema, type StructuralSchema } from "./structural-schema.ts";

export interface Checked {
  readonly value: unknown;
  /** The value before the update, if there is one to compare with. */
  readonly old?: unknown;
  /** For example "spec.replicas"; "" for the whole object. */
  readonly path: string;
}

export function schemaErrors(checked: Checked, schema: StructuralSchema): readonly FieldError[] {
  const errors = errorsOf(checked, schema);
  const isOld = checked.old !== undefined && sameJson(checked.value, checked.old);
  return isOld ? [] : errors;
}

function errorsOf(checked: Checked, schema: StructuralSchema): readonly FieldError[] {
  const { value, path } = checked;
  const type = typeErrors(value, schema, path);
  if (value === null) return [...type, ...enumErrors(value, schema, path)];
  return [
    ...type,
    ...combinationErrors(checked, schema),
    ...(typeof value === "string" ? textErrors(value, schema, path) : []),
    ...(typeof value === "number" ? numberErrors(value, schema, path) : []),
    ...(Array.isArray(value) ? listErrors(checked, value, schema) : []),
    ...enumErrors(value, schema, path),
    ...(isObject(value) ? objectErrors(checked, value, schema) : []),
  ];
}

/** Returns the type and format that Go detects in a value. */
function goTypeOf(value: unknown): { readonly type: string; readonly format: string } {
  if (Array.isArray(value)) return { type: "array", format: "" };
  if (typeof value === "number")
    return isInt64(value) ? { type: "integer", format: "int64" } : { type: "number", format: "float64" };
  return { type: typeof value, format: "" };
}

/** JSON does not distinguish 1 from 1.0. Go reads integers beyond int64 as floats. */
function isInt64(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) < 2 ** 63;
}

function typeErrors(value: unknown, schema: StructuralSchema, path: string): readonly FieldError[] {
  const types = typesOf(schema);
  if (types.length === 0) return [];
  if (value === null) return schema.nullable === true ? [] : [wrongType(path, types.join(","), "null")];
  const { type, format } = goTypeOf(value);
  const fits = types.includes(type) || (type === "integer" && types.includes("number"));
  if (fits) return [];
  const expected = formatOf(schema);
  if (expected !== undefined && typeof value !== "string" && !Array.isArray(value)) return [wrongType(path, expected, format)];
  return [wrongType(path, types.join(","), type)];
}

function typesOf(schema: StructuralSchema): readonly string[] {
  if (schema["x-kubernetes-int-or-string"] === true) return ["integer", "string"];
  return schema.type === undefined ? [] : [schema.type];
}

/** Returns the format if the server validates it for this type. */
function formatOf({ type, format = "" }: StructuralSchema): string | undefined {
  const known: Readonly<Record<string, readonly string[]>> = { integer: ["int32", "int64"], number: ["float", "double"] };
  const names = known[type ?? ""] ?? (type === undefined || type === "string" ? Object.keys(formats) : []);
  return names.includes(format) ? format : undefined;
}

function enumErrors(value: unknown, schema: StructuralSchema, path: string): readonly FieldError[] {
  if (schema.enum === undefined || schema.enum.some((each) => sameJson(each, value))) return [];
  return [unsupported(path, value, schema.enum)];
}

/** Reports only the first error of length and pattern. */
function textErrors(text: string, schema: StructuralSchema, path: string): readonly FieldError[] {
  const format = formatOf(schema);
  const isOdd = format !== undefined && formats[format]?.(text) === false;
  return [...shapeErrors(text, schema, path), ...(isOdd ? [wrongType(path, format, text)] : [])];
}

function shapeErrors(text: string, { minLength, maxLength, pattern }: StructuralSchema, path: string): readonly FieldError[] {
  const length = [...text].length;
  if (maxLength !== undefined && length > maxLength) return [tooLong(path, maxLength)];
  if (minLength !== undefined && length < minLength) return [invalidIn(path, text, `should be at least ${minLength} chars long`)];
  if (pattern !== undefined && !goPattern(pattern).test(text)) return [invalidIn(path, text, `should match '${pattern}'`)];
  return [];
}

function numberErrors(value: number, schema: StructuralSchema, path: string): readonly FieldError[] {
  const { minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf } = schema;
  const wrong = (demand: string) => [invalidIn(path, value, `should be ${demand}`)];
  const isBelow = minimum !== undefined && (exclusiveMinimum === true ? value <= minimum : value < minimum);
  const isAbove = maximum !== undefined && (exclusiveMaximum === true ? value >= maximum : value > maximum);
  return [
    ...rangeErrors(value, schema, path),
    ...(multipleOf !== undefined && !Number.isInteger(value / multipleOf) ? wrong(`a multiple of ${multipleOf}`) : []),
    ...(isBelow ? wrong(`greater than ${exclusiveMinimum === true ? "" : "or equal to "}${minimum}`) : []),
    ...(isAbove ? wrong(`less than ${exclusiveMaximum === true ? "" : "or equal to "}${maximum}`) : []),
  ];
}

function rangeErrors(value: number, schema: StructuralSchema, path: string): readonly FieldError[] {
  const { type } = schema;
  const fits = formatOf(schema) === "int32" ? value === (value | 0) : isInt64(value);
  if (type !== "integer" || fits) return [];
  const format = formatOf(schema) === undefined ? "(default format)" : `with format ${schema.format}`;
  return [withoutField(`Checked value must be of type integer ${format} in ${path}`)];
}

function listErrors({ old, path }: Checked, list: readonly unknown[], schema: StructuralSchema): readonly FieldError[] {
  const { items, minItems, maxItems } = schema;
  return [
    ...list.flatMap((value, at) => {
      const before = correlatedItem(value, old, schema);
      return items === undefined ? [] : schemaErrors({ value, old: before, path: `${path}[${at}]` }, items);
    }),
    ...(minItems !== undefined && list.length < minItems
      ? [invalidIn(path, list.length, `should have at least ${minItems} items`)]
      : []),
    ...(maxItems !== undefined && list.length > maxItems ? [tooMany(path, list.length, maxItems)] : []),
  ];
}

/** Returns the old list element with the same keys. Other lists have no matching elements. */
export function correlatedItem(item: unknown, old: unknown, schema: StructuralSchema): unknown {
  const keys = schema["x-kubernetes-list-map-keys"];
  if (keys === undefined || !Array.isArray(old) || !isObject(item)) return undefined;
  return old.find((each) => isObject(each) && keys.every((key) => sameJson(each[key], item[key])));
}

function objectErrors({ old, path }: Checked, object: JsonObject, schema: StructuralSchema): readonly FieldError[] {
  const { properties = {}, minProperties, maxProperties, required: wanted = [] } = schema;
  const size = Object.keys(object).length;
  const before = isObject(old) ? old : {};
  const below = (name: string) => (path === "" ? name : `${path}.${name}`);
  const fields = [...Object.keys(object).filter((name) => !Object.hasOwn(properties, name)), ...Object.keys(properties)];
  return [
    ...(minProperties !== undefined && size < minProperties
      ? [invalidIn(path, size, `should have at least ${minProperties} properties`)]
      : []),
    ...(maxProperties !== undefined && size > maxProperties ? [tooMany(path, size, maxProperties)] : []),
    ...fields.flatMap((name) => {
      const field = fieldSchema(schema, name);
      if (field === undefined || !Object.hasOwn(object, name)) return [];
      return schemaErrors({ value: object[name], old: before[name], path: below(name) }, field);
    }),
    ...wanted.filter((name) => !Object.hasOwn(object, name)).map((name) => required(below(name))),
  ];
}

function combinationErrors(checked: Checked, { anyOf, oneOf, allOf, not }: StructuralSchema): readonly FieldError[] {
  const { value, path } = checked;
  // Alternatives (anyOf, oneOf, allOf, not) ignore the old value.
  const tried = (schemas: readonly StructuralSchema[] = []) => schemas.map((schema) => errorsOf({ value, path }, schema));
  const [any, one, all] = [tried(anyOf), tried(oneOf), tried(allOf)];
  const quoted = JSON.stringify(path);
  const valid = one.filter((errors) => errors.length === 0).length;
  const failed = all.filter((errors) => errors.length > 0).length;
  return [
    ...(any.length > 0 && any.every((errors) => errors.length > 0)
      ? [withoutField(`${quoted} must validate at least one schema (anyOf)`), ...best(any)]
      : []),
    ...(one.length > 0 && valid !== 1
      ? [
          withoutField(
            `${quoted} must validate one and only one schema (oneOf). Found ${valid === 0 ? "none valid" : `${valid} valid alternatives`}`,
          ),
          ...(valid === 0 ? best(one) : []),
        ]
      : []),
    ...all.flat(),
    ...(failed > 0
      ? [withoutField(`${quoted} must validate all the schemas (allOf)${failed === all.length ? ". None validated" : ""}`)]
      : []),
    ...(not !== undefined && errorsOf({ value, path }, not).length === 0
      ? [withoutField(`${quoted} must not validate the schema (not)`)]
      : []),
  ];
}

/** Returns the errors of the best alternative: one of the right type, otherwise the first. */
function best(failures: readonly (readonly FieldError[])[]): readonly FieldError[] {
  const ofRightType = failures.find((errors) => errors.every(({ reason }) => reason !== "FieldValueTypeInvalid"));
  return ofRightType ?? failures[0] ?? [];
}

// Validation messages for custom resources. They differ from those for built-in kinds, because the API server uses another library
// for them: `spec.size in body should be greater than or equal to 1`.

/** The real API server prints this for an error without a field. */
export const noField = "<nil>";

function error(reason: string, field: string, message: string): FieldError {
  return { reason, field: field === "" ? noField : field, message };
}

/** Formats a JSON value as Go prints it. */
function shown(value: unknown): string {
  return JSON.stringify(value);
}

/** The message contains the path: "… in body should match …". */
function invalidIn(path: string, value: unknown, demand: string): FieldError {
  return error("FieldValueInvalid", path, `Invalid value: ${shown(value)}: ${path} in body ${demand}`);
}

/** `found` is the actual type, or the string that does not have the format. */
export function wrongType(path: string, type: string, found: string): FieldError {
  const sentence = `${path} in body must be of type ${type}: ${shown(found)}`;
  return error("FieldValueTypeInvalid", path, `Invalid value: ${shown(found)}: ${sentence}`);
}

export function invalidValue(path: string, value: unknown, detail: string): FieldError {
  return error("FieldValueInvalid", path, `Invalid value: ${shown(value)}: ${detail}`);
}

/** An error about an object or list. The message omits the value. */
export function invalidWhole(path: string, detail: string): FieldError {
  return error("FieldValueInvalid", path, `Invalid value: ${detail}`);
}

/** An error about the whole schema, without a field. */
function withoutField(detail: string): FieldError {
  return error("FieldValueInvalid", "", `Invalid value: "": ${detail}`);
}

/** Lists the values in the order of the definition; errors of built-in kinds sort them. */
export function unsupported(path: string, value: unknown, values: readonly unknown[]): FieldError {
  const supported = values.map((each) => (typeof each === "string" ? shown(each) : shown(shown(each))));
  const message = `Unsupported value: ${shown(value)}: supported values: ${supported.join(", ")}`;
  return error("FieldValueNotSupported", path, message);
}

const blocking = new Set([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);

/** Whether this error prevents the evaluation of rules. */
export function isBlocking({ reason }: FieldError): boolean {
  return blocking.has(reason);
}

export const rulesNotChecked: FieldError = {
  reason: "FieldValueInvalid",
  field: noField,
  message:
    "Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
};

// The string formats that the API server validates. It ignores all others.

type Check = (text: string) => boolean;

const matching =
  (pattern: RegExp): Check =>
  (text) =>
    pattern.test(text);

/** RFC 3339, for example "2026-01-02T03:04:05Z". The date must exist. */
const dateTime = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(\.\d+)?([Zz]|[+-]\d{2}:?\d{2})$/;

function isDateTime(text: string): boolean {
  const found = dateTime.exec(text);
  return found !== null && isDate(found[1] ?? "") && Number(found[2]) < 24 && Number(found[3]) < 60 && Number(found[4]) < 60;
}

function isDate(text: string): boolean {
  const instant = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : undefined;
  return instant !== undefined && !Number.isNaN(instant.getTime()) && instant.toISOString().startsWith(text);
}

const hostname =
  /^([a-zA-Z0-9\u00C0-\uFFFF]([a-zA-Z0-9\-\u00C0-\uFFFF]{0,61}[a-zA-Z0-9\u00C0-\uFFFF])?\.)*[a-zA-Z0-9\u00C0-\uFFFF]([a-zA-Z0-9\-\u00C0-\uFFFF]{0,61}[a-zA-Z0-9\u00C0-\uFFFF])?\.?$/;

/** Accepts what Go's `url.ParseRequestURI` accepts: an absolute URI or an absolute path. */
function isUri(text: string): boolean {
  return /^([a-zA-Z][a-zA-Z0-9+.-]*:|\/)/.test(text) && !/[\s\p{Cc}]/u.test(text) && !/%(?![0-9a-fA-F]{2})/.test(text);
}

function isCidr(text: string): boolean {
  const [address = "", bits = ""] = text.split("/");
  if (!/^\d{1,3}$/.test(bits)) return false;
  return (isIPv4(address) && Number(bits) <= 32) || (isIPv6(address) && Number(bits) <= 128);
}

// "0" needs no unit, but only alone; inside the repetition it would take exponential time.
const goDuration = /^[+-]?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$/;
const wordyDuration = /^\s*\d+\s*(ns|nano|us|µs|micro|ms|milli|s|sec|m|min|h|hr|d|day|w|week)\w*\s*$/i;

export const formats: Readonly<Record<string, Check>> = {
  "date-time": isDateTime,
  datetime: isDateTime,
  date: isDate,
  duration: (text) => goDuration.test(text) || wordyDuration.test(text),
  uuid: matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i),
  uuid3: matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i),
  uuid4: matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i),
  uuid5: matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i),
  ipv4: isIPv4,
  ipv6: isIPv6,
  cidr: isCidr,
  mac: matching(/^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$|^([0-9a-f]{4}\.){2}[0-9a-f]{4}$/i),
  uri: isUri,
  email: matching(/^[^\s@<>]+@[^\s@<>]+$/),
  hostname: (text) => text.length <= 255 && hostname.test(text),
  byte: matching(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/),
  password: () => true,
};

// Patterns in definitions have Go syntax (RE2). They are translated to JavaScript.

/** POSIX classes inside brackets. */
const classes: Readonly<Record<string, string>> = {
  alpha: "a-zA-Z",
  digit: "0-9",
  alnum: "a-zA-Z0-9",
  upper: "A-Z",
  lower: "a-z",
  space: "\\s",
  punct: "!-\\/:-@\\[-`{-~",
  xdigit: "0-9a-fA-F",
  word: "\\w",
};

/** @throws SyntaxError */
export function goPattern(pattern: string): RegExp {
  const [, flags = "", rest = pattern] = /^\(\?([ims]+)\)(.*)$/s.exec(pattern) ?? [];
  const translated = rest
    .replace(/\[:(\w+):\]/g, (whole, name: string) => classes[name] ?? whole)
    .replaceAll("(?P<", "(?<")
    .replaceAll("\\A", "^")
    .replaceAll("\\z", "$");
  return new RegExp(translated, flags);
}
