// The circumstances of a write, read from its request once.
import type { JsonObject } from "../json.ts";
import type { Target } from "./core.ts";
import { notSupported } from "./field-error.ts";
import type { ApiRequest } from "./handler.ts";
import { dryRunIn, fieldManagerOf, invalidOptions, listIn, textIn } from "./query.ts";

export type FieldValidation = "Ignore" | "Warn" | "Strict";

export interface WriteCall {
  readonly target: Target;
  readonly dryRun: boolean;
  /** Who the fields shall belong to. */
  readonly manager: string;
  /** What to do about fields that nobody knows. */
  readonly fieldValidation: FieldValidation;
  /** CreateOptions and their kin, as admission is shown them. */
  readonly options: JsonObject;
  /** Adds to the Warning headers of the answer. */
  readonly warn: (text: string) => void;
  /** The change is server-side apply, which keeps managedFields itself. */
  readonly applied?: boolean;
  /** The object is made by a patch, so what is wrong with it is wrong with the patch. */
  readonly patched?: boolean;
}

export type OptionsKind = "CreateOptions" | "UpdateOptions" | "PatchOptions";

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
