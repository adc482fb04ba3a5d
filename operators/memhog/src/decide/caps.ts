// Caps: the most memory that the AppMonitor, the namespace and the node allow a container, and how much of a raise they leave.
// Kubernetes rejects what the namespace does not allow, but it does not check a limit against the node: 900Gi on a node of 24Gi is
// accepted.
//
// A container of 256Mi/384Mi that wants 512Mi/768Mi:
//
//   cap                                                  allows it            because
//   maxMemory 600Mi                                      limit 600Mi          it says so
//   no maxMemory                                         limit 3072Mi         8 × 384, see byDefault
//   LimitRange per container, max 1Gi                    limit 1024Mi         it says so
//   LimitRange per pod, max 1Gi, a sidecar has 300Mi     limit 724Mi          1024 − 300
//   ResourceQuota limits.memory, 9.5Gi of 10Gi used      limit 896Mi          384 + 512: what it has is among what is used
//   ResourceQuota requests.memory, all of it used        request 256Mi        256 + 0; the limit is free to grow
//   Node of 16Gi                                         limit 16384Mi        the node has no more
//   the same, Guaranteed 384Mi, 15.9Gi requested         request 486.4Mi      384 + 102.4: its request grows with it
//
// A redeployment needs more room in a quota than one container: see below.
//
// The node is that of the present pod. A redeployed pod may get a larger one, but that is not certain.
// maxLimitRequestRatio is not a number of bytes; grantOf() applies it.
import { type Bytes, bytes, floorToMiB, larger, MiB, smaller } from "../model/bytes.ts";
import {
  containerOf,
  live,
  type ObservedApp,
  type ObservedContainer,
  type ObservedLimitRange,
  type ObservedNode,
  type ObservedPod,
  type ObservedQuota,
  podOf,
  resizesInPlace,
} from "../model/observed-app.ts";
import type { Cap, Memory } from "../model/plan.ts";
import type { Candidate, Facts } from "./facts.ts";

type Field = Cap["of"];

/**
 * The lowest first.
 * @param byRedeploying The raise replaces pods. @default unless the container can be resized in place
 */
export function capsOn(
  candidate: Candidate,
  maxMemory: Bytes | undefined,
  byRedeploying = !resizesInPlace(candidate.seen, candidate.pod, candidate.container),
): readonly Cap[] {
  const { limits } = candidate.seen;
  const { node } = candidate.pod;
  const redeployment = byRedeploying ? redeploymentOf(candidate) : undefined;
  const all = [
    ...(maxMemory === undefined ? byDefault(candidate) : [cap("maxMemory", "limit", maxMemory)]),
    ...limits.ranges.flatMap((range) =>
      redeployment === undefined ? byRange(range, candidate) : rangeOfRedeployment(range, redeployment),
    ),
    ...limits.quotas.flatMap((quota) =>
      redeployment === undefined ? byQuota(quota, candidate) : quotaOfRedeployment(quota, candidate, redeployment),
    ),
    ...(node === undefined ? [] : byNode(node, candidate)),
    ...byPod(candidate),
  ];
  return all.toSorted((a, b) => a.most - b.most);
}

// Without maxMemory a leak that no other brake recognizes must not take a node. The default depends on the limit that people chose, so
// raises by memhog do not move it:
//
//   limit in the template   node   8 times   halfway to the node   cap
//   384Mi                   16Gi   3Gi       8.2Gi                 3Gi
//   384Mi                   4Gi    3Gi       2.2Gi                 2.2Gi
//   12Gi                    16Gi   96Gi      14Gi                  14Gi

/** Three doublings. An app that needs more was given a wrong limit, and its owner can say so with maxMemory. */
const mostTimes = 8;

function byDefault({ seen, pod, container }: Candidate): readonly Cap[] {
  const original = originalLimit(seen, pod, container);
  if (original === undefined) return [];
  const multiple = cap("DefaultCap/Multiple", "limit", original * mostTimes);
  return pod.node === undefined
    ? [multiple]
    : [multiple, cap("DefaultCap/NodeShare", "limit", (original + pod.node.allocatable) / 2)];
}

