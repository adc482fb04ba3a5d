// Writing the status of an object: through /status, by server-side apply under the controller's name, and only if it changes
// anything. A status that is written on every reconcile would trigger its own controller and everyone else who watches.
//
// `setStatus` replaces what the previous `setStatus` of the controller set: fields that are no longer set are removed, also by a
// second call in the same reconcile. `patchStatus` changes only the fields it names, and they stay until it removes them. Both
// merge conditions by type: those of other writers stay, and `lastTransitionTime` changes only with the status of the condition.
//
//     setStatus({ phase: "Backup", step: 2 })     phase Backup, step 2
//     setStatus({ phase: "Ready" })               phase Ready
//     patchStatus({ step: 3 })                    phase Ready, step 3
//     setStatus({ phase: "Failed" })              phase Failed, step 3
//     patchStatus({ step: null })                 phase Failed
//
// The stored status can differ from what we set: fields of another writer, defaults, values that the server rewrites. Then it
// is written once and the result is remembered (settled.ts), until either the desired status or the stored one changes.
import { NotFoundError } from "../client/errors.ts";
import { findCondition, setCondition } from "../objects/condition.ts";
import { equals, isRecord } from "../objects/diff.ts";
import type { Condition } from "../objects/kinds/kind.ts";
import type { Kind, KubernetesObject, Stored } from "../objects/object.ts";
import type { ReconcileScope } from "./reconcile.ts";
import { sameShape } from "./settled.ts";

interface WithStatus extends KubernetesObject {
  readonly status?: { readonly conditions?: readonly Condition[]; readonly [field: string]: unknown };
}

/** A status as a reconcile function sets it. */
export interface StatusToSet {
  readonly conditions?: readonly Omit<Condition, "lastTransitionTime">[];
}

/** Fields of a status to change; null removes one. */
export interface StatusPatch extends Omit<StatusToSet, "conditions"> {
  readonly conditions?: StatusToSet["conditions"] | null;
}

/** Changes the fields that the patch names, if they differ. A compare-and-swap: the list of conditions is written whole. */
export async function patchStatus(scope: ReconcileScope, given: Stored<WithStatus>, input: StatusPatch): Promise<void> {
  const object = scope.latest(given);
  const { conditions: named, ...fields } = input;
  const patch = { ...fields, ...(named && { conditions: conditionsWith(scope, object, named) }) };
  if (isMerged(patch, object.status ?? {})) return;
  const { uid, resourceVersion } = object.metadata;
  const body = { metadata: { uid, resourceVersion }, status: patch };
  const options = { fieldManager: scope.fieldManager, subresource: "status" } as const;
  await unlessDeleted(object, async () => {
    scope.remember(await scope.client.patch(scope.kind, object.metadata, { type: "merge", body }, options));
  });
}

function conditionsWith(
  { kind, clock }: ReconcileScope,
  object: Stored<WithStatus>,
  named: NonNullable<StatusToSet["conditions"]>,
) {
  const { conditions = [] } = statusOf(kind, object, { conditions: named }, clock.now());
  const types = new Set(conditions.map(({ type }) => type));
  const others = object.status?.conditions?.filter(({ type }) => !types.has(type)) ?? [];
  const order = [...(object.status?.conditions ?? []), ...conditions].map(({ type }) => type);
  return [...others, ...conditions].toSorted((a, b) => order.indexOf(a.type) - order.indexOf(b.type));
}

/** Whether a merge patch (RFC 7386) changes nothing. */
function isMerged(patch: unknown, actual: unknown): boolean {
  if (patch === undefined) return true;
  if (patch === null) return actual === undefined || actual === null;
  if (!isRecord(patch)) return equals(patch, actual);
  return isRecord(actual) && Object.keys(patch).every((key) => isMerged(patch[key], actual[key]));
}

