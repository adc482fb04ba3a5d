// Lists with pagination. All pages show the state at the time of the first one.
import { keyOf } from "@memhog/runtime";
import { matches, requirementsOf } from "@memhog/runtime/objects";
import type { ApiObject } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";
import { CompactedError } from "../storage/storage.ts";
import { asServed, type ServerCore, storedKindOf, type Target } from "./core.ts";
import { type FieldError, forbiddenField, notSupported } from "./field-error.ts";
import { invalidOptions, numberIn, type Query, textIn } from "./query.ts";
import { badRequest, expired, StatusError, tooLargeResourceVersion } from "./status-error.ts";

export interface Page {
  readonly items: readonly ApiObject[];
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
}

const tooOldToContinue =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";

/** @throws StatusError */
export async function listObjects(core: ServerCore, { kind, namespace }: Target, query: Query): Promise<Page> {
  const filter = filterIn(query, kind);
  const limit = Math.max(0, numberIn(query, "limit") ?? 0);
  const { version, after } = startOf(core, query);
  const all = await asServed(kind, stored(core, { kind, ...(namespace !== undefined && { namespace }) }, version, after));
  const { items, more } = pageOf(all, { after, limit, filter });
  const last = items.at(-1);
  if (!more || last === undefined) return { items, metadata: { resourceVersion: String(version) } };
  const rest = all.length - all.indexOf(last) - 1;
  return {
    items,
    metadata: {
      resourceVersion: String(version),
      continue: encodeContinue({ version, after: keyOf(last.metadata as { name: string; namespace?: string }) }),
      // The real server omits the count for a list with a selector, because it would have to filter all remaining objects.
      ...(filter === undefined && { remainingItemCount: rest }),
    },
  };
}

interface ListStart {
  readonly version: bigint;
  readonly after: string | undefined;
}

function startOf({ storage }: ServerCore, query: Query): ListStart {
  const asked = listVersionIn(query);
  const token = textIn(query, "continue");
  if (token !== undefined && asked.version !== undefined && asked.version > 0n) {
    throw badRequest("specifying resource version is not allowed when using continue");
  }
  if (token !== undefined) {
    const { version, after } = decodeContinue(token);
    return { version: version === asOfNow ? storage.version : version, after };
  }
  if (asked.version !== undefined && asked.version > storage.version) {
    throw tooLargeResourceVersion(asked.version, storage.version);
  }
  const exact = asked.match === "Exact" || (asked.match === undefined && numberIn(query, "limit") !== undefined);
  const version = exact && asked.version !== undefined && asked.version > 0n ? asked.version : storage.version;
  return { version, after: undefined };
}

function stored({ storage }: ServerCore, { kind, namespace }: Target, version: bigint, after: string | undefined) {
  try {
    return storage.list(storedKindOf(kind), { namespace }, version);
  } catch (error) {
    if (!(error instanceof CompactedError)) throw error;
    if (after === undefined) throw expired("The resourceVersion for the provided list is too old.");
    throw expired(tooOldToContinue, encodeContinue({ version: asOfNow, after }));
  }
}

interface PageOptions {
  readonly after: string | undefined;
  /** 0 means no limit. */
  readonly limit: number;
  readonly filter: Filter | undefined;
}

function pageOf(all: readonly ApiObject[], { after, limit, filter }: PageOptions) {
  const items: ApiObject[] = [];
  for (const object of all) {
    if (after !== undefined && keyOf(object.metadata as { name: string; namespace?: string }) <= after) continue;
    if (filter !== undefined && !filter(object)) continue;
    if (limit > 0 && items.length === limit) return { items, more: true };
    items.push(object);
  }
  return { items, more: false };
}

// The continue token: the version of the first page and the key of the last object.

interface Continuation {
  /** The version of the first page, or `asOfNow`. */
  readonly version: bigint;
  /** The last key that was returned. */
  readonly after: string;
}

/** Replaces a compacted version: the next page shows the current state, so pages can be inconsistent. */
const asOfNow = -1n;

const kind = "meta.k8s.io/v1";

function encodeContinue({ version, after }: Continuation): string {
  return Buffer.from(JSON.stringify({ v: kind, rv: Number(version), start: `${after}\0` })).toString("base64url");
}

export function decodeContinue(token: string): Continuation {
  const text = Buffer.from(token, "base64url").toString();
  let parsed: { readonly v?: unknown; readonly rv?: unknown; readonly start?: unknown };
  try {
    parsed = JSON.parse(text);
  } catch {
    throw notValid(`invalid character '${text.charAt(0)}' looking for beginning of value`);
  }
  const { v, rv, start } = parsed;
  if (v !== kind) throw notValid(`server does not recognize this encoded version ${v ?? ""}`);
  if (typeof rv !== "number" || rv === 0) throw notValid(`incorrect encoded start resourceVersion (version ${kind})`);
  if (typeof start !== "string" || start === "") throw notValid("encoded start key empty (version meta.k8s.io/v1)");
  return { version: BigInt(rv), after: start.replace(/\0$/, "") };
}

function notValid(why: string): StatusError {
  return badRequest(`invalid continue token: continue key is not valid: ${why}`);
}

// The resourceVersion of a list or watch request, and which combinations of parameters are valid.

