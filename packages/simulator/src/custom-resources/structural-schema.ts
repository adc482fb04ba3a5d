// The part of OpenAPI v3 that a CustomResourceDefinition may use, read from what was stored.
import { isObject, type JsonObject } from "../json.ts";

export interface StructuralSchema extends JsonObject {
  readonly type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  readonly format?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly nullable?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly items?: StructuralSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly additionalProperties?: boolean | StructuralSchema;
  readonly required?: readonly string[];
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly allOf?: readonly StructuralSchema[];
  readonly anyOf?: readonly StructuralSchema[];
  readonly oneOf?: readonly StructuralSchema[];
  readonly not?: StructuralSchema;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: "atomic" | "granular";
  readonly "x-kubernetes-validations"?: readonly Rule[];
}

/** A rule in CEL. */
export interface Rule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** The schema of a named field, or of all values of a map. */
export function fieldSchema(schema: StructuralSchema | undefined, name: string): StructuralSchema | undefined {
  const named = schema?.properties;
  if (named !== undefined && Object.hasOwn(named, name)) return named[name];
  const values = schema?.additionalProperties;
  return isObject(values) ? (values as StructuralSchema) : undefined;
}

/** Whether a field is named, rather than the key of a map. */
export function isNamed(schema: StructuralSchema, name: string): boolean {
  return schema.properties !== undefined && Object.hasOwn(schema.properties, name);
}
