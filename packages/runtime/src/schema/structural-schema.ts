// From zod to the structural schema of a CustomResourceDefinition.
//
// zod can print JSON Schema itself, but that printer drops without a word what JSON Schema cannot say: refinements,
// transforms, flags of regular expressions, constraints on the keys of records. Here that silence would be a hole: the
// type in the operator would promise what the API server does not enforce. So we walk the zod schema ourselves, one small
// function per kind of node, and whatever has no faithful translation is refused with its path and with what to write
// instead (`NotStructuralError`).
//
// It is the input side that is translated: a field with a default may be left out by people, and is filled in by the API
// server, so that the operator always finds it.
//
//   structural-scalars.ts      strings, enums and literals
//   structural-numbers.ts      numbers and their bounds
//   structural-formats.ts      strings of a certain form: times, URLs, UUIDs
//   structural-collections.ts  objects, lists and maps
//   structural-unions.ts       the few unions that a CRD can say
//   regular-expression.ts      JavaScript's patterns in Go's dialect
import { z } from "zod";
import { NotStructuralError } from "./errors.ts";
import { checkKeys, listSchema, mapSchema, mergedObjects, objectSchema } from "./structural-collections.ts";
import { noList } from "./structural-formats.ts";
import { numberSchema } from "./structural-numbers.ts";
import { enumSchema, literalSchema, stringSchema, templateSchema } from "./structural-scalars.ts";
import { type CelRule, orNull, type Place, type StructuralSchema } from "./structural-types.ts";
import { unionSchema } from "./structural-unions.ts";

/** Translates one zod schema; `path` is where it sits in the object, for messages. */
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

/** What to write instead, by kind of zod schema. */
const instead: Readonly<Record<string, string>> = {
  bigint: "use z.int(), which is an int64 in the cluster",
  date: "use z.iso.datetime(): objects are JSON",
  null: "use .nullable() on the type it may otherwise have",
  map: "use z.record()",
  set: "use setOf()",
  tuple: "use z.array() with .length(), or an object with a name for each part",
  pipe: "describe what is written in YAML and convert where it is read",
  transform: "describe what is written in YAML and convert where it is read",
  catch: "let the API server refuse bad values, or use .default() for missing ones",
  coerce: "describe the type as it is written in YAML",
  custom: "use preserveUnknown<T>() for what is only passed on, or describe its fields",
  file: "use z.base64()",
};

function refusal(type: string, place: Place): NotStructuralError {
  return new NotStructuralError(place.path, `zod's ${type}`, instead[type] ?? "use another type");
}

/** Checks are carried over by kind; code cannot be, except the twin of a CEL rule (see rules.ts). */
function refuseHiddenChecks(def: { readonly checks?: readonly z.core.$ZodCheck<never>[] }, { path }: Place): void {
  for (const check of def.checks ?? []) {
    const { check: kind, fn } = check._zod.def as { readonly check: string; readonly fn?: { readonly celTwin?: true } };
    if (kind === "custom" && fn?.celTwin !== true)
      throw new NotStructuralError(path, "code (refine, superRefine, check)", "say it in CEL: rule(schema, …)");
    if (kind === "overwrite")
      throw new NotStructuralError(path, "code that changes the value (trim, toLowerCase, …)", "refuse it with a pattern");
  }
}

function asJson(value: unknown, { path }: Place): unknown {
  const text = JSON.stringify(value);
  if (text === undefined) throw new NotStructuralError(path, `the default ${String(value)}`, "use a JSON value");
  return JSON.parse(text);
}

/** Descriptions and Kubernetes' own words, as `.describe()`, `.meta()` and our helpers leave them on a schema. */
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
