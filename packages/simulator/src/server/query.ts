// Query parameters.

import type { JsonObject } from "../json.ts";
import type { ApiRequest, Target } from "./core.ts";
import { invalid, notSupported } from "./field-error.ts";
import { badRequest, invalid as invalidObject, type StatusError } from "./status-error.ts";

export type Query = NonNullable<ApiRequest["query"]>;

/** Returns the value of a parameter, or undefined if it is missing or empty. */
export function textIn(query: Query, name: string): string | undefined {
  const value = query[name];
  return value === undefined || value === "" ? undefined : String(value);
}

/** Parses a boolean as the API server does: any value except "false" and "0" is true. */
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

/** Parses `dryRun`. `options` names the options kind in errors, for example "CreateOptions". */
export function dryRunIn(values: readonly string[], options: string): boolean {
  if (values.some((value) => value !== "All")) {
    throw invalidOptions(options, [notSupported("dryRun", values, ["All"])]);
  }
  return values.length > 0;
}

/** Returns all values of a repeatable parameter. Transports join them with commas. */
export function listIn(query: Query, name: string): readonly string[] {
  return textIn(query, name)?.split(",") ?? [];
}

export function invalidOptions(kind: string, errors: Parameters<typeof invalidObject>[2]): StatusError {
  return invalidObject({ group: "meta.k8s.io", kind }, "", errors);
}

/** Returns the field manager: the `fieldManager` parameter, otherwise the first part of the user agent. */
function fieldManagerOf({ query = {}, headers = {} }: ApiRequest): string {
  const given = textIn(query, "fieldManager");
  if (given !== undefined && given.length > 128) {
    throw invalidOptions("PatchOptions", [invalid("fieldManager", given, "must be no more than 128 bytes")]);
  }
  return given ?? (headers["user-agent"] ?? "").split("/")[0]?.slice(0, 128) ?? "";
}

// The options of a write request.

type FieldValidation = "Ignore" | "Warn" | "Strict";

export interface WriteCall {
  readonly target: Target;
  readonly dryRun: boolean;
  /** The field manager. */
  readonly manager: string;
  /** How to treat unknown and duplicate fields. */
  readonly fieldValidation: FieldValidation;
  /** CreateOptions, UpdateOptions, or PatchOptions, as admission receives them. */
  readonly options: JsonObject;
  /** Adds a Warning header to the response. */
  readonly warn: (text: string) => void;
  /** The write is a server-side apply, which updates managedFields itself. */
  readonly applied?: boolean;
  /** A patch produced the object, so validation errors are reported as errors of the patch. */
  readonly patched?: boolean;
}

type OptionsKind = "CreateOptions" | "UpdateOptions" | "PatchOptions";

/** @throws StatusError */
export function writeCallOf(request: ApiRequest, target: Target, kind: OptionsKind, warn: (text: string) => void): WriteCall {
  const { query = {} } = request;
  const dryRun = listIn(query, "dryRun");
  const fieldManager = textIn(query, "fieldManager");
  const fieldValidation = fieldValidationIn(textIn(query, "fieldValidation"), kind);
  return {
    target,
    dryRun: dryRunIn(dryRun, kind),
    manager: fieldManagerOf(request),
    fieldValidation: fieldValidation ?? "Warn",
    options: {
      kind,
      apiVersion: "meta.k8s.io/v1",
      ...(dryRun.length > 0 && { dryRun }),
      ...(fieldManager && { fieldManager }),
      ...(fieldValidation && { fieldValidation }),
    },
    warn,
  };
}

function fieldValidationIn(value: string | undefined, kind: OptionsKind): FieldValidation | undefined {
  if (value === undefined || value === "Ignore" || value === "Warn" || value === "Strict") return value;
  throw invalidOptions(kind, [notSupported("fieldValidation", value, ["", "Ignore", "Strict", "Warn"])]);
}
