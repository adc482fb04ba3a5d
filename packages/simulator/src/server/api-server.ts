// The API server: a request in, an answer out. This file only finds out who answers.
//
//   target.ts     what does the path name?            resource-version.ts, selectors.ts, query.ts   what does the query want?
//   verbs.ts      get, list, watch, create, …         write.ts, delete.ts                            how objects change
//   patch-verb.ts, subresource-verbs.ts               the other doors
//   discovery.ts, reviews.ts                          what can you do, and may I?
//   answer.ts     the form of the answer              status-error.ts                                how it says no
//   http-server.ts, memory-transport.ts               two ways in, one handler
import type { Verb } from "../kinds/kind-entry.ts";
import { allVerbs } from "../kinds/row.ts";
import { json, plainText, statusAnswer } from "./answer.ts";
import type { ServerCore, Target } from "./core.ts";
import { discoveryAnswer } from "./discovery.ts";
import type { ApiRequest, ApiResponse, Handler } from "./handler.ts";
import { patch } from "./patch-verb.ts";
import { flagIn } from "./query.ts";
import { reviewAnswer } from "./reviews.ts";
import { internalError, methodNotAllowed, noSuchResource, StatusError } from "./status-error.ts";
import { connect, doorOf, leadsOut } from "./subresource-verbs.ts";
import { segments, targetOf } from "./target.ts";
import { create, get, list, remove, removeAll, update, type VerbHandler, watch } from "./verbs.ts";

/** What the simulator says it is. */
export const version = {
  major: "1",
  minor: "37",
  emulationMajor: "1",
  emulationMinor: "37",
  minCompatibilityMajor: "1",
  minCompatibilityMinor: "36",
  gitVersion: "v1.37.1",
  gitCommit: "simulator",
  gitTreeState: "clean",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "none",
  compiler: "none",
  platform: "memhog/simulator",
} as const;

export function apiServer(core: ServerCore): Handler {
  return async (request) => {
    try {
      return await answerTo(core, request);
    } catch (error) {
      if (error instanceof StatusError) return statusAnswer(error.body);
      return statusAnswer(internalError(error instanceof Error ? (error.stack ?? error.message) : String(error)).body);
    }
  };
}

async function answerTo(core: ServerCore, request: ApiRequest): Promise<ApiResponse> {
  const { path } = request;
  for (const [prefix, route] of core.routes) if (path.startsWith(prefix)) return route(request);
  if (path === "/version" || path === "/version/") return json(200, JSON.stringify(version));
  if (/^\/(healthz|livez|readyz)(\/|$)/.test(path)) return plainText(200, "ok");
  const parts = segments(path);
  const discovered = request.method === "GET" && isDiscovery(parts) ? discoveryAnswer(parts, request, core.kinds) : undefined;
  if (discovered !== undefined) return discovered;
  const target = targetOf(parts, core.kinds);
  if (target !== undefined) return answerAbout(core, target, request);
  if (parts[0] === "api" || (parts[0] === "apis" && parts.length > 2)) throw noSuchResource();
  return plainText(404, "404 page not found\n");
}

function isDiscovery([root, ...rest]: readonly string[]): boolean {
  return (root === "api" && rest.length < 2) || (root === "apis" && rest.length < 3);
}

async function answerAbout(core: ServerCore, target: Target, request: ApiRequest): Promise<ApiResponse> {
  const { kind } = target;
  const verb = verbOf(target, request);
  const allowed = target.subresource === undefined ? (kind.verbs ?? allVerbs) : kind.subresources?.[target.subresource]?.verbs;
  if (verb === undefined || !allowed?.includes(verb)) throw methodNotAllowed();
  if (kind.group === "authorization.k8s.io" || kind.group === "authentication.k8s.io") return reviewAnswer(core, kind, request);
  const warnings: string[] = kind.warning === undefined ? [] : [kind.warning];
  const call = { core, target, request, warn: (text: string) => warnings.push(text) };
  const handler = target.subresource !== undefined && leadsOut(target.subresource) ? connect : (doorOf(call) ?? handlers[verb]);
  return withWarnings(await refusalsAnswered(handler(call)), warnings);
}

/** What was warned of before a refusal is told with it. */
async function refusalsAnswered(answer: Promise<ApiResponse>): Promise<ApiResponse> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof StatusError) return statusAnswer(error.body);
    throw error;
  }
}

const handlers: Readonly<Record<Verb, VerbHandler>> = {
  get,
  list,
  watch,
  create,
  update,
  patch,
  delete: remove,
  deletecollection: removeAll,
};

function verbOf({ kind, namespace, name, subresource }: Target, { method, query = {} }: ApiRequest): Verb | undefined {
  const elsewhere = kind.namespaced && namespace === undefined;
  if (name !== undefined) {
    if (method === "GET") return "get";
    if (method === "POST") return subresource === undefined ? undefined : "create";
    return method === "PUT" ? "update" : method === "PATCH" ? "patch" : "delete";
  }
  if (method === "GET") return flagIn(query, "watch") ? "watch" : "list";
  // Across namespaces one may look, and nothing else.
  if (elsewhere) return undefined;
  return method === "POST" ? "create" : method === "DELETE" ? "deletecollection" : undefined;
}

function withWarnings(response: ApiResponse, warnings: readonly string[]): ApiResponse {
  if (warnings.length === 0) return response;
  const warning = warnings.map((text) => `299 - ${JSON.stringify(text)}`).join(", ");
  return { ...response, headers: { ...response.headers, warning } };
}
