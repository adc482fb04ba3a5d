// The seam of patches and managed fields: src/patch/ implements it, the verbs call it. Everything here is pure.
import type { ApiObject, Draft } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";

export type PatchType = "json" | "merge" | "strategic" | "apply";

export interface PatchCall {
  readonly type: PatchType;
  /** Parsed JSON of the request. */
  readonly patch: unknown;
  readonly kind: KindEntry;
  readonly subresource: string | undefined;
  /** What is stored, in the version of `kind`. Undefined only for "apply", which then creates. For `scale` a Scale. */
  readonly live: ApiObject | undefined;
  /** Who asks, for "apply". */
  readonly manager: string;
  readonly force: boolean;
  /** "2026-01-02T03:04:05Z" */
  readonly now: string;
}

export interface UpdateCall {
  readonly kind: KindEntry;
  readonly subresource: string | undefined;
  readonly before: ApiObject | undefined;
  /** Complete, before it is stored; its managedFields are those of `before`. */
  readonly after: ApiObject;
  readonly manager: string;
  /** "2026-01-02T03:04:05Z" */
  readonly now: string;
}

export interface Patching {
  /** The object as patched, with managedFields up to date if the type is "apply". @throws StatusError: 400, 409, 415, 422 */
  patch(call: PatchCall): Draft;
  /** The managedFields of an object after a create, an update or a patch other than "apply". */
  track(call: UpdateCall): readonly unknown[] | undefined;
}
