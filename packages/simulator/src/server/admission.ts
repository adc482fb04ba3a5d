// The seam of admission: what may change or refuse a request after it was understood and before it is stored. The server
// calls a list of them in order, first every `mutate`, then (after defaults and validation) every `validate`.
// Implementations: built-in-admission/ here; LimitRange, ResourceQuota, resize and webhooks in src/admission/.
import type { ObjectRef } from "@memhog/runtime";
import type { ApiObject, Draft, JsonObject } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";

export interface AdmissionRequest {
  readonly operation: "CREATE" | "UPDATE" | "DELETE";
  readonly kind: KindEntry;
  readonly ref: ObjectRef;
  readonly subresource: string | undefined;
  /** Of an update and a deletion. */
  readonly oldObject: ApiObject | undefined;
  /** Nothing will be stored: leave no trace elsewhere either. */
  readonly dryRun: boolean;
  readonly userInfo: UserInfo;
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions as webhooks are shown them. */
  readonly options: JsonObject;
  /** Adds to the Warning headers of the answer. */
  readonly warn?: ((text: string) => void) | undefined;
}

export interface UserInfo {
  readonly username: string;
  readonly groups: readonly string[];
}

export interface Admission {
  /**
   * Writes to the draft, or throws a StatusError to refuse. Not called for deletions. Says whether it may have written: then
   * the draft is read and completed once more.
   */
  mutate?(draft: Draft, request: AdmissionRequest): boolean | Promise<boolean>;
  /** Throws a StatusError to refuse. For a deletion the object is the one to be deleted. */
  validate?(object: ApiObject, request: AdmissionRequest): void | Promise<void>;
}