/** The object may be deleted meanwhile. (For a kind without /status the server answers 404 without the name.) */
async function unlessDeleted({ metadata }: Stored<WithStatus>, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!(error instanceof NotFoundError) || error.details.name !== metadata.name) throw error;
  }
}

export async function setStatus(scope: ReconcileScope, given: Stored<WithStatus>, input: StatusToSet): Promise<void> {
  const object = scope.latest(given);
  const status = statusOf(scope.kind, object, input, scope.clock.now());
  const wanted = withoutTimes(status);
  if (isWritten(scope.kind, object.status, status)) return;
  if (scope.deps.writtenStatuses.has(object.metadata.uid, wanted, managedPart(scope.kind, status, object.status))) return;
  const { name, namespace, uid } = object.metadata;
  const metadata = { name, ...(namespace !== undefined && { namespace }), uid };
  const options = { fieldManager: scope.fieldManager, force: true, subresource: "status" } as const;
  await unlessDeleted(object, async () => {
    const answer = await scope.client.apply<WithStatus, "status">(scope.kind, { metadata, status }, options);
    const stored = scope.remember(answer);
    if (isWritten(scope.kind, stored.status, status)) scope.deps.writtenStatuses.forget(uid);
    else scope.deps.writtenStatuses.remember(uid, wanted, managedPart(scope.kind, status, stored.status));
  });
}

/**
 * Adds observedGeneration and transition times. Every kind of `defineResource` has `observedGeneration`. For other kinds it is
 * set only if the stored status has it already, because the server rejects an apply with an unknown field.
 */
function statusOf(kind: Kind, object: Stored<WithStatus>, input: StatusToSet, nowMs: number): NonNullable<WithStatus["status"]> {
  const { generation } = object.metadata;
  const observed = (before: object = {}) =>
    generation !== undefined && (isDefinedResource(kind) || "observedGeneration" in before)
      ? { observedGeneration: generation }
      : {};
  const before = object.status?.conditions;
  const conditions = input.conditions?.flatMap((condition) => {
    const added = observed(findCondition(before, condition.type));
    const after = setCondition<Condition>(before, { ...added, ...condition }, nowMs);
    return after.filter(({ type }) => type === condition.type);
  });
  return { ...observed(object.status), ...input, ...(conditions && { conditions }) };
}

function isDefinedResource(kind: Kind): boolean {
  return "definition" in kind;
}

function isWritten(kind: Kind, before: WithStatus["status"], after: NonNullable<WithStatus["status"]>): boolean {
  const { conditions: had = [], ...rest } = before ?? {};
  const { conditions = [], ...wanted } = after;
  if (before === undefined || !equals(rest, wanted)) return false;
  const has = (condition: Condition) => had.some((other) => equals(other, condition));
  const types = new Set(conditions.map(({ type }) => type));
  return conditions.every(has) && had.every(({ type }) => types.has(type) || !isOurs(kind, type));
}

/** Transition times do not count as a difference. */
function withoutTimes(status: NonNullable<WithStatus["status"]>): object {
  const conditions = status.conditions?.map(({ lastTransitionTime: _, ...condition }) => condition);
  return { ...status, conditions };
}

/** The part of a status that this controller manages: the fields it sets, and the conditions that it sets or that the kind defines. */
function managedPart(kind: Kind, desired: NonNullable<WithStatus["status"]>, found: WithStatus["status"]): object {
  const { conditions, ...fields } = desired;
  const types = new Set(conditions?.map(({ type }) => type));
  const ours = found?.conditions?.filter(({ type }) => types.has(type) || isOurs(kind, type)) ?? [];
  return { fields: sameShape(fields, found ?? {}), conditions: ours.toSorted((a, b) => (a.type < b.type ? -1 : 1)) };
}

/** Conditions that the kind does not define belong to other writers. */
function isOurs(kind: Kind, type: string): boolean {
  const { definition } = kind as { readonly definition?: { readonly conditions?: object } };
  return definition?.conditions !== undefined && Object.hasOwn(definition.conditions, type);
}