/**
 * The limit that people gave to the container: that of the template or, without one, of the pod. If memhog raised it, the chain of its
 * raises leads back to the original. An edit by anybody else ends the chain, and counts as the new original.
 */
function originalLimit(
  { record, template }: ObservedApp,
  pod: ObservedPod,
  { name, limit }: ObservedContainer,
): Bytes | undefined {
  const inTemplate = template?.containers.find((each) => each.name === name)?.limit;
  const applied = [...record.intents.filter(({ limitsApplied }) => limitsApplied), ...record.actions.toReversed()];
  const about = applied.filter(({ method, pod: { uid } }) =>
    inTemplate === undefined ? method !== "InPlace" || uid === pod.uid : method === "Template",
  );
  return about.reduce((found, { changes }) => {
    const change = changes.find(({ container, to }) => container === name && to.limit === found);
    return change === undefined || change.from.limit >= change.to.limit ? found : change.from.limit;
  }, inTemplate ?? limit);
}

/** The API server rejects a container limit above that of its pod, and container requests whose sum is above that of the pod. */
function byPod(candidate: Candidate): readonly Cap[] {
  const { limit, request } = candidate.pod.podLevel ?? {};
  return [
    ...(limit === undefined ? [] : [cap("Pod", "limit", limit)]),
    ...(request === undefined ? [] : [cap("Pod", "request", request - ofOthers(candidate, "request"))]),
  ];
}

function byRange({ name, per, max }: ObservedLimitRange, candidate: Candidate): readonly Cap[] {
  if (max === undefined) return [];
  return [cap(`LimitRange/${name}`, "limit", per === "Container" ? max : max - ofOthers(candidate, "limit"))];
}

function byQuota({ name, of, hard, used }: ObservedQuota, candidate: Candidate): readonly Cap[] {
  const field = of === "limits" ? "limit" : "request";
  const has = candidate.container[field];
  if (has === undefined) return [];
  return [cap(`ResourceQuota/${name}`, field, has + hard - used - sum(reservedForOthers(candidate), field))];
}

function byNode(node: ObservedNode, candidate: Candidate): readonly Cap[] {
  const name = `Node/${node.name}`;
  const { pod, container } = candidate;
  const limit = cap(name, "limit", node.allocatable);
  if (container.request === undefined) return [limit];
  // Kubernetes 1.36 rejects requests above allocatable; before, they are infeasible.
  if (!needsRoomNow(candidate)) return [limit, cap(name, "request", node.allocatable - ofOthers(candidate, "request"))];
  const elsewhere = reservedForOthers(candidate).filter((each) => each.node === pod.node?.name);
  const free = node.allocatable - node.requested - sum(elsewhere, "request");
  return [limit, cap(name, "request", container.request + free)];
}

/**
 * The request of a Guaranteed pod grows together with its limit, and so may that of a pod with a bounded limit ÷ request. Requests
 * of other pods follow when the node has room.
 */
function needsRoomNow({ seen, pod, container }: Candidate): boolean {
  const together = pod.qos === "Guaranteed" || seen.limits.ranges.some(({ maxRatio }) => maxRatio !== undefined);
  return together && resizesInPlace(seen, pod, container);
}

/** What the other containers of the pod have, with their reservations. */
function ofOthers(candidate: Candidate, field: Field): number {
  const { pod, container } = candidate;
  const others = pod.containers.filter(({ name }) => name !== container.name);
  const reserved = reservedForOthers(candidate).filter(({ uid }) => uid === pod.uid);
  return others.reduce((total, each) => total + (each[field] ?? 0), 0) + sum(reserved, field);
}

/** Reservations of others: its own do not limit a container. */
function reservedForOthers({
  reserved,
  pod,
  container,
}: {
  reserved: readonly Reservation[];
  pod: ObservedPod;
  container: { name: string };
}) {
  return reserved.filter((each) => each.uid !== pod.uid || each.container !== container.name);
}

