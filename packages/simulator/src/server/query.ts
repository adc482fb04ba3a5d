// The query of a request: every value is text, and some texts are wrong.
import { invalid, notSupported } from "./field-error.ts";
import type { ApiRequest } from "./handler.ts";
import { badRequest, invalid as invalidObject, type StatusError } from "./status-error.ts";

export type Query = NonNullable<ApiRequest["query"]>;

/** The value of a parameter, undefined if it is missing or empty. */
export function textIn(query: Query, name: string): string | undefined {
  const value = query[name];
  return value === undefined || value === "" ? undefined : String(value);
}

/** Go's idea of true, in a query: anything but "false" and "0". */
export function flagIn(query: Query, name: string): boolean {
  const value = query[name];
  return value !== undefined && value !== "" && String(value).toLowerCase() !== "false" && String(value) !== "0";
}

export function numberIn(query: Query, name: string): number | undefined {
  const text = textIn(query, name);
  if (text === undefined) return undefined;
  if (!/^[+-]?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

/** Whether a write is only tried. `options` names the kind of options in complaints: "CreateOptions". */
export function dryRunIn(values: readonly string[], options: string): boolean {
  if (values.some((value) => value !== "All")) {
    throw invalidOptions(options, [notSupported("dryRun", values, ["All"])]);
  }
  return values.length > 0;
}

/** The values of a parameter that may come several times; the transports join them with commas. */
export function listIn(query: Query, name: string): readonly string[] {
  return textIn(query, name)?.split(",") ?? [];
}

export function invalidOptions(kind: string, errors: Parameters<typeof invalidObject>[2]): StatusError {
  return invalidObject({ group: "meta.k8s.io", kind }, "", errors);
}

/** Who the fields of a write belong to: what the client says, or the beginning of its user agent. */
export function fieldManagerOf({ query = {}, headers = {} }: ApiRequest): string {
  const given = textIn(query, "fieldManager");
  if (given !== undefined && given.length > 128) {
    throw invalidOptions("PatchOptions", [invalid("fieldManager", given, "must be no more than 128 bytes")]);
  }
  return given ?? (headers["user-agent"] ?? "").split("/")[0]?.slice(0, 128) ?? "";
}
