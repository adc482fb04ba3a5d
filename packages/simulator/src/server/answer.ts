// From an object to the bytes of an answer, in the form the client asked for: the object, a table for people, or metadata.
import type { ApiObject } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";
import { apiVersionOf } from "../kinds/registry.ts";
import type { ApiRequest, ApiResponse } from "./handler.ts";
import type { Page } from "./list.ts";
import { notAcceptable, type StatusBody } from "./status-error.ts";
import { type IncludeObject, partial, tableOf } from "./table.ts";

export type Form = "object" | "table" | "metadata";

/**
 * What the Accept header asks for. Only JSON is spoken: clients that would like protobuf better ask for both, and a form
 * that is not known falls through to the next one. @throws StatusError
 */
export function formOf({ headers = {} }: ApiRequest): Form {
  const choices = (headers.accept || "*/*").split(",").map((choice) => choice.split(";").map((each) => each.trim()));
  const spoken = choices.filter(([type = ""]) => spokenTypes.includes(type));
  for (const [, ...parameters] of spoken) {
    const form = formFor(new Map(parameters.map((each) => each.split("=") as [string, string])));
    if (form !== undefined) return form;
  }
  throw notAcceptable(spoken.length > 0);
}

const spokenTypes = ["application/json", "application/*", "*/*"];

function formFor(wanted: ReadonlyMap<string, string>): Form | undefined {
  const as = wanted.get("as");
  if (as === undefined) return "object";
  if (wanted.get("g") !== "meta.k8s.io" || wanted.get("v") !== "v1") return undefined;
  if (as === "Table") return "table";
  return as === "PartialObjectMetadata" || as === "PartialObjectMetadataList" ? "metadata" : undefined;
}

export interface AnswerContext {
  readonly request: ApiRequest;
  /** For the ages in tables. */
  readonly now: number;
}

export function objectAnswer(kind: KindEntry, object: ApiObject, context: AnswerContext, status = 200): ApiResponse {
  return json(status, textOf(kind, object, context));
}

/** Text of one object in the form asked for. */
function textOf(kind: KindEntry, object: ApiObject, context: AnswerContext): string {
  const form = formOf(context.request);
  if (form === "metadata") return metadataTextOf(object);
  if (form === "object") return jsonOf(object);
  return JSON.stringify(tableOf(kind, [object], { ...context, includeObject: includeObjectIn(context.request) }));
}

/** How each event of a watch is written. The columns of a table are told once. */
export function eventFormat(kind: KindEntry, request: ApiRequest, now: () => number): (object: ApiObject) => string {
  const form = formOf(request);
  if (form === "object") return jsonOf;
  if (form === "metadata") return metadataTextOf;
  const includeObject = includeObjectIn(request);
  let told = false;
  return (object) => {
    const table = tableOf(kind, [object], { now: now(), includeObject });
    const columns = told ? { columnDefinitions: null } : {};
    told = true;
    return JSON.stringify({ ...table, ...columns });
  };
}

export function listAnswer(kind: KindEntry, page: Page, context: AnswerContext): ApiResponse {
  const form = formOf(context.request);
  if (form === "table") {
    const includeObject = includeObjectIn(context.request);
    return json(200, JSON.stringify({ ...tableOf(kind, page.items, { ...context, includeObject }), metadata: page.metadata }));
  }
  if (form === "metadata") {
    const items = page.items.map(partial);
    const type = { kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1" };
    return json(200, JSON.stringify({ ...type, metadata: page.metadata, items }));
  }
  const head = { kind: kind.listKind ?? `${kind.kind}List`, apiVersion: apiVersionOf(kind), metadata: page.metadata };
  return json(200, `${JSON.stringify(head).slice(0, -1)},"items":[${page.items.map((item) => itemText(kind, item)).join(",")}]}`);
}

/** Items of built-in kinds do not repeat their type; custom resources do. */
function itemText(kind: KindEntry, item: ApiObject): string {
  return kind.customResource === undefined ? untypedTextOf(item) : jsonOf(item);
}

export function statusAnswer(body: StatusBody): ApiResponse {
  const seconds = body.details?.retryAfterSeconds;
  return json(body.code, JSON.stringify(body), seconds === undefined ? {} : { "retry-after": String(seconds) });
}

/** "It is done", with what it was done to. */
export function success(details?: StatusBody["details"], code = 200): ApiResponse {
  const body = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", ...(details && { details }) };
  return json(code, JSON.stringify(code === 200 ? body : { ...body, code }));
}

export function json(status: number, body: string, headers: Readonly<Record<string, string>> = {}): ApiResponse {
  return { status, headers: { "content-type": "application/json", ...headers }, body };
}

export function plainText(status: number, body: string): ApiResponse {
  return { status, headers: { "content-type": "text/plain; charset=utf-8" }, body };
}

function includeObjectIn({ query = {} }: ApiRequest): IncludeObject {
  const value = query.includeObject;
  return value === "None" || value === "Object" ? value : "Metadata";
}

const jsonOf = remembered((object) => JSON.stringify(object));
const metadataTextOf = remembered((object) => JSON.stringify(partial(object)));
const untypedTextOf = remembered(({ apiVersion: _a, kind: _k, ...rest }) => JSON.stringify(rest));

/** Stored objects never change, so what they look like on the wire is worked out once for all who ask. */
function remembered(textOf: (object: ApiObject) => string): (object: ApiObject) => string {
  const texts = new WeakMap<ApiObject, string>();
  return (object) => {
    const known = texts.get(object);
    if (known !== undefined) return known;
    const text = textOf(object);
    if (Object.isFrozen(object)) texts.set(object, text);
    return text;
  };
}
