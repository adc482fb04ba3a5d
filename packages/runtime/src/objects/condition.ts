// Conditions: what an object says about itself, in a form that people and `kubectl wait` read. The rule that is easy to
// get wrong is the time: `lastTransitionTime` moves when the *status* changes and not when only the words do. And a
// status that has not changed must not be written, so nothing changed means the very same array.
import type { Condition } from "./kinds/common.ts";
import { formatTime } from "./time.ts";

/** A condition as a reconciler states it; the time is filled in. Of a union each member by itself: only its own pairs are legal. */
export type StatedCondition<C extends Condition = Condition> = C extends unknown ? Omit<C, "lastTransitionTime"> : never;

/** The condition of this type, if there is one. */
export function findCondition<C extends Condition>(conditions: readonly C[] | undefined, type: C["type"]): C | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Whether there is a condition of this type with this status. */
export function hasCondition(
  conditions: readonly Condition[] | undefined,
  type: string,
  status: Condition["status"] = "True",
): boolean {
  return findCondition(conditions, type)?.status === status;
}

/**
 * The conditions with this one stated, in its old place or at the end. The same array if it was there just so.
 *
 *     const conditions = setCondition(status.conditions, { type: "Ready", status: "True", reason: "AllPodsRunning", message: "" }, clock.now());
 */
export function setCondition<C extends Condition>(
  conditions: readonly C[] | undefined,
  stated: StatedCondition<C>,
  nowMs: number,
): readonly C[] {
  const before = findCondition(conditions, stated.type);
  if (before !== undefined && conditions !== undefined && saysTheSame(before, stated)) return conditions;
  const lastTransitionTime = (before?.status === stated.status ? before.lastTransitionTime : undefined) ?? formatTime(nowMs);
  const after = { ...stated, lastTransitionTime } as unknown as C;
  if (before === undefined) return [...(conditions ?? []), after];
  return (conditions ?? []).map((condition) => (condition === before ? after : condition));
}

/** The conditions without this one. The same array if it was not there. */
export function removeCondition<C extends Condition>(
  conditions: readonly C[] | undefined,
  type: C["type"],
): readonly C[] | undefined {
  return findCondition(conditions, type) === undefined ? conditions : conditions?.filter((condition) => condition.type !== type);
}

function saysTheSame(before: Condition, stated: StatedCondition): boolean {
  return (
    before.lastTransitionTime !== undefined &&
    before.status === stated.status &&
    before.reason === stated.reason &&
    (before.message ?? "") === (stated.message ?? "") &&
    before.observedGeneration === stated.observedGeneration
  );
}
