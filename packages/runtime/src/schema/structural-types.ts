// The words a CustomResourceDefinition has for the shape of an object: OpenAPI 3.0 without references and without
// unions of shapes, plus Kubernetes' own extensions. Of these, the ones a
// structural schema forbids or we never write are left out.
import type { z } from "zod";
import type { JsonSchemaProps, ValidationRule } from "../objects/kinds/apiextensions.ts";
import { NotStructuralError } from "./errors.ts";

/** A rule in CEL that the API server evaluates on every write. `self` is the value, `oldSelf` the value before. */
export interface CelRule extends ValidationRule {
  /** What people are told. Required: the rule itself is no sentence. */
  readonly message: string;
}

type Nested = "items" | "properties" | "additionalProperties" | "allOf" | "anyOf";
type NotStructural = "oneOf" | "not" | "uniqueItems";

export interface StructuralSchema extends Omit<JsonSchemaProps, Nested | NotStructural> {
  readonly items?: StructuralSchema;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly additionalProperties?: StructuralSchema;
  readonly allOf?: readonly StructuralSchema[];
  readonly anyOf?: readonly StructuralSchema[];
}

/** Where the translation is, and how it goes on from there. */
export interface Place {
  /** "spec.backups[].at" */
  readonly path: string;
  /** The schemas we are inside of: meeting one again means that it contains itself. */
  readonly ancestors: readonly z.core.$ZodType[];
  readonly translate: (schema: z.core.$ZodType, place: Place) => StructuralSchema;
}

/** The same walk, one step further down: ".name", "[]" or "{}". */
export function below(place: Place, step: string): Place {
  return { ...place, path: `${place.path}${step}` };
}

/** The same schema, or null. */
export function orNull(schema: StructuralSchema, { path }: Place): StructuralSchema {
  // The API server holds null against the enum and finds it wanting, even if the enum lists it (seen on 1.37).
  if (schema.enum !== undefined)
    throw new NotStructuralError(path, "a choice that may be null", "use .optional(), or offer a value like None");
  return { ...schema, nullable: true };
}
