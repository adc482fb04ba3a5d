// Whether a value is what its schema says, and if not, why not. On an update what was wrong before and has not changed since
// is let pass: a definition may become stricter without locking out the objects it already has ("ratcheting").
import { isObject, type JsonObject, sameJson } from "../json.ts";
import { type FieldError, required, tooLong, tooMany } from "../server/field-error.ts";
import { invalidIn, unplaced, unsupported, wrongType } from "./complaints.ts";
import { formats } from "./formats.ts";
import { goPattern } from "./go-pattern.ts";
import { fieldSchema, type StructuralSchema } from "./structural-schema.ts";

export interface Checked {
  readonly value: unknown;
  /** What it was before, if there is something to compare with. */
  readonly old?: unknown;
  /** "spec.replicas"; "" for the object itself. */
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

/** The type and the format that Go sees in a value. */
function goTypeOf(value: unknown): { readonly type: string; readonly format: string } {
  if (Array.isArray(value)) return { type: "array", format: "" };
  if (typeof value === "number")
    return isInt64(value) ? { type: "integer", format: "int64" } : { type: "number", format: "float64" };
  return { type: typeof value, format: "" };
}

/** JSON does not tell 1 from 1.0; whole numbers too large for an int64 are read as floats. */
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

/** The format, if the server knows it for this type. */
function formatOf({ type, format = "" }: StructuralSchema): string | undefined {
  const known: Readonly<Record<string, readonly string[]>> = { integer: ["int32", "int64"], number: ["float", "double"] };
  const names = known[type ?? ""] ?? (type === undefined || type === "string" ? Object.keys(formats) : []);
  return names.includes(format) ? format : undefined;
}

function enumErrors(value: unknown, schema: StructuralSchema, path: string): readonly FieldError[] {
  if (schema.enum === undefined || schema.enum.some((each) => sameJson(each, value))) return [];
  return [unsupported(path, value, schema.enum)];
}

/** Of length and pattern only the first complaint is told. */
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
  return [unplaced(`Checked value must be of type integer ${format} in ${path}`)];
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

/** The element of the old list that has the same keys; elements of other lists cannot be told apart. */
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
  // Alternatives are not correlated with what was before.
  const tried = (schemas: readonly StructuralSchema[] = []) => schemas.map((schema) => errorsOf({ value, path }, schema));
  const [any, one, all] = [tried(anyOf), tried(oneOf), tried(allOf)];
  const quoted = JSON.stringify(path);
  const valid = one.filter((errors) => errors.length === 0).length;
  const failed = all.filter((errors) => errors.length > 0).length;
  return [
    ...(any.length > 0 && any.every((errors) => errors.length > 0)
      ? [unplaced(`${quoted} must validate at least one schema (anyOf)`), ...best(any)]
      : []),
    ...(one.length > 0 && valid !== 1
      ? [
          unplaced(
            `${quoted} must validate one and only one schema (oneOf). Found ${valid === 0 ? "none valid" : `${valid} valid alternatives`}`,
          ),
          ...(valid === 0 ? best(one) : []),
        ]
      : []),
    ...all.flat(),
    ...(failed > 0
      ? [unplaced(`${quoted} must validate all the schemas (allOf)${failed === all.length ? ". None validated" : ""}`)]
      : []),
    ...(not !== undefined && errorsOf({ value, path }, not).length === 0
      ? [unplaced(`${quoted} must not validate the schema (not)`)]
      : []),
  ];
}

/** The alternative that came closest: of the right type if one was, else the first. */
function best(failures: readonly (readonly FieldError[])[]): readonly FieldError[] {
  const ofRightType = failures.find((errors) => errors.every(({ reason }) => reason !== "FieldValueTypeInvalid"));
  return ofRightType ?? failures[0] ?? [];
}
