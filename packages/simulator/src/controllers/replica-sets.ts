// ReplicaSets: creates missing pods and deletes surplus ones, least valuable first.
import {
  allow,
  controller,
  done,
  findCondition,
  type ObjectRef,
  type Outcome,
  Pod,
  requeueAfter,
  type Stored,
} from "@memhog/runtime";
import type { Change } from "@memhog/runtime/cache";
import { type Condition, ReplicaSet, type ReplicaSetStatus } from "@memhog/runtime/kinds";
import { controllerOf, equals, parseTime, removeCondition, setCondition } from "@memhog/runtime/objects";
import { adoptersOf, claimOwned, orphanPods } from "./adoption.ts";
import {
  hasEnded,
  isActive,
  isAvailable,
  isBeingDeleted,
  isReady,
  nextAvailableInMs,
  podFrom,
  rejectionOf,
  rejectionRetry,
  report,
  stated,
  unlessZero,
} from "./workload.ts";

export const replicaSets = controller(
  ReplicaSet,
  {
    name: "replicaset",
    // Not `owns`: a pod changes many times until it is ready, and most of these changes do not matter here.
    watches: [
      {
        kind: Pod,
        predicate: countsDifferently,
        map: (pod, cached) => [...ownerOf(pod), ...adoptersOf(ReplicaSet, pod, cached)],
      },
    ],
    permissions: [
      allow(Pod, "create", "delete", "patch"),
      allow(ReplicaSet, "get"),
      allow(ReplicaSet, "update", { subresource: "status" }),
    ],
    concurrency: 4,
  },
  async (ref, ctx): Promise<Outcome> => {
    const known = ctx.get(ReplicaSet, ref);
    if (known !== undefined && isOnlyCounting(known, ctx.list(Pod, { ownedBy: known }))) {
      await ctx.clock.sleep(countAfterMs, ctx.signal);
    }
    const set = ctx.get(ReplicaSet, ref);
    if (set === undefined) return done();
    const orphans = ctx.lookup(orphanPods, set.metadata.namespace ?? "").filter((pod) => !hasEnded(pod));
    const owned = ctx.list(Pod, { ownedBy: set });
    const pods = await claimOwned(set, ReplicaSet, {
      owned,
      orphans,
      patch: (pod, patch) => ctx.client.patch(Pod, pod, patch),
      readOwner: () => ctx.client.find(ReplicaSet, ref),
    });
    const { create, remove } = isBeingDeleted(set) ? nothing : decideReplicas(set, pods);
    let failure: Failure | undefined;
    try {
      for (let made = 0; made < create; made += 1) {
        const pod = await ctx.client.create(Pod, podOf(set));
        ctx.event(set, { reason: "SuccessfulCreate", message: `Created pod: ${pod.metadata.name}` });
      }
      for (const pod of remove) {
        const { uid, name } = pod.metadata;
        await ctx.client.delete(Pod, pod.metadata, { uid });
        ctx.event(set, { reason: "SuccessfulDelete", message: `Deleted pod: ${name}` });
      }
    } catch (error) {
      const { message } = rejectionOf(error);
      failure = { reason: "FailedCreate", message };
      ctx.event(set, { type: "Warning", reason: "FailedCreate", message: `Error creating: ${message}` });
    }
    const now = ctx.clock.now();
    const status = decideStatus(set, pods, failure, now);
    await report(set, status, (next) => ctx.client.update(ReplicaSet, next, { subresource: "status" }));
    if (failure !== undefined) return requeueAfter(rejectionRetry, "pods were refused");
    const inMs = nextAvailableInMs(pods, set.spec.minReadySeconds ?? 0, now);
    return inMs === undefined ? done() : requeueAfter(inMs, "a ready pod counts as available later");
  },
);

function ownerOf(pod: Stored<Pod>): readonly ObjectRef[] {
  const owner = controllerOf(pod);
  const { namespace } = pod.metadata;
  return owner?.kind === "ReplicaSet" ? [{ ...(namespace !== undefined && { namespace }), name: owner.name }] : [];
}

/** Whether a change of a pod affects the ReplicaSet. */
function countsDifferently({ type, object, previous }: Change<Pod>): boolean {
  if (type !== "changed" || previous === undefined) return true;
  const asCounted = (pod: Stored<Pod>) => [
    isActive(pod),
    isBeingDeleted(pod),
    readySince(pod),
    pod.metadata.labels,
    pod.metadata.ownerReferences,
  ];
  return !equals(asCounted(object), asCounted(previous));
}

