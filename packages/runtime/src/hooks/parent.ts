// The parent of a hook: whether it is selected, its finalizer, and the patches of its metadata and status. All of them are
// compare-and-swap.
import { NotFoundError } from "../client/errors.ts";
import type { ReconcileScope } from "../controller/reconcile.ts";
import { equals, isRecord } from "../objects/diff.ts";
import type { LabelSelector } from "../objects/kinds/kind.ts";
import type { KubernetesObject, Stored } from "../objects/object.ts";
import { matches } from "../objects/selectors.ts";
import type { Json } from "./hook.ts";

export type ParentObject = Stored<KubernetesObject & { readonly spec?: unknown; readonly status?: unknown }>;

/** Which objects a controller handles. */
export interface ParentSelector {
  /** @default all objects */
  readonly labelSelector?: LabelSelector;
  /** Like a label selector, with `matchAnnotations` in place of `matchLabels`. @default all objects */
  readonly annotationSelector?: {
    readonly matchAnnotations?: Readonly<Record<string, string>>;
    readonly matchExpressions?: LabelSelector["matchExpressions"];
  };
}

export function isSelected({ labelSelector = {}, annotationSelector = {} }: ParentSelector, { metadata }: ParentObject): boolean {
  const { matchAnnotations = {}, matchExpressions = [] } = annotationSelector;
  const { annotations = {} } = metadata;
  const exact = Object.entries(matchAnnotations).every(([name, value]) => annotations[name] === value); // not restricted to label values
  return exact && matches(labelSelector, metadata.labels) && matches({ matchExpressions }, annotations);
}

/** What to do with a parent. */
export type Stage = "ignore" | "addFinalizer" | "removeFinalizer" | "sync" | "finalize";

/**
 * | selected | deleted | finalizer | with a finalize hook | without |
 * | -------- | ------- | --------- | -------------------- | ------- |
 * | yes      | no      | no        | addFinalizer         | sync    |
 * | yes      | no      | yes       | sync                 | removeFinalizer (of an earlier version of the controller) |
 * | any      | yes     | yes       | finalize             | removeFinalizer |
 * | no       | no      | yes       | finalize             | removeFinalizer |
 * | any      | yes     | no        | ignore               | ignore: the garbage collector deletes the children |
 * | no       | no      | no        | ignore               | ignore  |
 */
export function stageOf(state: { selected: boolean; deleting: boolean; finalizer: boolean; finalizes: boolean }): Stage {
  const { selected, deleting, finalizer, finalizes } = state;
  if (finalizer) {
    if (!finalizes) return "removeFinalizer";
    return selected && !deleting ? "sync" : "finalize";
  }
  if (!selected || deleting) return "ignore";
  return finalizes ? "addFinalizer" : "sync";
}

/** Patches an object if it is still as it was. Returns it as it is now; undefined if it is gone. */
export async function patchParent(
  scope: ReconcileScope,
  object: ParentObject,
  body: { readonly metadata?: object; readonly status?: object },
  subresource?: "status",
): Promise<ParentObject | undefined> {
  const { resourceVersion, uid } = object.metadata;
  const patch = { type: "merge", body: { ...body, metadata: { ...body.metadata, resourceVersion, uid } } } as const;
  const options = { fieldManager: scope.fieldManager, ...(subresource && { subresource }) };
  try {
    const { metadata } = await scope.client.patch(scope.kind, object.metadata, patch, options);
    return {
      ...object,
      metadata: { ...object.metadata, resourceVersion: (metadata as ParentObject["metadata"]).resourceVersion },
    };
  } catch (error) {
    if (error instanceof NotFoundError && error.details.name === object.metadata.name) return undefined;
    throw error;
  }
}

/**
 * Replaces the status, unless it is already as desired. The server may store less, because the schema lacks a field: then it is written
 * once, until either side changes.
 */
export async function replaceStatus(
  scope: ReconcileScope,
  object: ParentObject,
  status: object,
): Promise<ParentObject | undefined> {
  const { writtenStatuses } = scope.deps;
  const { uid } = object.metadata;
  const wanted = withoutTimes(status);
  if (equals(object.status ?? {}, status) || writtenStatuses.has(uid, wanted, object.status)) return object;
  const updated = await patchParent(scope, object, { status: mergePatch(object.status, status) }, "status");
  if (updated === undefined || equals(updated.status ?? {}, status)) writtenStatuses.forget(uid);
  else writtenStatuses.remember(uid, wanted, updated.status);
  return updated;
}

/** Transition times are not a difference. */
function withoutTimes(status: { readonly conditions?: unknown }): object {
  if (!Array.isArray(status.conditions)) return status;
  return { ...status, conditions: status.conditions.map((one: object) => ({ ...one, lastTransitionTime: undefined })) };
}

/** A merge patch (RFC 7396) that turns one JSON object into the other. */
export function mergePatch(from: unknown, to: object): object {
  const before = isRecord(from) ? from : {};
  const after = to as Json;
  const patch: Json = {};
  for (const key of Object.keys(before)) if (after[key] === undefined) patch[key] = null;
  for (const [key, value] of Object.entries(after)) {
    if (equals(before[key], value)) continue;
    patch[key] = isRecord(value) && isRecord(before[key]) ? mergePatch(before[key], value) : value;
  }
  return patch;
}

/** The finalizers with or without this one. */
export function finalizersOf(
  { metadata }: ParentObject,
  name: string,
  present: boolean,
): { readonly finalizers: readonly string[] } {
  const others = (metadata.finalizers ?? []).filter((other) => other !== name);
  return { finalizers: present ? [...others, name] : others };
}
