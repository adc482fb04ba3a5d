// The OpenAPI v3 document of one group and version: its paths, and the schemas of its kinds.
import type { JsonObject } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";
import { allVerbs } from "../kinds/row.ts";
import { schemaName, schemasOf } from "./schemas.ts";
import { reference } from "./struct-schemas.ts";

export function documentOf(entries: readonly KindEntry[]): JsonObject {
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: "v1.37.1" },
    paths: Object.assign({}, ...entries.map(pathsOf)) as JsonObject,
    components: { schemas: schemasOf(entries) },
  };
}

/** Path → method → operation. */
function pathsOf(entry: KindEntry): JsonObject {
  const { group, version, plural, namespaced } = entry;
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const collection = `${root}${namespaced ? "/namespaces/{namespace}" : ""}/${plural}`;
  const has = (verb: string) => (entry.verbs ?? allVerbs).some((each) => each === verb);
  return {
    [collection]: {
      ...(has("list") && { get: operation(entry, "list") }),
      ...(has("create") && { post: operation(entry, "post", "application/json") }),
    },
    [`${collection}/{name}`]: {
      ...(has("get") && { get: operation(entry, "get") }),
      ...(has("update") && { put: operation(entry, "put", "application/json") }),
      ...(has("patch") && { patch: operation(entry, "patch", ...patchTypes) }),
      ...(has("delete") && { delete: operation(entry, "delete") }),
    },
  };
}

/** Strategic merge is not listed: a client would then want to know how to merge every field, and knows it better itself. */
const patchTypes = ["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"];

const writeParameters = ["dryRun", "fieldManager", "fieldValidation"].map(queryParameter);

function queryParameter(name: string): JsonObject {
  return { name, in: "query", schema: { type: "string", uniqueItems: true } };
}

function operation(entry: KindEntry, action: string, ...consumes: readonly string[]): JsonObject {
  const { group, version, kind } = entry;
  const schema = reference(schemaName(entry));
  const content = (types: readonly string[], each: JsonObject) =>
    Object.fromEntries(types.map((type) => [type, { schema: each }]));
  const body = action === "patch" ? { type: "object" } : schema;
  return {
    operationId: `${action}${kind}`,
    ...(consumes.length > 0 && {
      parameters: writeParameters,
      requestBody: { content: content(consumes, body), required: true },
    }),
    responses: { "200": { description: "OK", content: content(["application/json"], schema) } },
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": { group, kind, version },
  };
}
