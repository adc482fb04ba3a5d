// The types of admission.k8s.io/v1 and the functions that build a response. webhooks.ts turns an operator's function into a
// response; server.ts sends it.

import { isDeepStrictEqual } from "node:util";
import type { KubernetesObject } from "../objects/object.ts";

export type AdmissionOperation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** An admission request. Field meanings: admission.k8s.io/v1 AdmissionRequest. */
export interface AdmissionRequest<T extends KubernetesObject = KubernetesObject> {
  readonly uid: string;
  readonly kind: GroupVersionKind;
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string };
  readonly subResource?: string;
  /** Absent on a create with generateName. */
  readonly name?: string;
  readonly namespace?: string;
  readonly operation: AdmissionOperation;
  readonly userInfo: {
    readonly username?: string;
    readonly uid?: string;
    readonly groups?: readonly string[];
    readonly extra?: Readonly<Record<string, readonly string[]>>;
  };
  /** Null on DELETE. */
  readonly object?: T | null;
  /** Null on CREATE. */
  readonly oldObject?: T | null;
  readonly dryRun?: boolean;
  readonly options?: unknown;
}

/** Allows the write. The client that made it receives the warnings. */
export interface Allowed {
  readonly allowed: true;
  readonly warnings?: readonly string[];
}

/** Rejects the write with a message for the client that made it. */
export interface Denied {
  readonly allowed: false;
  readonly message: string;
  readonly reason: string;
  readonly code: number;
  readonly causes?: readonly DenialCause[];
  readonly warnings?: readonly string[];
}

/** Describes an error in one field. */
export interface DenialCause {
  /** Path of the field: "spec.replicas". */
  readonly field: string;
  readonly message: string;
  /** "FieldValueInvalid", "FieldValueRequired", … */
  readonly reason?: string;
}

export type Verdict = Allowed | Denied;

/** Allows the write, optionally with warnings for the client (up to 120 characters each). */
export function allowed(...warnings: readonly string[]): Allowed {
  return warnings.length === 0 ? { allowed: true } : { allowed: true, warnings };
}

export interface DenialOptions {
  /** Invalid fields. If there are any, the response is a 422 `Invalid`, as in the API server's own validation. */
  readonly causes?: readonly DenialCause[];
  /** Machine-readable reason. @default "Invalid" with causes, else "Forbidden" */
  readonly reason?: string;
  /** HTTP status of the rejected write. @default 422 with causes, else 403 */
  readonly code?: number;
  readonly warnings?: readonly string[];
}

/** Rejects the write. `kubectl` shows the message, so it should state what was expected and what was found. */
export function denied(message: string, options: DenialOptions = {}): Denied {
  const invalid = (options.causes ?? []).length > 0;
  return {
    allowed: false,
    message,
    reason: options.reason ?? (invalid ? "Invalid" : "Forbidden"),
    code: options.code ?? (invalid ? 422 : 403),
    ...(options.causes === undefined ? {} : { causes: options.causes }),
    ...(options.warnings === undefined ? {} : { warnings: options.warnings }),
  };
}

/** An AdmissionResponse as sent to the API server. */
export interface AdmissionResponse {
  readonly uid: string;
  readonly allowed: boolean;
  readonly status?: {
    readonly message: string;
    readonly reason: string;
    readonly code: number;
    readonly details?: { readonly causes: readonly DenialCause[] };
  };
  readonly warnings?: readonly string[];
  readonly patchType?: "JSONPatch";
  readonly patch?: string;
}

/** Builds the AdmissionResponse for a decision, with the patch of a mutating webhook. */
export function responseOf(uid: string, verdict: Verdict, patch: readonly JsonPatchOperation[] = []): AdmissionResponse {
  const warnings = verdict.warnings === undefined ? {} : { warnings: verdict.warnings };
  if (verdict.allowed) return { uid, allowed: true, ...warnings, ...encodedPatch(patch) };
  const { message, reason, code, causes } = verdict;
  return {
    uid,
    allowed: false,
    ...warnings,
    status: { message, reason, code, ...(causes === undefined ? {} : { details: { causes } }) },
  };
}

function encodedPatch(patch: readonly JsonPatchOperation[]): Pick<AdmissionResponse, "patch" | "patchType"> {
  if (patch.length === 0) return {};
  return { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patch)).toString("base64") };
}

// A mutating webhook responds with a JSON patch (RFC 6902). Handlers return the object they want; the functions below compute
// the patch from it.

export type JsonPatchOperation =
  | { readonly op: "add" | "replace"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string };

/** Returns the operations that turn `from` into `to`; none if they are equal. Undefined fields count as absent. */
export function jsonPatch(from: unknown, to: unknown): readonly JsonPatchOperation[] {
  return between(asJson(from), asJson(to), "");
}

/** The value as JSON encodes it: no undefined, no functions, dates as strings. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

function between(from: unknown, to: unknown, path: string): readonly JsonPatchOperation[] {
  if (isDeepStrictEqual(from, to)) return [];
  if (Array.isArray(from) && Array.isArray(to)) return betweenLists(from, to, path);
  if (isFields(from) && isFields(to)) return betweenFields(from, to, path);
  return [{ op: "replace", path, value: to }];
}

function betweenFields(from: Fields, to: Fields, path: string): readonly JsonPatchOperation[] {
  const removed = Object.keys(from).filter((name) => !Object.hasOwn(to, name));
  return [
    ...removed.map((name) => ({ op: "remove" as const, path: below(path, name) })),
    ...Object.entries(to).flatMap(([name, value]) =>
      Object.hasOwn(from, name)
        ? between(from[name], value, below(path, name))
        : [{ op: "add" as const, path: below(path, name), value }],
    ),
  ];
}

/**
 * Keeps equal items at both ends, changes the items between them by index, then adds or removes the difference in length. A
 * container added at the start or the end is therefore one operation.
 */
function betweenLists(from: readonly unknown[], to: readonly unknown[], path: string): readonly JsonPatchOperation[] {
  const start = commonLength(from, to);
  const end = commonLength(from.slice(start).reverse(), to.slice(start).reverse());
  const before = from.slice(start, from.length - end);
  const after = to.slice(start, to.length - end);
  const both = Math.min(before.length, after.length);
  const changed = after.slice(0, both).flatMap((item, i) => between(before[i], item, below(path, start + i)));
  const added = after.slice(both).map((value, i) => ({ op: "add" as const, path: below(path, start + both + i), value }));
  // Each removal moves the next item to the same index.
  const removed = before.slice(both).map(() => ({ op: "remove" as const, path: below(path, start + both) }));
  return [...changed, ...added, ...removed];
}

function commonLength(a: readonly unknown[], b: readonly unknown[]): number {
  const differsAt = a.findIndex((item, i) => i >= b.length || !isDeepStrictEqual(item, b[i]));
  return differsAt === -1 ? a.length : differsAt;
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

/** Appends a name to a JSON pointer, with "~" and "/" escaped (RFC 6901). */
const below = (path: string, name: string | number): string =>
  `${path}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
