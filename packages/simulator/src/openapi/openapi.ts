// /openapi: what kubectl asks before it sends anything (`apply`, `--dry-run=server`) and what it explains kinds with.
//
//   /openapi/v3                    the documents there are, each with a hash of its content: clients keep them until it changes
//   /openapi/v3/apis/GROUP/VERSION one of them (document.ts, schemas.ts)
//   /openapi/v2                    the older form, for clients that want JSON. Those that want protobuf get a document that
//                                  says nothing, and go by what they have learned about the built-in kinds themselves.
import { createHash } from "node:crypto";
import type { JsonObject } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";
import { json, plainText } from "../server/answer.ts";
import type { ServerCore } from "../server/core.ts";
import type { ApiRequest, ApiResponse } from "../server/handler.ts";
import type { SimulatorPart } from "../simulator.ts";
import { documentOf } from "./document.ts";
import { schemasOf } from "./schemas.ts";

export function openapi(): SimulatorPart {
  return {
    name: "openapi",
    prepare: (core) => {
      core.routes.set("/openapi/", (request) => answerTo(request, core));
    },
  };
}

function answerTo({ path, headers = {} }: ApiRequest, { kinds }: ServerCore): ApiResponse {
  const documents = byGroupVersion(kinds.all());
  const rest = path.replace(/^\/openapi\//, "").replace(/\/$/, "");
  if (rest === "v2") return (headers.accept ?? "").includes("protobuf") ? emptyProtobuf : answer(swagger(kinds.all()));
  if (rest === "v3") return answer(listOf(documents));
  const entries = documents.get(rest.replace(/^v3\//, ""));
  return entries === undefined ? plainText(404, "404 page not found\n") : answer(documentOf(entries));
}

/** No field at all is a valid message. */
const emptyProtobuf: ApiResponse = {
  status: 200,
  headers: { "content-type": "application/com.github.proto-openapi.spec.v2.v1.0+protobuf" },
  body: "",
};

function answer(body: JsonObject): ApiResponse {
  return json(200, JSON.stringify(body));
}

/** "api/v1", "apis/apps/v1" → its kinds. */
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
