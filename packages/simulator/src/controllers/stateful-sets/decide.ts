// What a StatefulSet does next. Its pods have numbers, and by default come and go one at a time, in order:
//
//     too few    the lowest that is missing, once all below it are ready
//     too many   the highest, once all others are ready
//     outdated   the highest with an old template, down to `partition`, once those above it are ready
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

/** `update`: the name of the revision of today's template. */
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
    if (unsettled !== undefined) return steps([]);
    if (surplus.length > 0) return steps([], surplus.some(isGoing) ? [] : [surplus[0]]);
  }
  if (set.spec.updateStrategy?.type === "OnDelete") return steps([]);
  return steps(
    [],
    [
      decideOutdated(
        wanted.map((number) => byNumber.get(number)),
        set,
        update,
      ),
    ],
  );
}

/** From the highest down to the partition: the first with an old template, unless one above it is not ready. */
function decideOutdated(
  pods: readonly (Stored<Pod> | undefined)[],
  { spec }: Stored<StatefulSet>,
  update: string,
): Stored<Pod> | undefined {
  const { partition = 0 } = spec.updateStrategy?.rollingUpdate ?? {};
  for (const pod of pods.toReversed()) {
    if (pod === undefined || isGoing(pod) || ordinalOf(pod) < partition) return undefined;
    if (revisionOf(pod) !== update) return pod;
    if (!isReady(pod)) return undefined;
  }
  return undefined;
}

export function replicasOf({ spec }: Stored<StatefulSet>): number {
  return spec.replicas ?? 1;
}

/** "web-2" is number 2. */
export function ordinalOf({ metadata }: Stored<Pod>): number {
  return Number(/-(\d+)$/.exec(metadata.name)?.[1] ?? -1);
}

/** The name of the revision it was made from. */
export function revisionOf({ metadata }: Stored<Pod>): string | undefined {
  return metadata.labels?.[revisionLabel];
}

const highestFirst = (a: Stored<Pod>, b: Stored<Pod>) => ordinalOf(b) - ordinalOf(a);
