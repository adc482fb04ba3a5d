// The next steps of a Deployment, one group at a time; the status of the ReplicaSets is read again before the next group.
//
//     paused or scaled       only sizes change, all ReplicaSets in proportion
//     Recreate               old pods are deleted; new ones follow when the last one is gone
//     RollingUpdate          new pods while there are fewer than replicas + maxSurge;
//                            old pods go while more than replicas - maxUnavailable are available
import type { Deployment, Pod, Stored } from "@memhog/runtime";
import type { ReplicaSet } from "@memhog/runtime/kinds";
import { hasEnded } from "../workload.ts";
import {
  boundsOf,
  type Generations,
  generationsOf,
  replicaSetFor,
  replicasOf,
  revisionOf,
  sizeAnnotations,
} from "./replica-set-of.ts";

export type Step =
  | { readonly kind: "create"; readonly set: ReplicaSet }
  | { readonly kind: "scale"; readonly set: Stored<ReplicaSet>; readonly to: number }
  /** Beyond revisionHistoryLimit. */
  | { readonly kind: "forget"; readonly set: Stored<ReplicaSet> };

export interface Plan extends Generations {
  readonly steps: readonly Step[];
  /** Of the current template. */
  readonly revision: number;
}

/** `pods`: all pods of the ReplicaSets; only Recreate needs them. */
export function decideRollout(
  deployment: Stored<Deployment>,
  replicaSets: readonly Stored<ReplicaSet>[],
  pods: readonly Stored<Pod>[],
): Plan {
  const generations = generationsOf(deployment, replicaSets);
  const { current, old } = generations;
  const newest = Math.max(0, ...old.map(revisionOf));
  const revision = current !== undefined && revisionOf(current) > newest ? revisionOf(current) : newest + 1;
  const plan = (steps: readonly Step[]) => ({ ...generations, revision, steps });
  if (deployment.spec.paused || wasResized(deployment, replicaSets)) return plan(resize(deployment, generations));
  const recreates = deployment.spec.strategy?.type === "Recreate";
  const steps = recreates ? recreate(deployment, generations, pods, revision) : roll(deployment, generations, revision);
  return plan(steps.length > 0 ? steps : tidyUp(deployment, generations));
}

/** Whether the replicas changed since the ReplicaSets were last resized. */
function wasResized(deployment: Stored<Deployment>, replicaSets: readonly Stored<ReplicaSet>[]): boolean {
  return replicaSets.some((set) => {
    const { desired } = sizeAnnotations(set);
    return replicasOf(set) > 0 && desired !== undefined && desired !== replicasOf(deployment);
  });
}

function resize(deployment: Stored<Deployment>, generations: Generations): readonly Step[] {
  const { current, old } = generations;
  const all = current === undefined ? old : [...old, current];
  const active = all.filter((set) => replicasOf(set) > 0);
  const only = active.length > 1 ? undefined : (active[0] ?? current ?? old.at(-1));
  const wanted = replicasOf(deployment);
  // Even if the size is right: the annotations of the set may be outdated.
  if (only !== undefined)
    return sizeAnnotations(only).desired === wanted ? scale(only, wanted) : [{ kind: "scale", set: only, to: wanted }];
  if (current !== undefined && isSaturated(deployment, current)) return old.flatMap((set) => scale(set, 0));
  return deployment.spec.strategy?.type === "Recreate" ? [] : decideProportions(deployment, active);
}

function isSaturated(deployment: Stored<Deployment>, set: Stored<ReplicaSet>): boolean {
  const wanted = replicasOf(deployment);
  return replicasOf(set) === wanted && sizeAnnotations(set).desired === wanted && set.status?.availableReplicas === wanted;
}

function recreate(
  deployment: Stored<Deployment>,
  { current, old }: Generations,
  pods: readonly Stored<Pod>[],
  revision: number,
): readonly Step[] {
  const wanted = replicasOf(deployment);
  const down = old.flatMap((set) => scale(set, 0));
  if (down.length > 0) return down;
  const oldPodsRun = pods.some((pod) => !hasEnded(pod) && old.some((set) => isOf(pod, set)));
  if (oldPodsRun) return [];
  if (current === undefined) return [{ kind: "create", set: replicaSetFor(deployment, wanted, revision) }];
  return scale(current, wanted);
}

function isOf(pod: Stored<Pod>, set: Stored<ReplicaSet>): boolean {
  return pod.metadata.ownerReferences?.some(({ uid }) => uid === set.metadata.uid) ?? false;
}

function roll(deployment: Stored<Deployment>, generations: Generations, revision: number): readonly Step[] {
  const { current } = generations;
  const to = decideNewSize(deployment, generations);
  if (current === undefined) return [{ kind: "create", set: replicaSetFor(deployment, to, revision) }];
  const up = scale(current, to);
  return up.length > 0 ? up : drain(deployment, current, generations.old);
}

