// The resourceVersion that a list or a watch asks for, and the rules about which combinations make sense.
import { type FieldError, forbiddenField, notSupported } from "./field-error.ts";
import { invalidOptions, type Query, textIn } from "./query.ts";
import { badRequest, StatusError } from "./status-error.ts";

export interface AskedVersion {
  /** Undefined: the newest. 0n: any will do. */
  readonly version: bigint | undefined;
  readonly match: "Exact" | "NotOlderThan" | undefined;
}

/** What a list asks for. @throws StatusError */
export function listVersionIn(query: Query): AskedVersion {
  check(query, listErrors(query));
  return { version: parsed(query, "invalid resource version: "), match: matchIn(query) };
}

/** What a watch asks for. @throws StatusError */
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
