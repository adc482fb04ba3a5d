// PodDisruptionBudgets: how many of the selected pods may be evicted now. The Eviction API reads it from the status.
import {
  allow,
  type CacheReader,
  controller,
  Deployment,
  done,
  type KubernetesObject,
  type Outcome,
  Pod,
  StatefulSet,
  type Stored,
} from "@memhog/runtime";
import { type Condition, PodDisruptionBudget, type PodDisruptionBudgetStatus, ReplicaSet } from "@memhog/runtime/kinds";
import { controllerOf, matches, parseTime, setCondition } from "@memhog/runtime/objects";
import { hasEnded, isBeingDeleted, isReady, report, resolveBound, stated } from "./workload.ts";

const budgetsBeside = ({ metadata: { namespace } }: Stored<KubernetesObject>, cached: CacheReader) =>
  cached.list(PodDisruptionBudget, { namespace });

export const disruptionBudgets = controller(
  PodDisruptionBudget,
  {
    name: "disruption",
    watches: [
      {
        kind: Pod,
        map: (pod, cached) =>
          budgetsBeside(pod, cached)
            .filter((each) => covers(each, pod))
            .map(({ metadata }) => metadata),
      },
      { kind: ReplicaSet, map: (set, cached) => budgetsBeside(set, cached).map(({ metadata }) => metadata) },
      { kind: StatefulSet, map: (set, cached) => budgetsBeside(set, cached).map(({ metadata }) => metadata) },
      { kind: Deployment, map: (one, cached) => budgetsBeside(one, cached).map(({ metadata }) => metadata) },
    ],
    permissions: [allow(PodDisruptionBudget, "update", { subresource: "status" })],
  },
  async (ref, ctx): Promise<Outcome> => {
    const budget = ctx.get(PodDisruptionBudget, ref);
    if (budget === undefined || isBeingDeleted(budget)) return done();
    const home = ref.namespace === undefined ? {} : { namespace: ref.namespace };
    const pods = ctx.list(Pod, home).filter((pod) => covers(budget, pod));
    /** The desired number of pods of their controllers, each counted once. */
    const scaleOf = (pod: Stored<Pod>): readonly [string, number] | undefined => {
      const owner = controllerOf(pod);
      if (owner === undefined) return undefined;
      const at = { ...home, name: owner.name };
      const set =
        owner.kind === "ReplicaSet"
          ? ctx.get(ReplicaSet, at)
          : owner.kind === "StatefulSet"
            ? ctx.get(StatefulSet, at)
            : undefined;
      const above = set && controllerOf(set);
      const deployment = above?.kind === "Deployment" ? ctx.get(Deployment, { ...home, name: above.name }) : undefined;
      const scaled = deployment ?? set;
      return scaled && [scaled.metadata.uid, scaled.spec.replicas ?? 1];
    };
    const wanted = new Map(pods.map(scaleOf).filter((scale) => scale !== undefined));
    const controlled = [...wanted.values()].reduce((sum, replicas) => sum + replicas, 0);
    const status = decideBudget(budget, pods, controlled, ctx.clock.now());
    await report(budget, status, (next) => ctx.client.update(PodDisruptionBudget, next, { subresource: "status" }));
    return done();
  },
);

/** A budget without a selector covers nothing, one with an empty selector everything. */
function covers({ spec }: Stored<PodDisruptionBudget>, { metadata }: Stored<Pod>): boolean {
  return spec?.selector !== undefined && matches(spec.selector, metadata.labels);
}

/** After this time a granted eviction that did not happen is dropped. */
const patienceMs = 2 * 60_000;

/** `controlled`: the desired number of pods of their controllers, the base of percentages and maxUnavailable. */
export function decideBudget(
  budget: Stored<PodDisruptionBudget>,
  pods: readonly Stored<Pod>[],
  controlled: number,
  nowMs: number,
): PodDisruptionBudgetStatus {
  const { minAvailable, maxUnavailable } = budget.spec ?? {};
  const alive = pods.filter((pod) => !hasEnded(pod));
  // An absolute minAvailable needs no controller: it counts existing pods.
  const expectedPods = maxUnavailable !== undefined || typeof minAvailable === "string" ? controlled : pods.length;
  const desiredHealthy =
    maxUnavailable !== undefined
      ? Math.max(0, expectedPods - resolveBound(maxUnavailable, expectedPods, "up"))
      : resolveBound(minAvailable ?? 0, expectedPods, "up");
  const evicted = Object.entries(budget.status?.disruptedPods ?? {}).filter(([name, at]) => {
    const pod = alive.find(({ metadata }) => metadata.name === name);
    return pod !== undefined && !isBeingDeleted(pod) && (parseTime(at) ?? 0) + patienceMs > nowMs;
  });
  const isEvicted = ({ metadata }: Stored<Pod>) => evicted.some(([name]) => name === metadata.name);
  const currentHealthy = alive.filter((pod) => isReady(pod) && !isBeingDeleted(pod) && !isEvicted(pod)).length;
  const disruptionsAllowed = expectedPods === 0 ? 0 : Math.max(0, currentHealthy - desiredHealthy);
  return stated<PodDisruptionBudgetStatus>({
    observedGeneration: budget.metadata.generation,
    disruptionsAllowed,
    currentHealthy,
    desiredHealthy,
    expectedPods,
    disruptedPods: evicted.length === 0 ? undefined : Object.fromEntries(evicted),
    conditions: conditionsOf(budget, disruptionsAllowed > 0, nowMs),
  });
}

function conditionsOf({ metadata, status }: Stored<PodDisruptionBudget>, allowed: boolean, nowMs: number): readonly Condition[] {
  const { generation } = metadata;
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  const words = allowed
    ? ({ type: "DisruptionAllowed", status: "True", reason: "SufficientPods", message: "" } as const)
    : ({ type: "DisruptionAllowed", status: "False", reason: "InsufficientPods", message: "" } as const);
  return setCondition<Condition>(status?.conditions, { ...words, ...observed }, nowMs);
}
