// Responses: an object or a list as JSON, as a table, or as metadata only.
import type { ApiObject } from "../json.ts";
import { nameColumn } from "../kinds/columns.ts";
import type { Column, KindEntry } from "../kinds/kind-entry.ts";
import { apiVersionOf } from "../kinds/registry.ts";
import type { ApiRequest, ApiResponse } from "./core.ts";
import type { Page } from "./list.ts";
import { notAcceptable, type StatusBody } from "./status-error.ts";

type Form = "object" | "table" | "metadata";

/**
 * Parses the Accept header. The server sends only JSON; clients that prefer protobuf also accept JSON. The server skips a form
 * that it does not know and tries the next one. @throws StatusError
 */
function formOf({ headers = {} }: ApiRequest): Form {
  const choices = (headers.accept || "*/*").split(",").map((choice) => choice.split(";").map((each) => each.trim()));
  const acceptable = choices.filter(([type = ""]) => jsonTypes.includes(type));
  for (const [, ...parameters] of acceptable) {
    const form = formFor(new Map(parameters.map((each) => each.split("=") as [string, string])));
    if (form !== undefined) return form;
  }
  throw notAcceptable(acceptable.length > 0);
}

const jsonTypes = ["application/json", "application/*", "*/*"];

function formFor(wanted: ReadonlyMap<string, string>): Form | undefined {
  const as = wanted.get("as");
  if (as === undefined) return "object";
  if (wanted.get("g") !== "meta.k8s.io" || wanted.get("v") !== "v1") return undefined;
  if (as === "Table") return "table";
  return as === "PartialObjectMetadata" || as === "PartialObjectMetadataList" ? "metadata" : undefined;
}

interface AnswerContext {
  readonly request: ApiRequest;
  /** The current time, for the ages in tables. */
  readonly now: number;
}

export function objectAnswer(kind: KindEntry, object: ApiObject, context: AnswerContext, status = 200): ApiResponse {
  return json(status, textOf(kind, object, context));
}

/** Serializes one object in the requested form. */
function textOf(kind: KindEntry, object: ApiObject, context: AnswerContext): string {
  const form = formOf(context.request);
  if (form === "metadata") return metadataTextOf(object);
  if (form === "object") return jsonOf(object);
  return JSON.stringify(tableOf(kind, [object], { ...context, includeObject: includeObjectIn(context.request) }));
}

/** Returns the serializer for watch events. Only the first event of a table contains the columns. */
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

/** Items of built-in kinds omit apiVersion and kind; custom resources include them. */
function itemText(kind: KindEntry, item: ApiObject): string {
  return kind.customResource === undefined ? untypedTextOf(item) : jsonOf(item);
}

export function statusAnswer(body: StatusBody): ApiResponse {
  const seconds = body.details?.retryAfterSeconds;
  return json(body.code, JSON.stringify(body), seconds === undefined ? {} : { "retry-after": String(seconds) });
}

/** A `Status` response for a successful request, with the affected object in `details`. */
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

const jsonOf = memoized((object) => JSON.stringify(object));
const metadataTextOf = memoized((object) => JSON.stringify(partial(object)));
const untypedTextOf = memoized(({ apiVersion: _a, kind: _k, ...rest }) => JSON.stringify(rest));

/** Serializes each stored object only once. Stored objects never change. */
function memoized(textOf: (object: ApiObject) => string): (object: ApiObject) => string {
  const texts = new WeakMap<ApiObject, string>();
  return (object) => {
    const known = texts.get(object);
    if (known !== undefined) return known;
    const text = textOf(object);
    if (Object.isFrozen(object)) texts.set(object, text);
    return text;
  };
}

// Tables for `kubectl get`. The kind entries define the columns.

/** Which part of each object a table row contains. */
type IncludeObject = "None" | "Metadata" | "Object";

const plainColumns: readonly Column[] = [
  nameColumn,
  { name: "Created At", type: "date", cell: ({ metadata }) => metadata.creationTimestamp ?? null },
];

interface TableContext {
  readonly now: number;
  readonly includeObject: IncludeObject;
}

function tableOf(kind: KindEntry, objects: readonly ApiObject[], { now, includeObject }: TableContext) {
  const columns = kind.columns ?? plainColumns;
  const [only] = objects;
  const resourceVersion = objects.length === 1 ? only?.metadata.resourceVersion : undefined;
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata: { ...(resourceVersion && { resourceVersion }) },
    columnDefinitions: columns.map(({ name, type = "string", format = "", description = "", priority = 0 }) => ({
      name,
      type,
      format,
      description,
      priority,
    })),
    rows: objects.filter(isWhole).map((object) => ({
      cells: columns.map(({ cell }) => cell(object, now)),
      object: shown(object, includeObject),
    })),
  };
}

/** A bookmark contains no values for a table row. */
function isWhole({ metadata }: ApiObject): boolean {
  return metadata.name !== undefined;
}

function shown(object: ApiObject, include: IncludeObject): unknown {
  if (include === "None") return null;
  return include === "Object" ? object : partial(object);
}

export function partial({ metadata }: ApiObject) {
  return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata };
}
