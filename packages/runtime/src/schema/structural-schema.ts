// Translates a zod schema to the structural schema of a CustomResourceDefinition.
//
// zod can generate JSON Schema, but silently drops what JSON Schema cannot express: refinements, transforms, flags of regular
// expressions, constraints on the keys of records. The API server would then enforce less than the types of the operator
// claim. So this translation walks the zod schema with one function per type, and rejects whatever has no equivalent with its
// path and an alternative (`NotStructuralError`).
//
// It translates the input side: users can omit a field with a default, and the API server fills it in.
//
//   structural-scalars.ts      strings, enums and literals
//   structural-numbers.ts      numbers and their bounds
//   structural-collections.ts  objects, lists and maps
//   regular-expression.ts      JavaScript patterns in RE2 syntax
import { z } from "zod";
import { NotStructuralError } from "./errors.ts";
import { checkKeys, listSchema, mapSchema, mergedObjects, objectSchema } from "./structural-collections.ts";
import { numberSchema } from "./structural-numbers.ts";
import { enumSchema, literalSchema, noList, stringSchema, templateSchema } from "./structural-scalars.ts";
import { type CelRule, orNull, type Place, type StructuralSchema } from "./structural-types.ts";

/** Translates one zod schema. `path` is its path in the object, for error messages. */
export function structuralSchema(schema: z.core.$ZodType, path: string): StructuralSchema {
  return translate(schema, { path, ancestors: [], translate });
}

function translate(schema: z.core.$ZodType, place: Place): StructuralSchema {
  if (place.ancestors.includes(schema))
    throw new NotStructuralError(place.path, "a schema that contains itself", "use preserveUnknown(), or limit the depth");
  const { def } = (schema as z.core.$ZodTypes)._zod;
  refuseHiddenChecks(def, place);
  const translated = translateNode(def, { ...place, ancestors: [...place.ancestors, schema] });
  const whole = withMetadata(translated, schema);
  checkKeys(whole, place);
  return whole;
}

function translateNode(def: z.core.$ZodTypes["_zod"]["def"], place: Place): StructuralSchema {
  switch (def.type) {
    case "string":
      return stringSchema(def, place);
    case "number":
      return numberSchema(def, place);
    case "boolean":
      if (def.coerce === true) throw refusal("coerce", place);
      return { type: "boolean" };
    case "enum":
      return enumSchema(def, place);
    case "literal":
      return literalSchema(def, place);
    case "template_literal":
      return templateSchema(def, place);
    case "object":
      return objectSchema(def, place);
    case "array":
      return listSchema(def, place);
    case "record":
      return mapSchema(def, place);
    case "union":
      return unionSchema(def, place);
    case "intersection":
      return mergedObjects(def, place);
    case "any":
    case "unknown":
      return { "x-kubernetes-preserve-unknown-fields": true };
    case "optional":
    case "nonoptional":
    case "readonly":
      return translate(def.innerType, place);
    case "nullable":
      return orNull(translate(def.innerType, place), place);
    case "default":
    case "prefault":
      return { ...translate(def.innerType, place), default: asJson(def.defaultValue, place) };
    case "lazy":
      return translate(def.getter(), place);
    default:
      throw refusal(def.type, place);
  }
}

/** The alternatives, by zod type. */
const instead: Readonly<Record<string, string>> = {
  bigint: "use z.int(), which is an int64 in the cluster",
  date: "use z.iso.datetime(): objects are JSON",
  null: "use .nullable() on the type it may otherwise have",
  map: "use z.record()",
  set: "use setOf()",
  tuple: "use z.array() with .length(), or an object with a name for each part",
  pipe: "describe what is written in YAML and convert where it is read",
  transform: "describe what is written in YAML and convert where it is read",
  catch: "let the API server reject invalid values, or use .default() for missing ones",
  coerce: "describe the type as it is written in YAML",
  custom: "use preserveUnknown<T>() for what is only passed on, or describe its fields",
  file: "use z.base64()",
};

function refusal(type: string, place: Place): NotStructuralError {
  return new NotStructuralError(place.path, `zod's ${type}`, instead[type] ?? "use another type");
}

/** Rejects code, except the equivalent of a CEL rule (fields.ts). */
function refuseHiddenChecks(def: { readonly checks?: readonly z.core.$ZodCheck<never>[] }, { path }: Place): void {
  for (const check of def.checks ?? []) {
    const { check: kind, fn } = check._zod.def as { readonly check: string; readonly fn?: { readonly celTwin?: true } };
    if (kind === "custom" && fn?.celTwin !== true)
      throw new NotStructuralError(path, "code (refine, superRefine, check)", "use a CEL rule: rule(schema, …)");
    if (kind === "overwrite")
      throw new NotStructuralError(
        path,
        "code that changes the value (trim, toLowerCase, …)",
        "reject such values with a pattern",
      );
  }
}

function asJson(value: unknown, { path }: Place): unknown {
  const text = JSON.stringify(value);
  if (text === undefined) throw new NotStructuralError(path, `the default ${String(value)}`, "use a JSON value");
  return JSON.parse(text);
}

