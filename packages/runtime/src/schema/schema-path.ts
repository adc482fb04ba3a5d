// Paths into a schema: ".spec.backups[0].at" as kubectl writes them, and the walk over every field there is.
import type { StructuralSchema } from "./structural-types.ts";

/** One step of a JSON path: ".name" or "[…]". */
const step = /\.([^.[\]]+)|\[[^\]]*\]/g;

/** The schema at a JSON path, or undefined if there is no such field. Below free-form objects anything may be. */
export function schemaAt(root: StructuralSchema, path: string): StructuralSchema | undefined {
  const steps = [...path.matchAll(step)];
  if (steps.map(([text]) => text).join("") !== path) return undefined;
  let schema: StructuralSchema | undefined = root;
  for (const [, name] of steps) schema = schema && stepInto(schema, name);
  return schema;
}

function stepInto(schema: StructuralSchema, name: string | undefined): StructuralSchema | undefined {
  if (name === undefined) return schema.items;
  const below = schema.properties?.[name] ?? schema.additionalProperties;
  return below ?? (schema["x-kubernetes-preserve-unknown-fields"] ? { "x-kubernetes-preserve-unknown-fields": true } : undefined);
}

/** A field and where it is: "spec.backups[].at". */
export interface Field {
  readonly path: string;
  readonly schema: StructuralSchema;
  /** Whether the object around it must have it. */
  readonly required: boolean;
}

/** Every field, parents before children, in the order of the definition. */
export function* fieldsOf(schema: StructuralSchema, path = ""): Generator<Field> {
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    yield* withChildren(property, path === "" ? name : `${path}.${name}`, schema.required?.includes(name) === true);
  if (schema.items !== undefined) yield* withChildren(schema.items, `${path}[]`, false);
  if (schema.additionalProperties !== undefined) yield* withChildren(schema.additionalProperties, `${path}{}`, false);
}

function* withChildren(schema: StructuralSchema, path: string, required: boolean): Generator<Field> {
  yield { path, schema, required };
  yield* fieldsOf(schema, path);
}
