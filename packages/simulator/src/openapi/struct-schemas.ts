// The schemas of built-in kinds, from the table of their Go structs: every field with its type, so that `kubectl explain` can
// walk down to it. What the fields mean is not in the table, and is not made up here.
import type { JsonObject } from "../json.ts";
import type { GoType } from "../kinds/go-types.ts";
import { structNamed } from "../kinds/structs.ts";

const machinery = "io.k8s.apimachinery.pkg";

/** "io.k8s.api.core.v1.Pod" for "core.v1.Pod": the names that other tools know. */
export function structSchemaName(struct: string): string {
  if (struct.startsWith("meta.")) return `${machinery}.apis.${struct}`;
  if (struct.startsWith("apiextensions.")) return `io.k8s.apiextensions-apiserver.pkg.apis.${struct}`;
  return `io.k8s.api.${struct}`;
}

export function reference(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** Types that are a text or a number, and have a name of their own. */
const named: Readonly<Record<string, { readonly name: string; readonly schema: JsonObject }>> = {
  quantity: {
    name: `${machinery}.api.resource.Quantity`,
    schema: { description: "A number with a unit: 500m, 128Mi, 1.5Gi.", oneOf: [{ type: "string" }, { type: "number" }] },
  },
  "int-or-string": {
    name: `${machinery}.util.intstr.IntOrString`,
    schema: {
      description: "A number, or a text like 25% or the name of a port.",
      format: "int-or-string",
      oneOf: [{ type: "integer" }, { type: "string" }],
    },
  },
};

const scalars: Readonly<Record<string, JsonObject>> = {
  string: { type: "string" },
  bytes: { type: "string", format: "byte" },
  time: { type: "string", format: "date-time" },
  microtime: { type: "string", format: "date-time" },
  bool: { type: "boolean" },
  int32: { type: "integer", format: "int32" },
  int64: { type: "integer", format: "int64" },
  float64: { type: "number", format: "double" },
};

function schemaOfType(type: GoType): JsonObject {
  if (type.kind === "list") return { type: "array", items: schemaOfType(type.item) };
  if (type.kind === "map") return { type: "object", additionalProperties: schemaOfType(type.item) };
  if (type.kind === "struct")
    return structNamed(type.name) === undefined ? { type: "object" } : reference(structSchemaName(type.name));
  const own = named[type.name];
  return own === undefined ? (scalars[type.name] ?? { type: "object" }) : reference(own.name);
}

/** The schemas of these structs and of all that is in them, by name. */
export function structSchemas(structs: Iterable<string>): Readonly<Record<string, JsonObject>> {
  const found: Record<string, JsonObject> = {};
  const waiting = [...structs];
  for (let struct = waiting.pop(); struct !== undefined; struct = waiting.pop()) {
    const fields = structNamed(struct);
    const name = structSchemaName(struct);
    if (fields === undefined || found[name] !== undefined) continue;
    found[name] = { type: "object", properties: propertiesOf(struct) };
    waiting.push(...[...fields.values()].flatMap(({ goType }) => structsIn(goType)));
  }
  return { ...found, ...Object.fromEntries(Object.values(named).map(({ name, schema }) => [name, schema])) };
}

export function propertiesOf(struct: string): JsonObject {
  return Object.fromEntries([...(structNamed(struct) ?? [])].map(([name, { goType }]) => [name, schemaOfType(goType)]));
}

function structsIn(type: GoType): readonly string[] {
  if (type.kind === "struct") return [type.name];
  return type.kind === "scalar" ? [] : structsIn(type.item);
}
