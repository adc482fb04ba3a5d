// Counts and conditions of a Deployment, as `kubectl rollout status` and `kubectl describe` expect them.
import { type Deployment, findCondition, type Stored } from "@memhog/runtime";
import type { Condition, DeploymentStatus, ReplicaSet } from "@memhog/runtime/kinds";
import { formatTime, parseTime } from "@memhog/runtime/objects";
import { stated, unlessZero } from "../workload.ts";
import { boundsOf, type Generations, replicasOf } from "./replica-set-of.ts";

type DeploymentCondition = NonNullable<DeploymentStatus["conditions"]>[number];
type Words = Pick<Condition, "type" | "status" | "reason" | "message">;

export interface Rollout extends Generations {
  /** The ReplicaSet of the current template was just created. */
  readonly created?: string | undefined;
}

export function decideStatus(deployment: Stored<Deployment>, rollout: Rollout, nowMs: number): DeploymentStatus {
  const counts = countsOf(deployment, rollout);
  const conditions = [availability(deployment, counts), progress(deployment, rollout, counts, nowMs), failureIn(rollout)];
  return stated<DeploymentStatus>({ ...counts, conditions: merged(deployment.status?.conditions, conditions, nowMs) });
}

function countsOf(deployment: Stored<Deployment>, { current, old }: Rollout): DeploymentStatus {
  const sets = current === undefined ? old : [...old, current];
  const total = (count: (set: Stored<ReplicaSet>) => number | undefined) => sets.reduce((sum, set) => sum + (count(set) ?? 0), 0);
  const available = total(({ status }) => status?.availableReplicas);
  return stated<DeploymentStatus>({
    observedGeneration: deployment.metadata.generation,
    replicas: unlessZero(total(({ status }) => status?.replicas)),
    updatedReplicas: unlessZero(current?.status?.replicas ?? 0),
    readyReplicas: unlessZero(total(({ status }) => status?.readyReplicas)),
    availableReplicas: unlessZero(available),
    unavailableReplicas: unlessZero(Math.max(0, total(replicasOf) - available)),
    terminatingReplicas: total(({ status }) => status?.terminatingReplicas),
    collisionCount: deployment.status?.collisionCount,
  });
}

function availability(deployment: Stored<Deployment>, { availableReplicas = 0 }: DeploymentStatus): Words {
  return availableReplicas >= replicasOf(deployment) - boundsOf(deployment).maxUnavailable
    ? { type: "Available", status: "True", reason: "MinimumReplicasAvailable", message: "Deployment has minimum availability." }
    : {
        ...{ type: "Available", status: "False", reason: "MinimumReplicasUnavailable" },
        message: "Deployment does not have minimum availability.",
      };
}

/** Undefined if the Progressing condition does not change. */
function progress(deployment: Stored<Deployment>, rollout: Rollout, counts: DeploymentStatus, nowMs: number): Words | undefined {
  const said = progressSaid(deployment);
  const speak = (status: Words["status"], reason: string, message: string) => ({ type: "Progressing", status, reason, message });
  if (deployment.spec.progressDeadlineSeconds === undefined) return undefined;
  if (deployment.spec.paused) return speak("Unknown", "DeploymentPaused", "Deployment is paused");
  if (said?.reason === "DeploymentPaused") return speak("Unknown", "DeploymentResumed", "Deployment is resumed");
  const { created, current } = rollout;
  if (created !== undefined) return speak("True", "NewReplicaSetCreated", `Created new replica set "${created}"`);
  const name = current?.metadata.name ?? deployment.metadata.name;
  if (said === undefined) return speak("True", "FoundNewReplicaSet", `Found new replica set "${name}"`);
  const { replicas = 0, updatedReplicas = 0 } = counts;
  if (said.reason === "NewReplicaSetAvailable" && replicas === updatedReplicas) return said;
  if (isComplete(deployment, counts))
    return speak("True", "NewReplicaSetAvailable", `ReplicaSet "${name}" has successfully progressed.`);
  if (advances(deployment.status ?? {}, counts))
    return speak("True", "ReplicaSetUpdated", `ReplicaSet "${name}" is progressing.`);
  if ((overdueInMs(deployment, nowMs) ?? 1) > 0) return said;
  return speak("False", "ProgressDeadlineExceeded", `ReplicaSet "${name}" has timed out progressing.`);
}

/** All pods have the current template and are available. */
function isComplete(deployment: Stored<Deployment>, counts: DeploymentStatus): boolean {
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0 } = counts;
  return [updatedReplicas, replicas, availableReplicas].every((count) => count === replicasOf(deployment));
}

/** Whether any count has improved. */
function advances(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const grown = (["updatedReplicas", "readyReplicas", "availableReplicas"] as const).some(
    (count) => (after[count] ?? 0) > (before[count] ?? 0),
  );
  const old = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus) => replicas - updatedReplicas;
  return grown || old(after) < old(before);
}

/** How long until progressDeadlineSeconds is exceeded; undefined if no rollout is in progress. */
export function overdueInMs(deployment: Stored<Deployment>, nowMs: number): number | undefined {
  const { progressDeadlineSeconds, paused } = deployment.spec;
  const said = progressSaid(deployment);
  const settled = ["NewReplicaSetAvailable", "ProgressDeadlineExceeded", "DeploymentPaused"];
  if (progressDeadlineSeconds === undefined || paused || said === undefined || settled.includes(said.reason ?? ""))
    return undefined;
  return (parseTime(said.lastUpdateTime) ?? nowMs) + progressDeadlineSeconds * 1_000 - nowMs;
}

function progressSaid({ status }: Stored<Deployment>): DeploymentCondition | undefined {
  return findCondition(status?.conditions, "Progressing");
}

/** The failure of a ReplicaSet to create its pods. */
function failureIn({ current, old }: Rollout): Words | undefined {
  const sets = current === undefined ? old : [current, ...old];
  const failed = sets
    .map(({ status }) => findCondition(status?.conditions, "ReplicaFailure"))
    .find((found) => found !== undefined);
  return (
    failed && {
      type: failed.type,
      status: failed.status,
      ...(failed.reason && { reason: failed.reason }),
      ...(failed.message && { message: failed.message }),
    }
  );
}

/** Removes outdated failure conditions. A changed message counts as an update. */
function merged(
  before: readonly DeploymentCondition[] = [],
  words: readonly (Words | undefined)[],
  nowMs: number,
): readonly DeploymentCondition[] {
  const said = words.filter((each) => each !== undefined).map((each) => spoken(findCondition(before, each.type), each, nowMs));
  const kept = before.filter(({ type }) => type !== "ReplicaFailure" && !said.some((each) => each.type === type));
  // In order of first appearance, as in the real controller.
  const order = [...before.map(({ type }) => type), ...said.map(({ type }) => type)];
  return [...kept, ...said].sort((a, b) => order.indexOf(a.type) - order.indexOf(b.type));
}

function spoken(before: DeploymentCondition | undefined, words: Words, nowMs: number): DeploymentCondition {
  const isProgress = words.reason === "ReplicaSetUpdated";
  if (before !== undefined && before.status === words.status && before.reason === words.reason && !isProgress) return before;
  const now = formatTime(nowMs);
  const { type, status, reason, message } = words;
  const lastTransitionTime = (before?.status === status ? before.lastTransitionTime : undefined) ?? now;
  return { type, status, ...(reason && { reason }), ...(message && { message }), lastUpdateTime: now, lastTransitionTime };
}
