// /openapi: kubectl uses it for `apply`, `--dry-run=server`, and `explain`.
//
//   /openapi/v3                    the list of documents, each with a hash of its content
//   /openapi/v3/apis/GROUP/VERSION one of them (schemas.ts)
//   /openapi/v2                    the older format, as JSON. Clients that request protobuf get an empty document and use their
//                                  built-in knowledge of kinds.
import { createHash } from "node:crypto";
import type { JsonObject } from "../json.ts";
import { allVerbs, type KindEntry } from "../kinds/kind-entry.ts";
import { json, plainText } from "../server/answer.ts";
import type { ApiRequest, ApiResponse, ServerCore } from "../server/core.ts";
import { reference, schemaName, schemasOf } from "./schemas.ts";

export function serveOpenapi(core: ServerCore): void {
  core.routes.set("/openapi/", (request) => answerTo(request, core));
}

function answerTo({ path, headers = {} }: ApiRequest, { kinds }: ServerCore): ApiResponse {
  const documents = byGroupVersion(kinds.all());
  const rest = path.replace(/^\/openapi\//, "").replace(/\/$/, "");
  if (rest === "v2") return (headers.accept ?? "").includes("protobuf") ? emptyProtobuf : answer(swagger(kinds.all()));
  if (rest === "v3") return answer(listOf(documents));
  const entries = documents.get(rest.replace(/^v3\//, ""));
  return entries === undefined ? plainText(404, "404 page not found\n") : answer(documentOf(entries));
}

/** An empty body is a valid protobuf message. */
const emptyProtobuf: ApiResponse = {
  status: 200,
  headers: { "content-type": "application/com.github.proto-openapi.spec.v2.v1.0+protobuf" },
  body: "",
};

function answer(body: JsonObject): ApiResponse {
  return json(200, JSON.stringify(body));
}

/** Groups kinds by "api/v1", "apis/apps/v1". */
function byGroupVersion(entries: readonly KindEntry[]): ReadonlyMap<string, readonly KindEntry[]> {
  const found = new Map<string, KindEntry[]>();
  for (const entry of entries) {
    const path = entry.group === "" ? `api/${entry.version}` : `apis/${entry.group}/${entry.version}`;
    found.set(path, [...(found.get(path) ?? []), entry]);
  }
  return found;
}

function listOf(documents: ReadonlyMap<string, readonly KindEntry[]>): JsonObject {
  const paths = [...documents].map(([path, entries]) => {
    const hash = createHash("sha256")
      .update(JSON.stringify(documentOf(entries)))
      .digest("hex")
      .toUpperCase();
    return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }] as const;
  });
  return { paths: Object.fromEntries(paths) };
}

function swagger(entries: readonly KindEntry[]): JsonObject {
  const definitions = JSON.parse(
    JSON.stringify(schemasOf(entries)).replaceAll("#/components/schemas/", "#/definitions/"),
  ) as JsonObject;
  return { swagger: "2.0", info: { title: "Kubernetes", version: "v1.37.1" }, paths: {}, definitions };
}

// The OpenAPI v3 document of a group and version: paths and schemas.

function documentOf(entries: readonly KindEntry[]): JsonObject {
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

/** Without strategic merge patch: clients that see it expect merge keys in the schemas. Without it, they use their own. */
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