export interface AskedVersion {
  /** Undefined means the newest version, 0n means any version. */
  readonly version: bigint | undefined;
  readonly match: "Exact" | "NotOlderThan" | undefined;
}

/** Parses the resourceVersion of a list. @throws StatusError */
function listVersionIn(query: Query): AskedVersion {
  check(query, listErrors(query));
  return { version: parsed(query, "invalid resource version: "), match: matchIn(query) };
}

/** Parses the resourceVersion of a watch. @throws StatusError */
export function watchVersionIn(query: Query): AskedVersion {
  check(query, watchErrors(query));
  return { version: parsed(query), match: matchIn(query) };
}

function matchIn(query: Query): AskedVersion["match"] {
  return textIn(query, "resourceVersionMatch") as AskedVersion["match"];
}

function check(query: Query, errors: readonly FieldError[]): void {
  const match = textIn(query, "resourceVersionMatch");
  const unknown = match !== undefined && match !== "Exact" && match !== "NotOlderThan";
  const all = unknown ? [notSupported("resourceVersionMatch", match, ["Exact", "NotOlderThan", ""])] : errors;
  if (all.length > 0) throw invalidOptions("ListOptions", all);
}

function listErrors(query: Query): readonly FieldError[] {
  const [version, match] = [textIn(query, "resourceVersion"), textIn(query, "resourceVersionMatch")];
  const forbid = (condition: boolean, why: string) => (condition ? [forbiddenField("resourceVersionMatch", why)] : []);
  const initial = query.sendInitialEvents !== undefined;
  return [
    ...forbid(
      match !== undefined && version === undefined,
      "resourceVersionMatch is forbidden unless resourceVersion is provided",
    ),
    ...forbid(
      match !== undefined && textIn(query, "continue") !== undefined,
      "resourceVersionMatch is forbidden when continue is provided",
    ),
    ...forbid(match === "Exact" && version === "0", 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
    ...(initial ? [forbiddenField("sendInitialEvents", "sendInitialEvents is forbidden for list")] : []),
  ];
}

function watchErrors(query: Query): readonly FieldError[] {
  const match = textIn(query, "resourceVersionMatch");
  const initial = query.sendInitialEvents !== undefined;
  const forbid = (condition: boolean, why: string) => (condition ? [forbiddenField("resourceVersionMatch", why)] : []);
  return [
    ...forbid(
      match !== undefined && !initial,
      "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
    ),
    ...forbid(initial && match !== "NotOlderThan", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"),
  ];
}

function parsed(query: Query, prefix?: string): bigint | undefined {
  const text = textIn(query, "resourceVersion");
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return BigInt(text);
  const quoted = JSON.stringify(text);
  const message = `resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: invalid syntax`;
  if (prefix !== undefined) throw badRequest(`${prefix}${message}`);
  throw new StatusError({ code: 500, reason: "", message });
}

// Label and field selectors, compiled once per request.

export type Filter = (object: ApiObject) => boolean;

interface Term {
  readonly value: string;
  readonly read: (object: ApiObject) => string;
  readonly equal: boolean;
}

/** Compiles the selectors of a query. Returns undefined if there are none. @throws StatusError */
export function filterIn(query: Query, kind: KindEntry): Filter | undefined {
  const labels = labelFilter(textIn(query, "labelSelector"));
  const fields = fieldFilter(textIn(query, "fieldSelector"), kind);
  if (labels === undefined || fields === undefined) return labels ?? fields;
  return (object) => labels(object) && fields(object);
}

function labelFilter(selector: string | undefined): Filter | undefined {
  if (selector === undefined) return undefined;
  try {
    const requirements = requirementsOf(selector);
    return ({ metadata }) => matches(requirements, metadata.labels);
  } catch (error) {
    throw badRequest(`unable to parse requirement: ${error instanceof Error ? error.message : error}`);
  }
}

function fieldFilter(selector: string | undefined, kind: KindEntry): Filter | undefined {
  if (selector === undefined) return undefined;
  const terms = selector.split(/(?<!\\),/).map((term) => termOf(term, kind));
  return (object) => terms.every(({ read, value, equal }) => (read(object) === value) === equal);
}

function termOf(term: string, kind: KindEntry): Term {
  const found = /^([^=!]*)(!=|==|=)(.*)$/.exec(term);
  if (found === null) throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
  const [, field = "", sign, value = ""] = found;
  return { read: readerOf(field, kind), value: value.replace(/\\([\\,=])/g, "$1"), equal: sign !== "!=" };
}

function readerOf(field: string, kind: KindEntry): (object: ApiObject) => string {
  if (field === "metadata.name") return ({ metadata }) => metadata.name ?? "";
  if (field === "metadata.namespace" && kind.namespaced) return ({ metadata }) => metadata.namespace ?? "";
  const read = kind.selectableFields?.[field];
  if (read === undefined) throw badRequest(unsupported(field, kind));
  return read;
}

/** The message of the real server depends on whether the kind has selectable fields. */
function unsupported(field: string, { kind, selectableFields, customResource }: KindEntry): string {
  if (kind === "Job") return `field label "${field}" not supported for ${kind}`;
  if (selectableFields !== undefined || customResource !== undefined) return `field label not supported: ${field}`;
  return `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`;
}