/** As many new pods as maxSurge allows. */
function decideNewSize(deployment: Stored<Deployment>, { current, old }: Generations): number {
  const wanted = replicasOf(deployment);
  const now = current === undefined ? 0 : replicasOf(current);
  if (now >= wanted) return wanted;
  const room = wanted + boundsOf(deployment).maxSurge - sum(old, replicasOf) - now;
  return now + Math.max(0, Math.min(room, wanted - now));
}

/** Removes old pods: first unavailable ones, then as many others as maxUnavailable allows. */
function drain(deployment: Stored<Deployment>, current: Stored<ReplicaSet>, old: readonly Stored<ReplicaSet>[]): readonly Step[] {
  const atLeast = replicasOf(deployment) - boundsOf(deployment).maxUnavailable;
  const notYet = replicasOf(current) - available(current);
  const mayGo = sum(old, replicasOf) + replicasOf(current) - atLeast - notYet;
  if (mayGo <= 0) return [];
  const useless = take(old, mayGo, (set) => replicasOf(set) - available(set));
  const canBeMissed = sum([...old, current], available) - atLeast;
  const good = take(old, Math.max(0, canBeMissed), (set) => replicasOf(set) - (useless.get(set) ?? 0));
  return old.flatMap((set) => scale(set, replicasOf(set) - (useless.get(set) ?? 0) - (good.get(set) ?? 0)));
}

/** Takes at most `total`, from the first to the last, and of each at most its size. */
function take(
  sets: readonly Stored<ReplicaSet>[],
  total: number,
  has: (set: Stored<ReplicaSet>) => number,
): ReadonlyMap<Stored<ReplicaSet>, number> {
  let left = total;
  return new Map(
    sets.map((set) => {
      const taken = Math.min(left, Math.max(0, has(set)));
      left -= taken;
      return [set, taken];
    }),
  );
}

/** Deletes scaled-down ReplicaSets beyond the history limit. */
function tidyUp(deployment: Stored<Deployment>, { old }: Generations): readonly Step[] {
  const { revisionHistoryLimit = 10 } = deployment.spec;
  const wanted = replicasOf(deployment);
  const { updatedReplicas, replicas, availableReplicas } = deployment.status ?? {};
  if (wanted > 0 && ![updatedReplicas, replicas, availableReplicas].every((count) => count === wanted)) return [];
  const idle = old.filter((set) => replicasOf(set) === 0 && (set.status?.replicas ?? 0) === 0);
  const byRevision = [...idle].sort((a, b) => revisionOf(a) - revisionOf(b));
  return byRevision.slice(0, Math.max(0, old.length - revisionHistoryLimit)).map((set) => ({ kind: "forget", set }));
}

function scale(set: Stored<ReplicaSet>, to: number): readonly Step[] {
  return replicasOf(set) === to ? [] : [{ kind: "scale", set, to }];
}

const available = ({ status }: Stored<ReplicaSet>) => status?.availableReplicas ?? 0;

function sum<T>(values: readonly T[], count: (value: T) => number): number {
  return values.reduce((total, value) => total + count(value), 0);
}

// Scaling during a rollout: all ReplicaSets grow or shrink in proportion, so that the rollout continues and the new pods are not
// all from a template that may be broken.
//
//     replicas 10, maxSurge 3: new 5, old 8.  Scaled to 20, maxSurge 5, so 25 in total, 12 more:
//     new 5 × 25/13 ≈ 10 (+5), old 8 × 25/13 ≈ 15 (+7)

export interface Scaling {
  readonly kind: "scale";
  readonly set: Stored<ReplicaSet>;
  readonly to: number;
}

/** New sizes for these ReplicaSets, all of which have pods; oldest first. */
function decideProportions(deployment: Stored<Deployment>, active: readonly Stored<ReplicaSet>[]): readonly Scaling[] {
  const wanted = replicasOf(deployment);
  const inAll = wanted > 0 ? wanted + boundsOf(deployment).maxSurge : 0;
  const toAdd = inAll - active.reduce((total, set) => total + replicasOf(set), 0);
  // Largest first. Of two equal ones, growth prefers the newer and shrinking the older.
  const order = [...(toAdd > 0 ? active.toReversed() : active)].sort((a, b) => replicasOf(b) - replicasOf(a));
  let added = 0;
  const sizes = order.map((set) => {
    const share = bounded(shareOf(deployment, set, inAll), toAdd - added);
    added += share;
    return { set, to: replicasOf(set) + share };
  });
  // The remainder of the rounding goes to the largest.
  return sizes.map(({ set, to }, at) => ({ kind: "scale", set, to: Math.max(0, at === 0 ? to + toAdd - added : to) }));
}

function shareOf(deployment: Stored<Deployment>, set: Stored<ReplicaSet>, inAll: number): number {
  if (replicasOf(deployment) === 0) return -replicasOf(set);
  const before = sizeAnnotations(set).max ?? deployment.status?.replicas ?? inAll;
  return Math.round((replicasOf(set) * inAll) / before) - replicasOf(set);
}

/** Bounded by the remainder, in either direction. */
function bounded(share: number, left: number): number {
  return left > 0 ? Math.min(share, left) : Math.max(share, left);
}
