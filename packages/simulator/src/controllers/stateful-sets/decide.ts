// The next steps of a StatefulSet. By default its pods are created and deleted one at a time, in order:
//
//     too few    the lowest missing ordinal, once all below it are ready
//     too many   the highest, once all others are ready
//     outdated   the highest with an old template, down to `partition`, once those above it are ready
//
// With podManagementPolicy Parallel, pods are created and deleted at once; updates still go one by one.
import type { Pod, StatefulSet, Stored } from "@memhog/runtime";
import type { StatefulSetStatus } from "@memhog/runtime/kinds";
import { hasEnded, isAvailable, isBeingDeleted, isReady, revisionLabel, stated, unlessZero } from "../workload.ts";

interface SetSteps {
  /** Ordinals of the pods to create. */
  readonly create: readonly number[];
  readonly remove: readonly Stored<Pod>[];
}

/** `update`: the name of the revision of the current template. */
export function decideSet(set: Stored<StatefulSet>, pods: readonly Stored<Pod>[], update: string, nowMs: number): SetSteps {
  const { podManagementPolicy, ordinals, minReadySeconds = 0 } = set.spec;
  const first = ordinals?.start ?? 0;
  const beyond = first + replicasOf(set);
  const byNumber = new Map(pods.map((pod) => [ordinalOf(pod), pod]));
  const wanted = Array.from({ length: replicasOf(set) }, (_, at) => first + at);
  const surplus = pods.filter((pod) => ordinalOf(pod) >= beyond || ordinalOf(pod) < first).sort(highestFirst);
  const isSettled = (pod: Stored<Pod> | undefined) =>
    pod !== undefined && isReady(pod) && !isBeingDeleted(pod) && isAvailable(pod, minReadySeconds, nowMs);
  const steps = (create: readonly number[], remove: readonly (Stored<Pod> | undefined)[] = []) => ({
    create,
    remove: remove.filter((pod) => pod !== undefined && !isBeingDeleted(pod)) as readonly Stored<Pod>[],
  });

  const ended = wanted.map((number) => byNumber.get(number)).filter((pod) => pod !== undefined && hasEnded(pod));
  if (ended.length > 0) return steps([], ended); // created again once they are deleted
  const missing = wanted.filter((number) => !byNumber.has(number));
  if (podManagementPolicy === "Parallel") {
    if (missing.length > 0 || surplus.length > 0) return steps(missing, surplus);
  } else {
    const unsettled = wanted.find((number) => !isSettled(byNumber.get(number)));
    if (unsettled !== undefined && missing.includes(unsettled)) return steps([unsettled]);
    if (unsettled !== undefined) return steps([]);
    if (surplus.length > 0) return steps([], surplus.some(isBeingDeleted) ? [] : [surplus[0]]);
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

/** From the highest ordinal down to the partition: the first pod with an old template, unless one above it is not ready. */
function decideOutdated(
  pods: readonly (Stored<Pod> | undefined)[],
  { spec }: Stored<StatefulSet>,
  update: string,
): Stored<Pod> | undefined {
  const { partition = 0 } = spec.updateStrategy?.rollingUpdate ?? {};
  for (const pod of pods.toReversed()) {
    if (pod === undefined || isBeingDeleted(pod) || ordinalOf(pod) < partition) return undefined;
    if (revisionOf(pod) !== update) return pod;
    if (!isReady(pod)) return undefined;
  }
  return undefined;
}

export function replicasOf({ spec }: Stored<StatefulSet>): number {
  return spec.replicas ?? 1;
}

/** Whether the set should have a pod with this ordinal. */
export function isWanted(set: Stored<StatefulSet>, number: number): boolean {
  const first = set.spec.ordinals?.start ?? 0;
  return number >= first && number < first + replicasOf(set);
}

/** "web-2" has ordinal 2. */
export function ordinalOf({ metadata }: Stored<Pod>): number {
  return Number(/-(\d+)$/.exec(metadata.name)?.[1] ?? -1);
}

/** The name of the revision that the pod was created from. */
export function revisionOf({ metadata }: Stored<Pod>): string | undefined {
  return metadata.labels?.[revisionLabel];
}

const highestFirst = (a: Stored<Pod>, b: Stored<Pod>) => ordinalOf(b) - ordinalOf(a);

// The status of a StatefulSet. `currentRevision` becomes `updateRevision` when every pod is updated and ready.

export function decideStatus(
  set: Stored<StatefulSet>,
  pods: readonly Stored<Pod>[],
  update: string,
  nowMs: number,
): StatefulSetStatus {
  const current = set.status?.currentRevision || update;
  const of = (revision: string) => pods.filter((pod) => revisionOf(pod) === revision && !isBeingDeleted(pod)).length;
  const ready = pods.filter((pod) => isReady(pod)).length;
  const wanted = replicasOf(set);
  const arrived = of(update) === wanted && ready === wanted && pods.length === wanted;
  return stated<StatefulSetStatus>({
    observedGeneration: set.metadata.generation,
    replicas: pods.length,
    readyReplicas: unlessZero(ready),
    availableReplicas: pods.filter((pod) => isAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs)).length,
    currentReplicas: unlessZero(of(arrived ? update : current)),
    updatedReplicas: unlessZero(of(update)),
    currentRevision: arrived ? update : current,
    updateRevision: update,
    collisionCount: 0,
  });
}
