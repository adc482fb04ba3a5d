// From what is wanted to what is granted: as much of it as all caps allow, rounded down to whole MiB, and the name of the cap that
// made it less. A grant never takes anything away.
//
// 256Mi/384Mi wants 512Mi/768Mi (request/limit):
//
//   caps                                granted         by
//   none                                512Mi/768Mi
//   maxMemory 600Mi                     400Mi/600Mi     maxMemory: the request keeps its proportion
//   quota leaves the request 300Mi      300Mi/768Mi     ResourceQuota/team: the limit may grow all the same
//   the same, limit ÷ request ≤ 2       300Mi/600Mi     LimitRange/ratio
//   maxMemory 388Mi                     nothing         maxMemory: 4Mi are less than 2 % of 384Mi, not worth the disturbance
//
// Guaranteed, 384Mi/384Mi: the node has room for 500Mi → 500Mi/500Mi by Node/n1; request and limit are one.
import { type Bytes, floorToMiB, larger, MiB, smaller } from "../model/bytes.ts";
import type { Cap } from "../model/plan.ts";
import type { Memory } from "../model/record.ts";
import { ofOthers } from "./caps.ts";
import type { Facts } from "./facts.ts";

export interface Grant {
  readonly granted: Memory;
  readonly cappedBy?: string;
}

export function grantOf(facts: Facts, wanted: Memory): Grant {
  const { has, caps, pod } = facts;
  const asOne = pod.qos === "Guaranteed";
  const limit = under(
    caps.find(({ of }) => of === "limit" || asOne),
    wanted.limit,
    has.limit,
  );
  if (wanted.request === undefined || has.request === undefined)
    return grant({ limit: limit.most, request: has.request }, limit.by);
  if (asOne) return grant({ limit: limit.most, request: limit.most }, limit.by);
  const share = inProportion(wanted.request, limit.most, wanted.limit);
  const request = under(
    caps.find(({ of }) => of === "request"),
    larger(share, has.request),
    has.request,
  );
  const bond = under(tightestRatio(facts, request.most), limit.most, has.limit);
  return grant({ limit: bond.most, request: smaller(request.most, bond.most) }, bond.by ?? limit.by ?? request.by);
}

/** Less than this is not worth a write, and may be a restart. Only a cap makes a step that small; a small multiplier is a wish. */
export function isWorthwhile({ granted, cappedBy }: Grant, has: Memory): boolean {
  const more = granted.limit - has.limit;
  return cappedBy === undefined ? more > 0 : more >= Math.max(MiB, has.limit * 0.02);
}

const grant = (granted: Memory, by: string | undefined): Grant => (by === undefined ? { granted } : { granted, cappedBy: by });

function under(cap: Cap | undefined, wanted: Bytes, has: Bytes): { readonly most: Bytes; readonly by?: string } {
  if (cap === undefined || cap.most >= wanted) return { most: wanted };
  return { most: larger(floorToMiB(cap.most), has), by: cap.name };
}

function inProportion(request: Bytes, limit: Bytes, ofLimit: Bytes): Bytes {
  return limit >= ofLimit ? request : floorToMiB((request * limit) / ofLimit);
}

/** maxLimitRequestRatio, once the request is known: per container, or of the sums over the pod. */
function tightestRatio(facts: Facts, request: Bytes): Cap | undefined {
  return facts.seen.limits.ranges
    .flatMap(({ name, per, maxRatio }) => {
      if (maxRatio === undefined) return [];
      const most =
        per === "Container" ? request * maxRatio : (request + ofOthers(facts, "request")) * maxRatio - ofOthers(facts, "limit");
      return [{ name: `LimitRange/${name}`, of: "limit" as const, most: floorToMiB(most) }];
    })
    .toSorted((a, b) => a.most - b.most)[0];
}
