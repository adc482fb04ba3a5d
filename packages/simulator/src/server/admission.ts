// Admission: plugins that change or reject a request after decoding and before storage. The server runs every `mutate` in order
// and, after defaulting and validation, every `validate`. Implementations: built-in-admission.ts, and LimitRange, ResourceQuota,
// resize, and webhooks in src/admission/.
import type { ObjectRef } from "@memhog/runtime";
import type { ApiObject, Draft, JsonObject } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";
import type { ServerCore, Target } from "./core.ts";

export interface AdmissionRequest {
  readonly operation: "CREATE" | "UPDATE" | "DELETE";
  readonly kind: KindEntry;
  readonly ref: ObjectRef;
  readonly subresource: string | undefined;
  /** Set for an update or a deletion. */
  readonly oldObject: ApiObject | undefined;
  /** The server stores nothing. Plugins must have no side effects. */
  readonly dryRun: boolean;
  readonly userInfo: UserInfo;
  /** CreateOptions, UpdateOptions, PatchOptions, or DeleteOptions, as webhooks receive them. */
  readonly options: JsonObject;
  /** Adds a Warning header to the response. */
  readonly warn?: ((text: string) => void) | undefined;
}

export interface UserInfo {
  readonly username: string;
  readonly groups: readonly string[];
}

export interface Admission {
  /**
   * Changes the draft, or throws a StatusError to reject the request. Not called for deletions. Returns true if it may have
   * changed the draft; the server then decodes it and sets defaults again.
   */
  mutate?(draft: Draft, request: AdmissionRequest): boolean | Promise<boolean>;
  /** Throws a StatusError to reject the request. For a deletion, `object` is the object to delete. */
  validate?(object: ApiObject, request: AdmissionRequest): void | Promise<void>;
}

// Runs the plugins in order.

/** The simulator treats every client as this user. */
export const admin: UserInfo = { username: "admin", groups: ["system:masters", "system:authenticated"] };

export interface AdmissionContext {
  readonly operation: AdmissionRequest["operation"];
  readonly target: Target;
  readonly old: ApiObject | undefined;
  readonly dryRun: boolean;
  readonly options: JsonObject;
  readonly warn?: ((text: string) => void) | undefined;
}

/** Runs mutating admission. Returns true if a plugin may have changed the draft. @throws StatusError */
export async function runMutating(core: ServerCore, context: AdmissionContext, draft: Draft): Promise<boolean> {
  const request = requestOf(context, draft.metadata.name);
  let changed = false;
  for (const admission of core.admissions) if (await admission.mutate?.(draft, request)) changed = true;
  return changed;
}

/** Runs validating admission. @throws StatusError */
export async function runValidating(core: ServerCore, context: AdmissionContext, object: ApiObject): Promise<void> {
  const request = requestOf(context, object.metadata.name);
  for (const admission of core.admissions) await admission.validate?.(object, request);
}

function requestOf({ operation, target, old, dryRun, options, warn }: AdmissionContext, name = ""): AdmissionRequest {
  const { kind, namespace, subresource } = target;
  return {
    operation,
    kind,
    ref: namespace === undefined ? { name } : { namespace, name },
    subresource,
    oldObject: old,
    dryRun,
    userInfo: admin,
    options,
    warn,
  };
}