const sum = (reserved: readonly Reservation[], field: Field) => reserved.reduce((total, each) => total + each[field], 0);

const cap = (name: string, of: Field, most: number): Cap => ({ name, of, most: bytes(Math.max(0, Math.floor(most))) });

// Redeployments. Every replica gets the memory, and while pods are replaced some old ones still exist. The API server checks a quota
// only when a pod is created: without room for all of them, a rollout ends halfway, with fewer Ready pods than before (D5). So what a
// quota leaves one container is
//
//   (hard − used + pods of the app − the largest `surge` of these) ÷ replicas − the other containers of a new pod
//
// A container of 384Mi that wants 768Mi, with no other container in its pods:
//
//                                           hard − used   of the app   still there   ÷ replicas   allows the limit
//   Deployment, 6 replicas, maxSurge 2      8Gi           2304Mi       768Mi         6            1621.3Mi
//   the same                                2Gi           2304Mi       768Mi         6            597.3Mi
//   the same                                0             2304Mi       768Mi         6            256Mi: no raise
//   StatefulSet, 6 replicas                 2Gi           2304Mi       0             6            725.3Mi
//   a bare pod and its copy                 512Mi         384Mi        384Mi         1            512Mi

interface Redeployment {
  readonly replicas: number;
  readonly surge: number;
  /** The pods that are replaced. */
  readonly pods: readonly ObservedPod[];
  /** The other containers of a new pod. */
  readonly others: readonly { readonly limit: number; readonly request: number }[];
}

/** Undefined for owners that are not edited. */
function redeploymentOf(candidate: Candidate): Redeployment | undefined {
  const { seen, pod } = candidate;
  if (seen.app.kind === "Pod") return { replicas: 1, surge: 1, pods: [pod], others: othersOfNewPod(candidate, [pod]) };
  if (seen.template === undefined) return undefined;
  const { replicas, surge } = seen.template;
  const pods = seen.pods.filter(live);
  return { replicas: Math.max(1, replicas), surge, pods, others: othersOfNewPod(candidate, pods) };
}

/** The largest size of each counts. The template may lack some of them, because admission webhooks add containers. */
function othersOfNewPod({ seen, container, reserved }: Candidate, pods: readonly ObservedPod[]): Redeployment["others"] {
  const sizes = [
    ...(seen.template?.containers ?? []),
    ...pods.flatMap(({ containers }) => containers),
    ...reserved.map(asTarget),
  ];
  const names = new Set(sizes.map(({ name }) => name).filter((name) => name !== container.name));
  return [...names].map((name) => {
    const of = sizes.filter((size) => size.name === name);
    return {
      limit: Math.max(...of.map(({ limit = 0 }) => limit)),
      request: Math.max(...of.map(({ request = 0 }) => request)),
    };
  });
}

const asTarget = ({ container: name, to }: Reservation) => ({ name, ...to });

function quotaOfRedeployment(quota: ObservedQuota, candidate: Candidate, redeployment: Redeployment): readonly Cap[] {
  const { seen, pod, container } = candidate;
  const name = `ResourceQuota/${quota.name}`;
  const field = quota.of === "limits" ? "limit" : "request";
  const has = container[field];
  if (has === undefined) return [];
  const { replicas, surge, pods, others } = redeployment;
  // Pods without the annotation are observed without containers. Of a pod that is larger, because it was raised in place, only as much
  // is counted as this one has: what it has beyond that may be needed again.
  const own = total(pod.containers, field);
  const sizes = pods.map(({ containers }) =>
    Math.min(own, total(containers.length > 0 ? containers : (seen.template?.containers ?? []), field)),
  );
  const stillThere = sizes.toSorted((a, b) => b - a).slice(0, surge);
  const left = quota.hard - quota.used - sum(reservedBesides(candidate), field) + add(sizes) - add(stillThere);
  const most = left / replicas - total(others, field);
  // Not even a pod with the present request can be created, so the limit cannot be raised either.
  return field === "request" && most < has ? [cap(name, "limit", 0), cap(name, field, most)] : [cap(name, field, most)];
}

