// The schema of a whole object: what the author defined, plus what every object of ours has.
import { type ConditionTable, conditionsSchema } from "./conditions.ts";
import type { AnyDefinition, AnyResource, ResourceRule } from "./define-resource.ts";
import { ResourceDefinitionError } from "./errors.ts";
import { structuralSchema } from "./structural-schema.ts";
import type { CelRule, StructuralSchema } from "./structural-types.ts";
import { tidy } from "./tidy.ts";

/** The structural schema of a kind. apiVersion, kind and metadata are the API server's to describe. */
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

/** Where nothing is required an object may come without a spec; the API server then makes one, with all its defaults. */
function specSchema({ spec }: AnyDefinition, rules: readonly ResourceRule[]): StructuralSchema {
  const schema: StructuralSchema = { description: "What is wanted.", ...structuralSchema(spec, "spec") };
  const ruled = schema["x-kubernetes-validations"] !== undefined || rules.some(({ at }) => at === "spec");
  return schema.required === undefined && !ruled ? { ...schema, default: {} } : schema;
}

function statusSchema({ status, conditions }: AnyDefinition, kind: string): StructuralSchema | undefined {
  if (status === undefined && conditions === undefined) return undefined;
  const own: StructuralSchema = status === undefined ? { type: "object" } : structuralSchema(status, "status");
  for (const name of ["observedGeneration", "conditions"])
    if (own.properties?.[name] !== undefined)
      throw new ResourceDefinitionError(`${kind}: expected status.${name} to be left to the runtime, found it in the definition`);
  const added = { observedGeneration, ...(hasSome(conditions) && { conditions: conditionsSchema(conditions) }) };
  return { description: "What was found and done.", ...own, properties: { ...own.properties, ...added } };
}

function hasSome(conditions: ConditionTable | undefined): conditions is ConditionTable {
  return conditions !== undefined && Object.keys(conditions).length > 0;
}

const observedGeneration: StructuralSchema = {
  description: "The generation of the spec that this status speaks of.",
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
