// What an object says about itself. Through /status, by server-side apply under the controller's name, and only if it says
// something new: a status written on every pass would wake its own controller and everyone else who watches.
//
// The status is stated as a whole: what is not stated any more is taken back. Conditions are merged by type: those of
// other writers stay, and `lastTransitionTime` moves only when the status of a condition does.
//
// It may hold more than we state, or something else: fields of a second writer, defaults, values that the server rewrites.
// Then it is stated once, and what came of it is remembered: while the same is stated and the same is there, of what we
// state, it is as good as it gets. A change of it by somebody else is not the same.
import { NotFoundError } from "../client/errors.ts";
import { findCondition, setCondition } from "../objects/condition.ts";
import { equals } from "../objects/diff.ts";
import type { Condition } from "../objects/kinds/common.ts";
import type { Kind, KubernetesObject, Stored } from "../objects/object.ts";
import { sameShape } from "./settled.ts";
import type { Work } from "./work.ts";

interface Reported extends KubernetesObject {
  readonly status?: { readonly conditions?: readonly Condition[]; readonly [field: string]: unknown };
}

/** A status as a reconciler states it. */
export interface StatedStatus {
  readonly conditions?: readonly Omit<Condition, "lastTransitionTime">[];
}

export async function setStatus(work: Work, object: Stored<Reported>, stated: StatedStatus): Promise<void> {
  const status = statusOf(work.kind, object, stated, work.clock.now());
  const wanted = withoutTimes(status);
  if (isReported(work.kind, object.status, status)) return;
  if (work.reported.has(object.metadata.uid, wanted, heldOf(work.kind, status, object.status))) return;
  const { name, namespace, uid } = object.metadata;
  const metadata = { name, ...(namespace !== undefined && { namespace }), uid };
  try {
    const options = { fieldManager: work.fieldManager, force: true, subresource: "status" } as const;
    const answer = await work.client.apply<Reported, "status">(work.kind, { metadata, status }, options);
    const held = work.cacheOf(work.kind).project(answer) as Reported;
    if (isReported(work.kind, held.status, status)) work.reported.forget(uid);
    else work.reported.remember(uid, wanted, heldOf(work.kind, status, held.status));
  } catch (error) {
    // Deleted while we looked at it: nobody is left to be told. (A kind without /status is another kind of 404.)
    if (!(error instanceof NotFoundError) || error.details.name !== name) throw error;
  }
}

/**
 * The whole status, with what the reconciler need not think of. Every kind of `defineResource` knows `observedGeneration`; of
 * others we only know once we see one, and a server refuses to apply a field that a kind does not have.
 */
function statusOf(kind: Kind, object: Stored<Reported>, stated: StatedStatus, nowMs: number): NonNullable<Reported["status"]> {
  const { generation } = object.metadata;
  const observed = (before: object = {}) =>
    generation !== undefined && (isDefinedByUs(kind) || "observedGeneration" in before) ? { observedGeneration: generation } : {};
  const before = object.status?.conditions;
  const conditions = stated.conditions?.flatMap((condition) => {
    const added = observed(findCondition(before, condition.type));
    const after = setCondition<Condition>(before, { ...added, ...condition }, nowMs);
    return after.filter(({ type }) => type === condition.type);
  });
  return { ...observed(object.status), ...stated, ...(conditions && { conditions }) };
}

function isDefinedByUs(kind: Kind): boolean {
  return "definition" in kind;
}

function isReported(kind: Kind, before: Reported["status"], after: NonNullable<Reported["status"]>): boolean {
  const { conditions: had = [], ...rest } = before ?? {};
  const { conditions = [], ...wanted } = after;
  if (before === undefined || !equals(rest, wanted)) return false;
  const has = (condition: Condition) => had.some((other) => equals(other, condition));
  const types = new Set(conditions.map(({ type }) => type));
  return conditions.every(has) && had.every(({ type }) => types.has(type) || !isOurs(kind, type));
}

/** When it was stated is no part of what is stated. */
function withoutTimes(status: NonNullable<Reported["status"]>): object {
  const conditions = status.conditions?.map(({ lastTransitionTime: _, ...condition }) => condition);
  return { ...status, conditions };
}

/** Of a status, what we have a say in: the fields that are stated, and the conditions that are or could be. */
function heldOf(kind: Kind, stated: NonNullable<Reported["status"]>, found: Reported["status"]): object {
  const { conditions, ...fields } = stated;
  const types = new Set(conditions?.map(({ type }) => type));
  const ours = found?.conditions?.filter(({ type }) => types.has(type) || isOurs(kind, type)) ?? [];
  return { fields: sameShape(fields, found ?? {}), conditions: ours.toSorted((a, b) => (a.type < b.type ? -1 : 1)) };
}

/** Conditions that the kind does not define were put there by somebody else. */
function isOurs(kind: Kind, type: string): boolean {
  const { definition } = kind as { readonly definition?: { readonly conditions?: object } };
  return definition?.conditions !== undefined && type in definition.conditions;
}
