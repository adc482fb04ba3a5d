// What the API server asks before it lets a write through (admission.k8s.io/v1), and what can be answered. The shapes on
// the wire are here; webhooks.ts turns an operator's function into an answer, server.ts carries both.
import type { KubernetesObject } from "../objects/object.ts";
import type { JsonPatchOperation } from "./json-patch.ts";

export type AdmissionOperation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** A write that waits for our word. Field meanings: admission.k8s.io/v1 AdmissionRequest. */
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

/** The write may go on. Warnings are shown to whoever made it. */
export interface Allowed {
  readonly allowed: true;
  readonly warnings?: readonly string[];
}

/** The write is refused, and whoever made it is told why. */
export interface Denied {
  readonly allowed: false;
  readonly message: string;
  readonly reason: string;
  readonly code: number;
  readonly causes?: readonly DenialCause[];
  readonly warnings?: readonly string[];
}

/** What is wrong with one field. */
export interface DenialCause {
  /** Where: "spec.replicas". */
  readonly field: string;
  readonly message: string;
  /** "FieldValueInvalid", "FieldValueRequired", … */
  readonly reason?: string;
}

export type Verdict = Allowed | Denied;

/** Lets the write through, perhaps with a word for whoever made it (a line of up to 120 characters each). */
export function allowed(...warnings: readonly string[]): Allowed {
  return warnings.length === 0 ? { allowed: true } : { allowed: true, warnings };
}

export interface DenialOptions {
  /** Fields that are wrong. Naming some makes the refusal a 422 `Invalid`, as the API server's own validation does. */
  readonly causes?: readonly DenialCause[];
  /** Machine-readable reason. @default "Invalid" with causes, else "Forbidden" */
  readonly reason?: string;
  /** HTTP status of the refused write. @default 422 with causes, else 403 */
  readonly code?: number;
  readonly warnings?: readonly string[];
}

/** Refuses the write. `kubectl` shows the message, so it should say what was expected and what was found. */
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

/** An answer as it travels. */
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

/** A verdict as it travels, with the changes a mutating webhook wants. */
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