/** Reservations that are not part of this redeployment: a rollout replaces all pods that are not resized, a copy only its original. */
function reservedBesides(candidate: Candidate): readonly Reservation[] {
  const { seen, pod: own } = candidate;
  return reservedForOthers(candidate).filter(({ uid, container: name }) => {
    if (seen.app.kind === "Pod") return uid !== own.uid;
    const pod = podOf(seen, uid);
    const container = pod && containerOf(pod, name);
    return pod !== undefined && container !== undefined && resizesInPlace(seen, pod, container);
  });
}

/** New pods are admitted as a whole: a container that is too large prevents the raise of another one. */
function rangeOfRedeployment({ name, per, max }: ObservedLimitRange, { others }: Redeployment): readonly Cap[] {
  if (max === undefined) return [];
  const fits = others.every(({ limit }) => limit <= max);
  return [cap(`LimitRange/${name}`, "limit", per === "Pod" ? max - total(others, "limit") : fits ? max : 0)];
}

const add = (sizes: readonly number[]) => sizes.reduce((sum, size) => sum + size, 0);
const total = (containers: readonly { readonly [F in Field]?: number | undefined }[], field: Field) =>
  add(containers.map((each) => each[field] ?? 0));

// Reserved room. A raise that was decided but is not in the spec yet is neither in the `used` of a quota nor in the requests of a
// node, and the next container must not be granted the same room again.

export interface Reservation {
  readonly uid: string;
  readonly container: string;
  readonly node: string | undefined;
  /** Bytes beyond the spec. */
  readonly limit: number;
  readonly request: number;
  readonly to: Memory;
}

export function reservationOf(pod: ObservedPod, container: ObservedContainer, to: Memory): Reservation {
  return {
    uid: pod.uid,
    container: container.name,
    node: pod.node?.name,
    limit: Math.max(0, to.limit - (container.limit ?? 0)),
    request: Math.max(0, (to.request ?? 0) - (container.request ?? 0)),
    to,
  };
}

/** Reservations of the open intents. A redeployment takes no room from the spec of a pod; only the size of new pods is reserved. */
export function reservationsIn(seen: ObservedApp): readonly Reservation[] {
  return seen.record.intents.flatMap(({ method, changes, pod: { uid } }) => {
    const pod = seen.pods.find((each) => each.uid === uid);
    return changes.flatMap(({ container: name, to }) => {
      if (method !== "InPlace") return [{ uid, container: name, node: undefined, limit: 0, request: 0, to }];
      const container = pod?.containers.find((each) => each.name === name);
      return pod && container ? [reservationOf(pod, container, to)] : [];
    });
  });
}

// Grants: as much of a raise as all caps allow, rounded down to whole MiB, and the cap that reduced it. A grant never lowers anything.
//
// 256Mi/384Mi wants 512Mi/768Mi (request/limit):
//
//   caps                                granted         by
//   none                                512Mi/768Mi
//   maxMemory 600Mi                     400Mi/600Mi     maxMemory: the request keeps its proportion
//   quota leaves the request 300Mi      300Mi/768Mi     ResourceQuota/team: the limit may grow all the same
//   the same, limit ÷ request ≤ 2       300Mi/600Mi     LimitRange/ratio
//   maxMemory 388Mi                     nothing         maxMemory: 4Mi are less than 2 % of 384Mi, not worth a write
//
// Guaranteed, 384Mi/384Mi: the node has room for 500Mi → 500Mi/500Mi by Node/n1; request and limit stay equal.

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

/** A smaller raise is not worth a write and a possible restart, if a cap made it so small. A small memMultiplier is respected. */
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

/** maxLimitRequestRatio as a cap for this request: per container, or for the sums over the pod. */
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
