// ReplicaSets: as many pods as wanted, whichever. Too few: make some. Too many: delete those that are missed least.
import {
  type Change,
  type Condition,
  checkAgainIn,
  controller,
  controllerOf,
  done,
  equals,
  ForbiddenError,
  findCondition,
  InvalidError,
  may,
  type ObjectRef,
  type Outcome,
  Pod,
  parseTime,
  ReplicaSet,
  type ReplicaSetStatus,
  removeCondition,
  type Stored,
  seconds,
  setCondition,
} from "@memhog/runtime";
import { isActive, isAvailable, isGoing, isReady, nextAvailableInMs, podFrom } from "./pods.ts";
import { report, stated, unlessZero } from "./status.ts";

export const replicaSets = controller(
  ReplicaSet,
  {
    name: "replicaset",
    // Not `owns`: a pod changes many times on its way to ready, and most of that is nothing to us.
    watches: [{ kind: Pod, when: countsDifferently, map: ownerOf }],
    may: [may(Pod, "create", "delete"), may(ReplicaSet, "update", { subresource: "status" })],
    concurrency: 4,
  },
  async (ref, ctx): Promise<Outcome> => {
    const known = ctx.get(ReplicaSet, ref);
    if (known !== undefined && isOnlyCounting(known, ctx.list(Pod, { ownedBy: known }))) {
      await ctx.clock.sleep(countAfterMs, ctx.signal);
    }
    const set = ctx.get(ReplicaSet, ref);
    if (set === undefined) return done();
    const pods = ctx.list(Pod, { ownedBy: set });
    const { create, remove } = isGoing(set) ? nothing : decideReplicas(set, pods);
    let failure: Failure | undefined;
    try {
      for (let made = 0; made < create; made += 1) {
        const pod = await ctx.client.create(Pod, podOf(set));
        ctx.event(set, { reason: "SuccessfulCreate", note: `Created pod: ${pod.metadata.name}` });
      }
      for (const pod of remove) {
        const { uid, name } = pod.metadata;
        await ctx.client.delete(Pod, pod.metadata, { uid });
        ctx.event(set, { reason: "SuccessfulDelete", note: `Deleted pod: ${name}` });
      }
    } catch (error) {
      // Somebody's quota or webhook says no. That is news for people, and may change without our being told.
      if (!(error instanceof ForbiddenError || error instanceof InvalidError)) throw error;
      failure = { reason: "FailedCreate", message: error.message };
      ctx.event(set, { type: "Warning", reason: "FailedCreate", note: `Error creating: ${error.message}` });
    }
    const now = ctx.clock.now();
    const status = decideStatus(set, pods, failure, now);
    await report(set, status, (next) => ctx.client.update(ReplicaSet, next, { subresource: "status" }));
    if (failure !== undefined) return checkAgainIn(seconds(5), "pods were refused");
    const inMs = nextAvailableInMs(pods, set.spec.minReadySeconds ?? 0, now);
    return inMs === undefined ? done() : checkAgainIn(inMs, "a ready pod counts as available later");
  },
);

function ownerOf(pod: Stored<Pod>): readonly ObjectRef[] {
  const owner = controllerOf(pod);
  const { namespace } = pod.metadata;
  return owner?.kind === "ReplicaSet" ? [{ ...(namespace !== undefined && { namespace }), name: owner.name }] : [];
}

/** Whether a change of a pod changes what its set says or does. */
function countsDifferently({ type, object, previous }: Change<Pod>): boolean {
  if (type !== "changed" || previous === undefined) return true;
  const asCounted = (pod: Stored<Pod>) => [
    isActive(pod),
    isGoing(pod),
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
 * Milliseconds between a pod's becoming ready and its being counted. Pods come in swarms; the real controller may write
 * twenty times a second, so it counts many at once. With one write for each, a thousand pods would cost a thousand counts.
 */
const countAfterMs = 10;

/** Nothing is to be made or deleted, and the set has been reported on before: what is left is how many are ready. */
function isOnlyCounting(set: Stored<ReplicaSet>, pods: readonly Stored<Pod>[]): boolean {
  if (set.status?.observedGeneration !== set.metadata.generation) return false;
  const { create, remove } = decideReplicas(set, pods);
  return create === 0 && remove.length === 0;
}

const nothing = { create: 0, remove: [] };

export interface ReplicaSteps {
  readonly create: number;
  /** Those missed least. */
  readonly remove: readonly Stored<Pod>[];
}

/** A pod that has ended or is going does not count: it is replaced at once. */
export function decideReplicas(set: Stored<ReplicaSet>, pods: readonly Stored<Pod>[]): ReplicaSteps {
  const active = pods.filter(isActive);
  const missing = (set.spec.replicas ?? 1) - active.length;
  return { create: Math.max(missing, 0), remove: missing < 0 ? leastMissed(active).slice(0, -missing) : [] };
}

type Order = (pod: Stored<Pod>) => number | string;

/** In this order; the lower goes first. Ages count backwards: of two equals the younger goes. */
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
    terminatingReplicas: pods.filter(isGoing).length,
    conditions: conditionsOf(set, failure, nowMs),
  });
}

function conditionsOf({ status }: Stored<ReplicaSet>, failure: Failure | undefined, nowMs: number) {
  const conditions: readonly Condition[] | undefined =
    failure === undefined
      ? removeCondition(status?.conditions, "ReplicaFailure")
      : setCondition<Condition>(status?.conditions, { type: "ReplicaFailure", status: "True", ...failure }, nowMs);
  return conditions === undefined || conditions.length === 0 ? undefined : conditions;
}
