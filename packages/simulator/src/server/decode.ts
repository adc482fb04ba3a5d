// Decodes request bodies and checks their kind and namespace.
import { type Draft, isObject, type JsonObject } from "../json.ts";
import { apiVersionOf } from "../kinds/registry.ts";
import type { ApiRequest, Target } from "./core.ts";
import { invalid as invalidField } from "./field-error.ts";
import { badRequest, invalid, notImplemented, unsupportedMediaType } from "./status-error.ts";

const accepted = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];

/** The kind that a body must have. */
export interface Expected {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Set for custom resources, which must state their apiVersion and kind. */
  readonly customResource?: unknown;
}

/** Parses the body. @throws StatusError */
export function bodyOf({ body = "", headers = {} }: ApiRequest, kind: string): JsonObject {
  checkContentType(headers["content-type"]);
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    const shown = body === "" ? "<empty>" : body.slice(0, 100);
    throw unrecognized(kind, `unexpected end of JSON input (${shown})`);
  }
  if (!isObject(parsed)) throw unrecognized(kind, `json: cannot unmarshal ${typeOf(parsed)} into Go value`);
  return parsed;
}

function checkContentType(contentType = "application/json"): void {
  const type = contentType.split(";")[0]?.trim();
  if (type === "application/json") return;
  if (type !== undefined && accepted.includes(type)) throw notImplemented(`requests in ${type}, only application/json`);
  throw unsupportedMediaType(accepted);
}

function unrecognized(kind: string, why: string) {
  return badRequest(
    `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: ${why}`,
  );
}

/** Turns a body into a draft. Checks its type, or sets it if it is missing. @throws StatusError */
export function draftIn(body: JsonObject, expected: Expected): Draft {
  const apiVersion = apiVersionOf(expected);
  if (expected.customResource !== undefined) checkTypeIsSet(body, expected);
  const found = { apiVersion: body.apiVersion || apiVersion, kind: body.kind || expected.kind };
  if (found.apiVersion !== apiVersion || found.kind !== expected.kind) throw wrongType(found, expected, apiVersion);
  const { metadata = {} } = body;
  if (metadata !== null && !isObject(metadata)) {
    const why = `json: cannot unmarshal ${typeOf(metadata)} into Go struct field ${expected.kind}.metadata of type v1.ObjectMeta`;
    throw cannotBeHandled(expected.kind, expected.version, expected.kind, why);
  }
  return { ...body, ...found, metadata: metadata ?? {} } as Draft;
}

function checkTypeIsSet(body: JsonObject, { group, version, kind }: Expected): void {
  const apiVersion = apiVersionOf({ group, version });
  if (!body.kind) {
    const text = JSON.stringify(body);
    const shown = text.length > 30 ? `${text.slice(0, 30)} ...` : text;
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind}): Object 'Kind' is missing in '${text}' (${shown})`,
    );
  }
  if (body.apiVersion !== apiVersion) throw wrongVersion(body.apiVersion ?? "", apiVersion);
  if (body.kind === kind) return;
  const name = isObject(body.metadata) ? String(body.metadata.name ?? "") : "";
  throw invalid({ group, kind: String(body.kind) }, name, [invalidField("kind", body.kind, `must be ${kind}`)]);
}

function wrongVersion(found: unknown, expected: string) {
  return badRequest(`the API version in the data (${found}) does not match the expected API version (${expected})`);
}

function wrongType(found: { readonly apiVersion: unknown; readonly kind: unknown }, expected: Expected, apiVersion: string) {
  const { group, version } = groupAndVersion(String(found.apiVersion));
  if (found.kind === expected.kind && group === expected.group) {
    const why = `no kind "${found.kind}" is registered for version "${found.apiVersion}" in scheme "pkg/runtime/scheme.go:111"`;
    return cannotBeHandled(String(found.kind), version, expected.kind, why);
  }
  if (found.apiVersion !== apiVersion) return wrongVersion(found.apiVersion, apiVersion);
  const why = `no kind "${found.kind}" is registered for version "${found.apiVersion}" in scheme "pkg/runtime/scheme.go:111"`;
  return cannotBeHandled(String(found.kind), version, expected.kind, why);
}

function groupAndVersion(apiVersion: string): { readonly group: string; readonly version: string } {
  const [first = "", second] = apiVersion.split("/");
  return second === undefined ? { group: "", version: first } : { group: first, version: second };
}

export function cannotBeHandled(kind: string, version: string, as: string, why: string) {
  return badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${as}: ${why}`);
}

/** Sets the namespace from the request. @throws StatusError if the draft names a different one */
export function setNamespace(draft: Draft, { kind, namespace }: Target): void {
  const { metadata } = draft;
  if (!kind.namespaced || metadata.namespace === "") delete metadata.namespace;
  if (!kind.namespaced) return;
  if (metadata.namespace !== undefined && metadata.namespace !== null && metadata.namespace !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  if (namespace !== undefined) metadata.namespace = namespace;
}

/** Checks that the name of the object matches the URL. @throws StatusError */
export function checkName(draft: Draft, name: string): void {
  const found = draft.metadata.name;
  if (found === name) return;
  throw found === undefined || found === null || found === ""
    ? badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
    : badRequest(`the name of the object (${found}) does not match the name on the URL (${name})`);
}

function typeOf(value: unknown): string {
  return Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
}
