// Drops fields that the schema does not know. Identity and metadata of an object are always known; below
// `x-kubernetes-preserve-unknown-fields` everything is kept, except what a field that is named there does not know.
import { isObject, type JsonObject } from "../json.ts";
import { fieldSchema, isNamed, type StructuralSchema } from "./structural-schema.ts";

const metaFields = new Set(["apiVersion", "kind", "metadata"]);

/** Prunes an object in place and returns the paths of what went, sorted: "spec.unknown", "spec.list[0].unknown". */
export function pruneUnknown(object: JsonObject, schema: StructuralSchema): readonly string[] {
  const dropped: string[] = [];
  prune(object, { ...schema, "x-kubernetes-embedded-resource": true }, { path: "", dropped });
  return dropped.sort();
}

interface Place {
  readonly path: string;
  readonly dropped: string[];
}

function prune(value: unknown, schema: StructuralSchema | undefined, place: Place): void {
  if (Array.isArray(value)) {
    const items = keptItems(schema);
    if (items === "all") return;
    for (const [at, item] of value.entries()) prune(item, items, { ...place, path: `${place.path}[${at}]` });
    return;
  }
  if (!isObject(value)) return;
  for (const name of Object.keys(value)) pruneField(value, name, schema, place);
}

/** A list that keeps what is unknown keeps it in its elements, too. */
function keptItems(schema: StructuralSchema | undefined): StructuralSchema | undefined | "all" {
  if (schema?.["x-kubernetes-preserve-unknown-fields"] !== true) return schema?.items;
  return schema.items === undefined ? "all" : { ...schema.items, "x-kubernetes-preserve-unknown-fields": true };
}

function pruneField(object: JsonObject, name: string, schema: StructuralSchema | undefined, { path, dropped }: Place): void {
  if (schema?.["x-kubernetes-embedded-resource"] === true && metaFields.has(name)) return;
  const below = path === "" ? name : `${path}.${name}`;
  const isMap = schema?.additionalProperties !== undefined && schema.additionalProperties !== false;
  if (schema !== undefined && (isNamed(schema, name) || isMap)) {
    const field = fieldSchema(schema, name);
    // `additionalProperties: true` says as little about the values as no schema at all, and they are pruned as such.
    prune(object[name], field, { path: below, dropped });
  } else if (schema?.["x-kubernetes-preserve-unknown-fields"] !== true) {
    dropped.push(below);
    delete object[name];
  }
}
