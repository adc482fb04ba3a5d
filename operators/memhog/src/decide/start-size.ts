// The memory a new pod starts with, decided while it is admitted: as if it ran already and the rules of verdict.ts looked at it. Only
// LearnedBefore counts, so a pod gets at admission what it would be given as soon as it runs, and every hold is a hold here too.
//
// Two things are different before a pod exists, and a mistake would keep it from being created or scheduled at all. Without the
// webhook the pod would start small and be raised in place, so whatever is in doubt is left to that.
//
//   - A quota does not include the pod yet, and siblings may be admitted at the same moment. What the app has learned is granted if
//     all pods that the app still lacks, at that size, take at most half of what the quota has left.
//   - A larger request may fit no node. It is granted if some node has room for it now. Otherwise only the limit grows; a Guaranteed
//     pod, whose request must follow, stays as it is.
//
//   has 256Mi/384Mi, learned 512Mi/768Mi; of 4 replicas 1 exists                                       starts with
//   no quota, a node has 10Gi free                                                                     512Mi/768Mi
//   no quota, no node has more than 300Mi free                                                         256Mi/768Mi
//   the same, Guaranteed 384Mi                                                                         384Mi/384Mi
//   quota limits.memory has 8Gi left: 3 × 768Mi = 2304Mi ≤ 4Gi                                         512Mi/768Mi
//   quota limits.memory has 4Gi left: 2304Mi > 2Gi                                                     256Mi/384Mi
import type { Bytes } from "../model/bytes.ts";
import { live, type ObservedApp, type ObservedPod, type ObservedQuota } from "../model/observed-app.ts";
import type { Memory } from "../model/plan.ts";
import { type Reservation, reservationOf, reservationsIn } from "./caps.ts";
import { verdictOn } from "./verdict.ts";

/** @param freeOnNode The most memory that requests can still take on one node; undefined if nodes are unknown. */
export function startSizes(seen: ObservedApp, pod: ObservedPod, freeOnNode: Bytes | undefined): ReadonlyMap<string, Memory> {
  const sizes = learnedSizes(seen, pod);
  if (!seen.limits.quotas.every((quota) => leavesHalf(quota, seen, pod, sizes))) return new Map();
  if (freeOnNode !== undefined && totalOf(pod, sizes, "request") <= freeOnNode) return sizes;
  return pod.qos === "Guaranteed" ? new Map() : withRequestsOf(pod, sizes);
}

/** What the rules would give to the pod if it ran, within all caps except the quotas. */
function learnedSizes(seen: ObservedApp, pod: ObservedPod): ReadonlyMap<string, Memory> {
  const running: ObservedPod = {
    ...pod,
    ...{ phase: "Running", createdAtMs: Number.MAX_SAFE_INTEGER, resize: { state: "none" }, notResizable: undefined },
    containers: pod.containers.map((container) => ({ ...container, running: true })),
  };
  const { ranges } = seen.limits;
  const world = { ...seen, cluster: { ...seen.cluster, inPlace: true }, limits: { ranges, quotas: [] } };
  const reserved: Reservation[] = [...reservationsIn(seen)];
  const sizes = new Map<string, Memory>();
  for (const container of running.containers) {
    const { decision } = verdictOn({ ...world, pods: [...seen.pods, running] }, running, container, reserved);
    if (decision.kind !== "raise" || decision.reason !== "LearnedBefore") continue;
    reserved.push(reservationOf(running, container, decision.granted));
    sizes.set(container.name, decision.granted);
  }
  return sizes;
}

function leavesHalf({ of, hard, used }: ObservedQuota, seen: ObservedApp, pod: ObservedPod, sizes: ReadonlyMap<string, Memory>) {
  const each = totalOf(pod, sizes, of === "limits" ? "limit" : "request");
  return each * lacking(seen) <= (hard - used) / 2;
}

/** How many pods the app lacks, this one included. */
function lacking({ template, pods }: ObservedApp): number {
  return Math.max(1, (template?.replicas ?? 1) - pods.filter(live).length);
}

function totalOf({ containers }: ObservedPod, sizes: ReadonlyMap<string, Memory>, field: "limit" | "request"): number {
  return containers.reduce((sum, container) => sum + (sizes.get(container.name)?.[field] ?? container[field] ?? 0), 0);
}

function withRequestsOf({ containers }: ObservedPod, sizes: ReadonlyMap<string, Memory>): ReadonlyMap<string, Memory> {
  const requests = new Map(containers.map(({ name, request }) => [name, request] as const));
  return new Map([...sizes].map(([name, { limit }]) => [name, { limit, request: requests.get(name) }] as const));
}