function readySince(pod: Stored<Pod>): string | undefined {
  return isReady(pod) ? findCondition(pod.status?.conditions, "Ready")?.lastTransitionTime : undefined;
}

/**
 * Milliseconds between a pod becoming ready and the status update. Many pods become ready at about the same time, so one
 * update counts many of them, as in the real controller. Otherwise a thousand pods would cause a thousand updates.
 */
const countAfterMs = 10;

/** Nothing to create or delete and an existing status: only the counts may change. */
function isOnlyCounting(set: Stored<ReplicaSet>, pods: readonly Stored<Pod>[]): boolean {
  if (set.status?.observedGeneration !== set.metadata.generation) return false;
  const { create, remove } = decideReplicas(set, pods);
  return create === 0 && remove.length === 0;
}

const nothing = { create: 0, remove: [] };

interface ReplicaSteps {
  readonly create: number;
  /** The least valuable pods. */
  readonly remove: readonly Stored<Pod>[];
}

/** Terminated pods and pods that are being deleted do not count: they are replaced immediately. */
export function decideReplicas(set: Stored<ReplicaSet>, pods: readonly Stored<Pod>[]): ReplicaSteps {
  const active = pods.filter(isActive);
  const missing = (set.spec.replicas ?? 1) - active.length;
  return { create: Math.max(missing, 0), remove: missing < 0 ? leastMissed(active).slice(0, -missing) : [] };
}

type Order = (pod: Stored<Pod>) => number | string;

/** Sort keys in order; lower values are deleted first. Ages are reversed: of two equal pods the younger is deleted. */
const missedBy: readonly Order[] = [
  ({ spec }) => (spec.nodeName === undefined ? 0 : 1),
  ({ status }) => ["Pending", "Unknown", "Running"].indexOf(status?.phase ?? "Pending"),
  (pod) => (isReady(pod) ? 1 : 0),
  ({ metadata }) => Number(metadata.annotations?.["controller.kubernetes.io/pod-deletion-cost"] ?? 0) || 0,
  ({ status }) => -(status?.containerStatuses ?? []).reduce((most, { restartCount = 0 }) => Math.max(most, restartCount), 0),
  ({ metadata }) => -(parseTime(metadata.creationTimestamp) ?? 0),
  ({ metadata }) => metadata.name,
];

function leastMissed(pods: readonly Stored<Pod>[]): readonly Stored<Pod>[] {
  return [...pods].sort((a, b) => {
    for (const order of missedBy) {
      const [one, other] = [order(a), order(b)];
      if (one !== other) return one < other ? -1 : 1;
    }
    return 0;
  });
}

function podOf(set: Stored<ReplicaSet>): Pod {
  const { template } = set.spec;
  return podFrom(template ?? { spec: { containers: [] } }, set, ReplicaSet);
}

export interface Failure {
  readonly reason: string;
  readonly message: string;
}

export function decideStatus(
  set: Stored<ReplicaSet>,
  pods: readonly Stored<Pod>[],
  failure: Failure | undefined,
  nowMs: number,
): ReplicaSetStatus {
  const { template, minReadySeconds = 0 } = set.spec;
  const labels = Object.entries(template?.metadata?.labels ?? {});
  const isLabelled = ({ metadata }: Stored<Pod>) => labels.every(([key, value]) => metadata.labels?.[key] === value);
  const active = pods.filter(isActive);
  const ready = active.filter(isReady);
  return stated<ReplicaSetStatus>({
    observedGeneration: set.metadata.generation,
    replicas: active.length,
    fullyLabeledReplicas: unlessZero(active.filter(isLabelled).length),
    readyReplicas: unlessZero(ready.length),
    availableReplicas: unlessZero(ready.filter((pod) => isAvailable(pod, minReadySeconds, nowMs)).length),
    terminatingReplicas: pods.filter(isBeingDeleted).length,
    conditions: conditionsOf(set, failure, nowMs),
  });
}

/**
 * The first failure stays until pods can be created again. Every rejection has another message (it names the pod), so a
 * message that followed the latest one would change the ReplicaSet on each attempt, and each change causes an attempt.
 */
function conditionsOf({ status }: Stored<ReplicaSet>, failure: Failure | undefined, nowMs: number) {
  const failed: Condition | undefined = findCondition(status?.conditions, "ReplicaFailure");
  const conditions: readonly Condition[] | undefined =
    failure === undefined
      ? removeCondition(status?.conditions, "ReplicaFailure")
      : setCondition<Condition>(status?.conditions, failed ?? { type: "ReplicaFailure", status: "True", ...failure }, nowMs);
  return conditions === undefined || conditions.length === 0 ? undefined : conditions;
}
