// What a StatefulSet does next. Its pods have numbers, and by default come and go one at a time, in order:
//
//     too few    the lowest that is missing, once all below it are ready
//     too many   the highest, once all others are ready
//     outdated   the highest with an old template, down to `partition`, once all others are ready
//
// With podManagementPolicy Parallel pods come and go all at once; updates still go one by one.
import type { Pod, StatefulSet, Stored } from "@memhog/runtime";
import { hasEnded, isAvailable, isGoing, isReady } from "../pods.ts";
import { revisionLabel } from "../revisions.ts";

export interface SetSteps {
  /** Numbers of pods to make. */
  readonly create: readonly number[];
  readonly remove: readonly Stored<Pod>[];
}

/** `update`: the hash of today's template. */
export function decideSet(set: Stored<StatefulSet>, pods: readonly Stored<Pod>[], update: string, nowMs: number): SetSteps {
  const { podManagementPolicy, ordinals, minReadySeconds = 0 } = set.spec;
  const first = ordinals?.start ?? 0;
  const beyond = first + replicasOf(set);
  const byNumber = new Map(pods.map((pod) => [ordinalOf(pod), pod]));
  const wanted = Array.from({ length: replicasOf(set) }, (_, at) => first + at);
  const surplus = pods.filter((pod) => ordinalOf(pod) >= beyond || ordinalOf(pod) < first).sort(highestFirst);
  const isSettled = (pod: Stored<Pod> | undefined) =>
    pod !== undefined && isReady(pod) && !isGoing(pod) && isAvailable(pod, minReadySeconds, nowMs);
  const steps = (create: readonly number[], remove: readonly (Stored<Pod> | undefined)[] = []) => ({
    create,
    remove: remove.filter((pod) => pod !== undefined && !isGoing(pod)) as readonly Stored<Pod>[],
  });

  const ended = wanted.map((number) => byNumber.get(number)).filter((pod) => pod !== undefined && hasEnded(pod));
  if (ended.length > 0) return steps([], ended); // made again once they are gone
  const missing = wanted.filter((number) => !byNumber.has(number));
  if (podManagementPolicy === "Parallel") {
    if (missing.length > 0 || surplus.length > 0) return steps(missing, surplus);
  } else {
    const unsettled = wanted.find((number) => !isSettled(byNumber.get(number)));
    if (unsettled !== undefined && missing.includes(unsettled)) return steps([unsettled]);
    if (unsettled !== undefined) return steps([], outdatedAmong([byNumber.get(unsettled)], set, update).filter(isBroken));
    if (surplus.length > 0) return steps([], surplus.some(isGoing) ? [] : [surplus[0]]);
  }
  if (set.spec.updateStrategy?.type === "OnDelete") return steps([]);
  const awaited = wanted.map((number) => byNumber.get(number)).toReversed();
  const outdated = outdatedAmong(awaited, set, update)[0];
  if (outdated === undefined) return steps([]);
  const others = awaited.filter((pod) => pod !== outdated);
  return steps([], others.every(isSettled) ? [outdated] : []);
}

/** Those with an old template, as far as the partition lets them change. */
function outdatedAmong(
  pods: readonly (Stored<Pod> | undefined)[],
  set: Stored<StatefulSet>,
  update: string,
): readonly Stored<Pod>[] {
  const partition = set.spec.updateStrategy?.rollingUpdate?.partition ?? 0;
  return pods.filter((pod): pod is Stored<Pod> => pod !== undefined && ordinalOf(pod) >= partition && hashOf(pod) !== update);
}

/** A pod that never got ready is only replaced by hand in the real one; unless it is not even on a node. */
function isBroken({ spec }: Stored<Pod>): boolean {
  return spec.nodeName === undefined;
}

export function replicasOf({ spec }: Stored<StatefulSet>): number {
  return spec.replicas ?? 1;
}

/** "web-2" is number 2. */
export function ordinalOf({ metadata }: Stored<Pod>): number {
  return Number(/-(\d+)$/.exec(metadata.name)?.[1] ?? -1);
}

export function hashOf({ metadata }: Stored<Pod>): string | undefined {
  return metadata.labels?.[revisionLabel];
}

const highestFirst = (a: Stored<Pod>, b: Stored<Pod>) => ordinalOf(b) - ordinalOf(a);
