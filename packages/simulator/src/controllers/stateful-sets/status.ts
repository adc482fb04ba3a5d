// What a StatefulSet says about itself. `currentRevision` follows `updateRevision` only when every pod has got there.
import type { Pod, StatefulSet, StatefulSetStatus, Stored } from "@memhog/runtime";
import { isAvailable, isGoing, isReady } from "../pods.ts";
import { stated, unlessZero } from "../status.ts";
import { replicasOf, revisionOf } from "./decide.ts";

export function decideStatus(
  set: Stored<StatefulSet>,
  pods: readonly Stored<Pod>[],
  update: string,
  nowMs: number,
): StatefulSetStatus {
  const current = set.status?.currentRevision || update;
  const of = (revision: string) => pods.filter((pod) => revisionOf(pod) === revision && !isGoing(pod)).length;
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
