// Helpers for status conditions. `lastTransitionTime` changes only when the status changes, not when only the reason or
// the message does. If nothing changed, the helpers return the same array, so that callers can skip the write.
import type { Condition } from "./kinds/kind.ts";
import { formatTime } from "./time.ts";

/**
 * A condition without `lastTransitionTime`, which `setCondition` fills in. Distributes over unions, so that each type
 * keeps its own reasons.
 */
export type StatedCondition<C extends Condition = Condition> = C extends unknown ? Omit<C, "lastTransitionTime"> : never;

export function findCondition<C extends Condition>(conditions: readonly C[] | undefined, type: C["type"]): C | undefined {
  return conditions?.find((condition) => condition.type === type);
}

export function hasCondition(
  conditions: readonly Condition[] | undefined,
  type: string,
  status: Condition["status"] = "True",
): boolean {
  return findCondition(conditions, type)?.status === status;
}

/**
 * Adds the condition, or replaces the one of the same type in its position. Returns the same array if nothing changed.
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
  const after = { ...(stated as Condition), lastTransitionTime } as C;
  if (before === undefined) return [...(conditions ?? []), after];
  return (conditions ?? []).map((condition) => (condition === before ? after : condition));
}

/** Returns the conditions without this one; the same array if there was none of this type. */
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