/** Descriptions and x-kubernetes-* keywords from `.describe()`, `.meta()` and fields.ts. */
function withMetadata(translated: StructuralSchema, schema: z.core.$ZodType): StructuralSchema {
  const metadata = z.globalRegistry.get(schema) ?? {};
  const own = Object.entries(metadata).filter(([key]) => carried.test(key));
  const rules = [...(translated["x-kubernetes-validations"] ?? []), ...rulesIn(metadata)];
  const isOfFormat = translated.type === "string" && (translated.format ?? metadata.format) !== undefined;
  return {
    ...translated,
    ...Object.fromEntries(own),
    ...(isOfFormat && noList),
    ...(rules.length > 0 && { "x-kubernetes-validations": rules }),
  };
}

const carried = /^(description|title|format|(min|max)Properties|x-kubernetes-(?!validations$).*)$/;

function rulesIn(metadata: Readonly<Record<string, unknown>>): readonly CelRule[] {
  return (metadata["x-kubernetes-validations"] ?? []) as readonly CelRule[];
}

// Unions. In a structural schema a field has one type. It can express:
//
//   a value or nothing       z.string().nullable(), z.union([z.string(), z.null()])   nullable: true
//   one of several values    z.union([z.literal("a"), z.enum(["b", "c"])])            enum
//   an integer or a string   z.union([z.int(), z.string()])                           x-kubernetes-int-or-string
//   one type, several forms  z.union([z.ipv4(), z.string().regex(…)])                 anyOf
//
// All other unions are rejected, including discriminated ones: in Kubernetes each variant is an optional field (such as
// `volumes[].configMap` and `volumes[].secret`), and a rule requires exactly one of them.

interface UnionDef {
  readonly options: readonly z.core.$ZodType[];
  readonly discriminator?: string;
}

export function unionSchema(def: UnionDef, place: Place): StructuralSchema {
  const variants = "give each variant an optional field of its own and require one with exactlyOneOf(…)";
  if (def.discriminator !== undefined) throw new NotStructuralError(place.path, "a discriminated union", variants);
  const options = def.options.filter((option) => option._zod.def.type !== "null");
  const branches = options.map((option) => place.translate(option, place));
  const joined = single(branches) ?? choice(branches) ?? intOrString(branches) ?? forms(branches);
  if (joined === undefined) {
    const found = `a union of ${branches.map(typeOf).join(" and ")}`;
    throw new NotStructuralError(place.path, found, variants);
  }
  const nullable = options.length < def.options.length || branches.some((branch) => branch.nullable);
  return nullable ? orNull(joined, place) : joined;
}

function single(branches: readonly StructuralSchema[]): StructuralSchema | undefined {
  return branches.length === 1 ? branches[0] : undefined;
}

/** Literals and enums of one type are one enum. */
function choice(branches: readonly StructuralSchema[]): StructuralSchema | undefined {
  const type = commonType(branches);
  if (type === undefined || branches.some((branch) => branch.enum === undefined || hasMoreThanValues(branch))) return undefined;
  return { type, enum: [...new Set(branches.flatMap((branch) => branch.enum ?? []))] };
}

/** String keywords do not apply to integers, nor integer keywords to strings, so both sets can be combined. */
function intOrString(branches: readonly StructuralSchema[]): StructuralSchema | undefined {
  const types = branches.map(typeOf).toSorted().join();
  // A format applies to all values of a field, and some are numbers.
  const hasForm = ({ type, format, enum: values }: StructuralSchema) =>
    values !== undefined || (type === "string" && format !== undefined);
  if (types !== "integer,string" || branches.some(hasMoreThanValues) || branches.some(hasForm)) return undefined;
  const { type: _, format: __, ...keywords } = { ...branches[0], ...branches[1] };
  return { ...keywords, "x-kubernetes-int-or-string": true };
}

/** Several forms of one scalar type. */
function forms(branches: readonly StructuralSchema[]): StructuralSchema | undefined {
  const type = commonType(branches);
  if (type === undefined || type === "object" || type === "array" || branches.some(hasMoreThanValues)) return undefined;
  // The type is outside of anyOf, where no format disables its check: `noList` is not needed.
  const constraints = branches.map(
    ({ type: _, description: __, title: ___, nullable: ____, minItems: _____, maxItems: ______, ...values }) => values,
  );
  return constraints.some((values) => Object.keys(values).length === 0) ? { type } : { type, anyOf: constraints };
}

/** Inside anyOf a structural schema may only restrict values: no defaults, no rules. */
function hasMoreThanValues(branch: StructuralSchema): boolean {
  return "default" in branch || Object.keys(branch).some((key) => key.startsWith("x-kubernetes-"));
}

function commonType(branches: readonly StructuralSchema[]): StructuralSchema["type"] {
  const [first, ...rest] = branches;
  return rest.every((branch) => branch.type === first?.type) ? first?.type : undefined;
}

function typeOf(branch: StructuralSchema): string {
  return branch.type ?? "anything";
}
