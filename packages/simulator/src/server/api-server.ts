// The API server: finds the handler for a request.
//
//   verbs.ts          get, list, watch, create, …        write.ts, delete.ts   how objects change
//   patch-verb.ts     PATCH                              subresources.ts, eviction.ts
//   query.ts, list.ts query parameters, selectors, pages discovery.ts          /api and /apis
//   answer.ts         the format of responses            status-error.ts       errors
//   http-server.ts, in-memory.ts                         the two ways to reach it

import type { JsonObject } from "../json.ts";
import { allVerbs, builtIn, type KindEntry, type Verb } from "../kinds/kind-entry.ts";
import type { KindRegistry } from "../kinds/registry.ts";
import { admin } from "./admission.ts";
import { json, plainText, statusAnswer } from "./answer.ts";
import { type ApiRequest, type ApiResponse, type Handler, nowText, type ServerCore, type Target } from "./core.ts";
import { bodyOf, draftIn } from "./decode.ts";
import { discoveryAnswer } from "./discovery.ts";
import { patch } from "./patch-verb.ts";
import { flagIn } from "./query.ts";
import { badRequest, internalError, methodNotAllowed, noSuchResource, notImplemented, StatusError } from "./status-error.ts";
import { connect, isExternal, subresourceHandler } from "./subresources.ts";
import { create, get, list, remove, removeAll, update, type VerbHandler, watch } from "./verbs.ts";

/** The version that the simulator reports. */
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
  const handler =
    target.subresource !== undefined && isExternal(target.subresource) ? connect : (subresourceHandler(call) ?? handlers[verb]);
  return withWarnings(await withErrorResponse(handler(call)), warnings);
}

/** Turns a StatusError into a response here, so that warnings collected before the error are sent with it. */
async function withErrorResponse(answer: Promise<ApiResponse>): Promise<ApiResponse> {
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
  const acrossNamespaces = kind.namespaced && namespace === undefined;
  if (name !== undefined) {
    if (method === "GET") return "get";
    if (method === "POST") return subresource === undefined ? undefined : "create";
    return method === "PUT" ? "update" : method === "PATCH" ? "patch" : method === "DELETE" ? "delete" : undefined;
  }
  if (method === "GET") return flagIn(query, "watch") ? "watch" : "list";
  // Only list and watch work across namespaces.
  if (acrossNamespaces) return undefined;
  return method === "POST" ? "create" : method === "DELETE" ? "deletecollection" : undefined;
}

function withWarnings(response: ApiResponse, warnings: readonly string[]): ApiResponse {
  if (warnings.length === 0) return response;
  const warning = warnings.map((text) => `299 - ${JSON.stringify(text)}`).join(", ");
  return { ...response, headers: { ...response.headers, warning } };
}

// The target of a path: "/apis/apps/v1/namespaces/default/deployments/web/scale".

/** Resolves the segments of a path. Returns undefined if they name no resource of this server. */
export function targetOf(parts: readonly string[], kinds: KindRegistry): Target | undefined {
  const [root, ...rest] = parts;
  if (root === "api") return below({ group: "", version: rest[0] ?? "" }, rest.slice(1), kinds);
  if (root === "apis") return below({ group: rest[0] ?? "", version: rest[1] ?? "" }, rest.slice(2), kinds);
  return undefined;
}

/** @throws StatusError if the path contains invalid percent-encoding */
function segments(path: string): readonly string[] {
  const parts = path.slice(path.startsWith("/") ? 1 : 0, path.endsWith("/") ? -1 : undefined).split("/");
  if (!path.includes("%")) return parts;
  try {
    return parts.map(decodeURIComponent);
  } catch {
    throw badRequest(`expected a path with valid percent-encoded UTF-8, found ${JSON.stringify(path)}`);
  }
}

interface Type {
  readonly group: string;
  readonly version: string;
}

function below(type: Type, parts: readonly string[], kinds: KindRegistry): Target | undefined {
  const [first, namespace, plural, ...rest] = parts;
  if (first === undefined) return undefined;
  // "namespaces/x/status" is a subresource of the namespace, "namespaces/x/pods" is a collection in it.
  const ofNamespace = type.group === "" && kinds.find(type, "namespaces")?.subresources?.[plural ?? ""] !== undefined;
  if (first === "namespaces" && namespace !== undefined && plural !== undefined && !ofNamespace) {
    const kind = kinds.find(type, plural);
    return kind?.namespaced === true ? target(kind, rest, namespace) : undefined;
  }
  const kind = kinds.find(type, first);
  // A namespaced object can be listed here across namespaces; its own path requires a namespace.
  return kind === undefined || (kind.namespaced && parts.length > 1) ? undefined : target(kind, parts.slice(1));
}

function target(kind: KindEntry, parts: readonly string[], namespace?: string): Target | undefined {
  const [name, subresource, ...rest] = parts;
  if (subresource !== undefined && kind.subresources?.[subresource] === undefined) return undefined;
  return {
    kind,
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    ...(subresource !== undefined && { subresource }),
    ...(rest.length > 0 && { rest: `/${rest.join("/")}` }),
  };
}

// Access reviews. Every user is an admin, so every access is allowed.

const review = (group: string, kind: string, namespaced = false) => builtIn(group, "v1", kind, { namespaced, verbs: ["create"] });

export const reviewKinds: readonly KindEntry[] = [
  review("authorization.k8s.io", "LocalSubjectAccessReview", true),
  review("authorization.k8s.io", "SelfSubjectAccessReview"),
  review("authorization.k8s.io", "SelfSubjectRulesReview"),
  review("authorization.k8s.io", "SubjectAccessReview"),
  review("authentication.k8s.io", "SelfSubjectReview"),
  review("authentication.k8s.io", "TokenReview"),
];

const everything = {
  resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
  nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
  incomplete: false,
};

/** The fields that the response adds to a review of each kind. */
const answers: Readonly<Record<string, (core: ServerCore) => JsonObject>> = {
  LocalSubjectAccessReview: () => ({ status: { allowed: true } }),
  SelfSubjectAccessReview: () => ({ status: { allowed: true } }),
  SubjectAccessReview: () => ({ status: { allowed: true } }),
  SelfSubjectRulesReview: () => ({ status: everything }),
  SelfSubjectReview: (core) => ({ metadata: { creationTimestamp: nowText(core) }, status: { userInfo: admin } }),
};

function reviewAnswer(core: ServerCore, kind: KindEntry, request: ApiRequest): ApiResponse {
  const answer = answers[kind.kind];
  if (answer === undefined) throw notImplemented(`${kind.kind}: it keeps no tokens`);
  const asked = draftIn(bodyOf(request, kind.kind), kind);
  return json(201, JSON.stringify({ ...asked, ...answer(core) }));
}
