// A Deployment is resized in the middle of a rollout: every generation grows or shrinks in proportion, so that the rollout
// goes on from where it is and the new pods are not all of a template that may be broken.
//
//     10 wanted, surge 3: new 5, old 8.  Now 20 are wanted, surge 5, so 25 in all, 12 more:
//     new 5 × 25/13 ≈ 10 (+5), old 8 × 25/13 ≈ 15 (+7)
import type { Deployment, ReplicaSet, Stored } from "@memhog/runtime";
import { boundsOf, replicasOf, sizeAnnotations } from "./replica-set-of.ts";

export interface Scaling {
  readonly kind: "scale";
  readonly set: Stored<ReplicaSet>;
  readonly to: number;
}

/** Sizes for these generations, all of which have pods; oldest first. */
export function decideProportions(deployment: Stored<Deployment>, active: readonly Stored<ReplicaSet>[]): readonly Scaling[] {
  const wanted = replicasOf(deployment);
  const inAll = wanted > 0 ? wanted + boundsOf(deployment).maxSurge : 0;
  const toAdd = inAll - active.reduce((total, set) => total + replicasOf(set), 0);
  // The larger first. Of two equals, growth favours the newer and shrinking hits the older.
  const order = [...(toAdd > 0 ? active.toReversed() : active)].sort((a, b) => replicasOf(b) - replicasOf(a));
  let added = 0;
  const sizes = order.map((set) => {
    const share = bounded(shareOf(deployment, set, inAll), toAdd - added);
    added += share;
    return { set, to: replicasOf(set) + share };
  });
  // What rounding has left over goes to the largest.
  return sizes.map(({ set, to }, at) => ({ kind: "scale", set, to: Math.max(0, at === 0 ? to + toAdd - added : to) }));
}

function shareOf(deployment: Stored<Deployment>, set: Stored<ReplicaSet>, inAll: number): number {
  if (replicasOf(deployment) === 0) return -replicasOf(set);
  const before = sizeAnnotations(set).max ?? deployment.status?.replicas ?? inAll;
  return Math.round((replicasOf(set) * inAll) / before) - replicasOf(set);
}

/** Not more than what is left, in whichever direction. */
function bounded(share: number, left: number): number {
  return left > 0 ? Math.min(share, left) : Math.max(share, left);
}
