// OpenAPI v3 schemas: for custom resources from their definitions, for built-in kinds from the table of Go structs.
import { isObject, type JsonObject } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";
import { type GoType, structNamed, structNameOf } from "../kinds/structs.ts";

const metadataName = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/** Schemas that all kinds use. */
const commonSchemas: Readonly<Record<string, JsonObject>> = {
  [metadataName]: {
    description: "Who the object is: its name, its labels, who owns it.",
    type: "object",
    properties: {
      name: { type: "string", description: "Unique among the objects of this kind in the namespace." },
      namespace: { type: "string", description: "Where the object is." },
      labels: { type: "object", additionalProperties: { type: "string" }, description: "What selectors go by." },
      annotations: { type: "object", additionalProperties: { type: "string" }, description: "Notes of programs." },
      finalizers: { type: "array", items: { type: "string" }, description: "Who must agree before the object is gone." },
      ownerReferences: { type: "array", items: { type: "object" }, description: "What it belongs to, and goes with." },
      uid: { type: "string", description: "Of this object and no other, ever." },
      resourceVersion: { type: "string", description: "Changes with every write." },
      generation: { type: "integer", format: "int64", description: "Counts changes of what is wanted." },
      creationTimestamp: { type: "string", format: "date-time", description: "When it was made." },
      deletionTimestamp: { type: "string", format: "date-time", description: "When somebody asked for its deletion." },
    },
  },
};

/** Reverses the group: "test.memhog.schema.v1.Wide". */
export function schemaName({ group, version, kind, customResource }: KindEntry): string {
  const reversed = group === "" ? "core" : group.split(".").reverse().join(".");
  if (customResource === undefined) return structSchemaName(structNameOf({ group, version, kind }));
  return `${reversed}.${version}.${kind}`;
}

/** Returns all schemas that these kinds need, by name. */
export function schemasOf(entries: readonly KindEntry[]): JsonObject {
  const structs = entries.filter(({ customResource }) => customResource === undefined).map(structNameOf);
  const kinds = entries.map((entry) => [schemaName(entry), schemaOf(entry)] as const);
  return { ...structSchemas(structs), ...commonSchemas, ...Object.fromEntries(kinds) };
}

function schemaOf(entry: KindEntry): JsonObject {
  const { group, version, kind, customResource } = entry;
  const own = customResource === undefined ? outline(entry) : customResource.schema;
  const properties = isObject(own.properties) ? own.properties : {};
  return {
    ...own,
    type: "object",
    properties: { ...typeMeta, ...properties, metadata: metadata(isObject(properties.metadata) ? properties.metadata : {}) },
    "x-kubernetes-group-version-kind": [{ group, kind, version }],
  };
}

const typeMeta: JsonObject = {
  apiVersion: { type: "string", description: "The version of the kind that this object is written in." },
  kind: { type: "string", description: "What the object is." },
};

function metadata({ description }: JsonObject): JsonObject {
  return {
    description: description ?? "Who the object is: its name, its labels, who owns it.",
    allOf: [reference(metadataName)],
    default: {},
  };
}

/** The top-level fields without descriptions. */
function outline(entry: KindEntry): JsonObject {
  return {
    description: `A ${entry.kind}. The simulator knows its fields, and does not explain them.`,
    properties: propertiesOf(structNameOf(entry)),
  };
}

// Schemas of built-in kinds: names and types of all fields, without descriptions.

const machinery = "io.k8s.apimachinery.pkg";

/** The name that other tools use: "io.k8s.api.core.v1.Pod" for "core.v1.Pod". */
function structSchemaName(struct: string): string {
  if (struct.startsWith("meta.")) return `${machinery}.apis.${struct}`;
  if (struct.startsWith("apiextensions.")) return `io.k8s.apiextensions-apiserver.pkg.apis.${struct}`;
  return `io.k8s.api.${struct}`;
}

export function reference(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** Scalar types with a schema name. */
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

/** Returns the schemas of these structs and of all structs they use, by name. */
function structSchemas(structs: Iterable<string>): Readonly<Record<string, JsonObject>> {
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

function propertiesOf(struct: string): JsonObject {
  return Object.fromEntries([...(structNamed(struct) ?? [])].map(([name, { goType }]) => [name, schemaOfType(goType)]));
}

function structsIn(type: GoType): readonly string[] {
  if (type.kind === "struct") return [type.name];
  return type.kind === "scalar" ? [] : structsIn(type.item);
}
