// The schemas of kinds, as OpenAPI v3 has them. Those of custom resources are what their definitions say; those of built-in
// kinds are their fields and types (struct-schemas.ts).
import { isObject, type JsonObject } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";
import { structNameOf } from "../kinds/struct-name.ts";
import { propertiesOf, reference, structSchemaName, structSchemas } from "./struct-schemas.ts";

const metadataName = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/** What all kinds refer to. */
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

/** "test.memhog.schema.v1.Wide": groups are read from the end, as in Java. */
export function schemaName({ group, version, kind, customResource }: KindEntry): string {
  const reversed = group === "" ? "core" : group.split(".").reverse().join(".");
  if (customResource === undefined) return structSchemaName(structNameOf({ group, version, kind }));
  return `${reversed}.${version}.${kind}`;
}

/** All schemas that these kinds need, by name. */
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

/** The fields, and nothing about them. */
function outline(entry: KindEntry): JsonObject {
  return {
    description: `A ${entry.kind}. The simulator knows its fields, and does not explain them.`,
    properties: propertiesOf(structNameOf(entry)),
  };
}
