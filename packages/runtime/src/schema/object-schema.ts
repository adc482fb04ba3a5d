// The schema of a whole object: the defined spec and status, plus the fields that every object has.

import { isRecord, ownValue } from "../objects/diff.ts";
import { type ConditionTable, conditionsSchema } from "./conditions.ts";
import type { AnyDefinition, AnyResource, ResourceRule } from "./define-resource.ts";
import { ResourceDefinitionError } from "./errors.ts";
import { structuralSchema } from "./structural-schema.ts";
import type { CelRule, StructuralSchema } from "./structural-types.ts";

/** The structural schema of a kind. The API server adds apiVersion, kind and metadata. */
export function schemaOf({ kind, definition }: AnyResource): StructuralSchema {
  const { description, rules = [] } = definition;
  const spec = specSchema(definition, rules);
  const status = statusSchema(definition, kind);
  const root: StructuralSchema = {
    ...(description !== undefined && { description }),
    type: "object",
    properties: { spec, ...(status !== undefined && { status }) },
    ...(spec.default === undefined && { required: ["spec"] }),
  };
  return tidy(rules.reduce((schema, rule) => withRule(schema, rule, kind), root));
}

/** If no field is required, an object can omit the spec: the API server then creates one with all defaults. */
function specSchema({ spec }: AnyDefinition, rules: readonly ResourceRule[]): StructuralSchema {
  const schema: StructuralSchema = { description: "Desired state.", ...structuralSchema(spec, "spec") };
  const ruled = schema["x-kubernetes-validations"] !== undefined || rules.some(({ at }) => at === "spec");
  return schema.required === undefined && !ruled ? { ...schema, default: {} } : schema;
}

function statusSchema({ status, conditions }: AnyDefinition, kind: string): StructuralSchema | undefined {
  if (status === undefined && conditions === undefined) return undefined;
  const own: StructuralSchema = status === undefined ? { type: "object" } : structuralSchema(status, "status");
  for (const name of ["observedGeneration", "conditions"])
    if (own.properties?.[name] !== undefined)
      throw new ResourceDefinitionError(
        `${kind}: expected no status.${name}, which the runtime adds, found one in the definition → remove it`,
      );
  const added = { observedGeneration, ...(hasSome(conditions) && { conditions: conditionsSchema(conditions) }) };
  return { description: "Observed state.", ...own, properties: { ...own.properties, ...added } };
}

function hasSome(conditions: ConditionTable | undefined): conditions is ConditionTable {
  return conditions !== undefined && Object.keys(conditions).length > 0;
}

const observedGeneration: StructuralSchema = {
  description: "Generation of the object that this status describes.",
  type: "integer",
  format: "int64",
  minimum: 0,
};

/** The schema with a rule added at "spec.backups[].at". */
function withRule(schema: StructuralSchema, { at = "", ...rule }: ResourceRule, kind: string): StructuralSchema {
  const steps = at.match(/[^.[\]{}]+|\[\]|\{\}/g) ?? [];
  return addRule(schema, steps, rule, () => {
    throw new ResourceDefinitionError(`${kind}: expected a field for the rule "${rule.message}", found none at "${at}"`);
  });
}

function addRule(schema: StructuralSchema, steps: readonly string[], rule: CelRule, missing: () => never): StructuralSchema {
  const [step, ...rest] = steps;
  if (step === undefined) return { ...schema, "x-kubernetes-validations": [...(schema["x-kubernetes-validations"] ?? []), rule] };
  if (step === "[]") return { ...schema, items: addRule(schema.items ?? missing(), rest, rule, missing) };
  if (step === "{}")
    return { ...schema, additionalProperties: addRule(schema.additionalProperties ?? missing(), rest, rule, missing) };
  const property = addRule(schema.properties?.[step] ?? missing(), rest, rule, missing);
  return { ...schema, properties: { ...schema.properties, [step]: property } };
}

// Orders the keywords of every node alike, so that manifests are readable and have small diffs.

const order: readonly string[] = [
  ...["title", "description", "type", "format", "nullable", "default", "enum", "pattern"],
  ...["minLength", "maxLength", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf"],
  ...["minItems", "maxItems", "minProperties", "maxProperties", "allOf", "anyOf"],
  ...["required", "properties", "additionalProperties", "items"],
];

/** The schema with its keywords in this order; x-kubernetes-* come last, and properties keep their order. */
export function tidy(schema: StructuralSchema): StructuralSchema {
  const { properties, additionalProperties, items, ...scalars } = schema;
  const nested = {
    ...scalars,
    ...(properties !== undefined && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, tidy(property)])),
    }),
    ...(additionalProperties !== undefined && { additionalProperties: tidy(additionalProperties) }),
    ...(items !== undefined && { items: tidy(items) }),
  };
  return Object.fromEntries(Object.entries(nested).toSorted(([a], [b]) => rank(a) - rank(b)));
}

function rank(keyword: string): number {
  const place = order.indexOf(keyword);
  return place === -1 ? order.length : place;
}

// Prunes unknown fields, as the API server does before it stores an object.

/** The value without fields that the schema does not have. */
export function pruned(value: unknown, schema: StructuralSchema): unknown {
  const { items, properties, additionalProperties } = schema;
  if (Array.isArray(value)) return items === undefined ? value : value.map((each) => pruned(each, items));
  if (!isRecord(value) || schema["x-kubernetes-preserve-unknown-fields"] === true) return value;
  const known = Object.entries(value).flatMap(([name, field]) => {
    const of = ownValue(properties ?? {}, name) ?? additionalProperties;
    return of === undefined ? [] : [[name, pruned(field, of)] as const];
  });
  return Object.fromEntries(known);
}
