// The type of a structural schema: OpenAPI 3.0 without references and unions, plus the x-kubernetes-* extensions that this
// package generates.
import type { z } from "zod";
import type { JsonSchemaProps, ValidationRule } from "../objects/kinds/extension.ts";
import { NotStructuralError } from "./errors.ts";

/** A rule in CEL that the API server evaluates on every write. `self` is the value, `oldSelf` the value before. */
export interface CelRule extends ValidationRule {
  /** The error message for users. */
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

/** The current position of the translation. */
export interface Place {
  /** "spec.backups[].at" */
  readonly path: string;
  /** The enclosing schemas, to detect recursion. */
  readonly ancestors: readonly z.core.$ZodType[];
  readonly translate: (schema: z.core.$ZodType, place: Place) => StructuralSchema;
}

/** The position one step down: ".name", "[]" or "{}". */
export function below(place: Place, step: string): Place {
  return { ...place, path: `${place.path}${step}` };
}

/** The same schema, or null. */
export function orNull(schema: StructuralSchema, { path }: Place): StructuralSchema {
  // The API server rejects null for an enum, even if the enum lists it (seen on 1.37).
  if (schema.enum !== undefined)
    throw new NotStructuralError(path, "a choice that may be null", "use .optional(), or offer a value like None");
  return { ...schema, nullable: true };
}
