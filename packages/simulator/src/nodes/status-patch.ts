// From one status to another, as a strategic merge patch: only what differs is sent, and what others wrote (conditions of
// schedulers and evictors) is left alone. Sent as a patch rather than as a whole, because a kubelet that loses every race
// for its own pods would never get a word in.
import { equals, type PodCondition, type PodStatus } from "@memhog/runtime";
import { passing } from "./pod-conditions.ts";

/** Undefined: there is nothing to say. */
export function statusPatch(before: PodStatus, after: PodStatus): object | undefined {
  const { conditions: had = [], ...rest } = before;
  const { conditions = [], ...wanted } = after;
  const fields = merging(rest, wanted);
  const entries = [...conditions.flatMap((condition) => entryFor(had, condition)), ...deletions(had, conditions)];
  if (fields === undefined && entries.length === 0) return undefined;
  const order = conditions.map(({ type }) => ({ type }));
  return { ...fields, ...(entries.length > 0 && { "$setElementOrder/conditions": order, conditions: entries }) };
}

function entryFor(had: readonly PodCondition[], condition: PodCondition): readonly object[] {
  const before = had.find(({ type }) => type === condition.type);
  if (before === undefined) return [condition];
  const changes = merging(withoutNulls(before), withoutNulls(condition), { removing: true });
  return changes === undefined ? [] : [{ type: condition.type, ...changes }];
}

function deletions(had: readonly PodCondition[], conditions: readonly PodCondition[]): readonly object[] {
  const has = (all: readonly PodCondition[], type: string) => all.some((condition) => condition.type === type);
  const gone = passing.filter((type) => has(had, type) && !has(conditions, type));
  return gone.map((type) => ({ $patch: "delete", type }));
}

/** What merges the one into the other; undefined if it is the same. Lists are replaced. */
function merging(before: object, after: object, { removing = false } = {}): object | undefined {
  const old = before as Readonly<Record<string, unknown>>;
  const changed = Object.entries(after).flatMap(([name, value]) => {
    const was = old[name];
    if (equals(was, value)) return [];
    const within = isRecord(was) && isRecord(value) ? merging(was, value, { removing: true }) : value;
    return within === undefined ? [] : [[name, within] as const];
  });
  const removed = removing ? Object.keys(old).filter((name) => !(name in after)) : [];
  if (changed.length === 0 && removed.length === 0) return undefined;
  return Object.fromEntries([...changed, ...removed.map((name) => [name, null] as const)]);
}

function withoutNulls(condition: object): object {
  return Object.fromEntries(Object.entries(condition).filter(([, value]) => value !== null && value !== undefined));
}

function isRecord(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
