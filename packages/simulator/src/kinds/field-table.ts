// The fields of built-in kinds, from the OpenAPI document of a real API server: what Go's structs are to the real one.
// Written once to generated/field-table.ts (fields.real.test.ts does it, and says when it is out of date), one line per type:
//
//     "core.v1.ContainerPort": "containerPort!:int32 hostIP:string hostPort:int32 name:string protocol:string"
//
// A type is `string`, `bool`, `int32`, `int64`, `float64`, `bytes`, `quantity`, `int-or-string`, `time`, `any`, the name of
// another line, or a list ("[]x") or map ("{}x") of those. "!" marks what is always written, even if it is empty.
import { isObject, type JsonObject, objectAt } from "../json.ts";
import type { KindEntry } from "./kind-entry.ts";

const prefixes: readonly (readonly [RegExp, string])[] = [
  [/^io\.k8s\.apiextensions-apiserver\.pkg\.apis\./, ""],
  [/^io\.k8s\.apimachinery\.pkg\.apis\./, ""],
  [/^io\.k8s\.api\./, ""],
];

/** Types that are more, or less, than their fields. */
const special: Readonly<Record<string, string>> = {
  "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "int-or-string",
  "io.k8s.apimachinery.pkg.runtime.RawExtension": "any",
  "meta.v1.Time": "time",
  "meta.v1.MicroTime": "time",
  "meta.v1.FieldsV1": "any",
  "apiextensions.v1.JSON": "any",
  "apiextensions.v1.JSONSchemaProps": "any",
};

const scalars: Readonly<Record<string, string>> = { string: "string", boolean: "bool", number: "float64", object: "any" };

/** "core.v1.Pod", for a kind. */
export function typeNameOf({ group, version, kind }: Pick<KindEntry, "group" | "version" | "kind">): string {
  return `${group.split(".")[0] || "core"}.${version}.${kind}`;
}

/** The lines for these types and whatever they are made of, in the order of the alphabet. */
export function fieldTableOf(openapi: unknown, roots: readonly string[]): ReadonlyMap<string, string> {
  const definitions = new Map(Object.entries(objectAt(openapi, "definitions")).map(([name, type]) => [shortName(name), type]));
  const lines = new Map<string, string>();
  const visit = (name: string) => {
    const definition = definitions.get(name);
    if (lines.has(name) || !isObject(definition)) return;
    const required = Array.isArray(definition.required) ? definition.required : [];
    const fields = Object.entries(objectAt(definition, "properties")).sort(([a], [b]) => (a < b ? -1 : 1));
    const typed = fields.map(([field, schema]) => ({ field, type: typeOf(schema as JsonObject) }));
    lines.set(name, typed.map(({ field, type }) => `${field}${required.includes(field) ? "!" : ""}:${type}`).join(" "));
    for (const { type } of typed) visit(type.replace(/^(\[\]|\{\})+/, ""));
  };
  for (const root of roots) visit(root);
  return new Map([...lines].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function shortName(name: string): string {
  const short = prefixes.reduce((shortened, [prefix, by]) => shortened.replace(prefix, by), name);
  return special[name] ?? special[short] ?? short;
}

function typeOf(schema: JsonObject): string {
  if (typeof schema.$ref === "string") return shortName(schema.$ref.slice("#/definitions/".length));
  if (schema.type === "array") return `[]${typeOf(objectAt(schema, "items"))}`;
  if (isObject(schema.additionalProperties)) return `{}${typeOf(schema.additionalProperties)}`;
  if (schema.type === "integer") return String(schema.format ?? "int64");
  if (schema.type === "string" && schema.format === "byte") return "bytes";
  return scalars[String(schema.type)] ?? "any";
}
