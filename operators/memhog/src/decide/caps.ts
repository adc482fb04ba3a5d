// The most that anybody allows a container: its AppMonitor, the namespace, the node. Kubernetes checks the namespace's part
// itself, but only by refusing; and it does not check a limit against the node at all: 900Gi on a node of 24 is accepted.
//
// A container of 256Mi/384Mi that wants 512Mi/768Mi:
//
//   cap                                                  allows it            because
//   maxMemory 600Mi                                      limit 600Mi          it says so
//   LimitRange per container, max 1Gi                    limit 1024Mi         it says so
//   LimitRange per pod, max 1Gi, a sidecar has 300Mi     limit 724Mi          1024 − 300
//   ResourceQuota limits.memory, 9.5Gi of 10Gi used      limit 896Mi          384 + 512: what it has is among what is used
//   ResourceQuota requests.memory, all of it used        request 256Mi        256 + 0; the limit is free to grow
//   Node of 16Gi                                         limit 16384Mi        more than the node has is no memory, only a promise
//   the same, Guaranteed 384Mi, 15.9Gi requested         request 486.4Mi      384 + 102.4: its request must follow at once
//
// The node is that of the present pod. A redeployed pod may land on a larger one; we do not count on it.
// maxLimitRequestRatio is no fixed number of bytes, but a bond between the two: grant.ts keeps it.
import { type Bytes, bytes } from "../model/bytes.ts";
import type { Cap } from "../model/plan.ts";
import type { NodeSeen, PodSeen, QuotaSeen, RangeSeen } from "../model/seen.ts";
import type { Looked } from "./facts.ts";
import { resizesInPlace } from "./in-place-able.ts";
import type { Promised } from "./promised.ts";

type Field = Cap["of"];

/** The tightest first. */
export function capsOn(looked: Looked, maxMemory: Bytes | undefined): readonly Cap[] {
  const { limits } = looked.seen;
  const { node } = looked.pod;
  const all = [
    ...(maxMemory === undefined ? [] : [cap("maxMemory", "limit", maxMemory)]),
    ...limits.ranges.flatMap((range) => byRange(range, looked)),
    ...limits.quotas.flatMap((quota) => byQuota(quota, looked)),
    ...(node === undefined ? [] : byNode(node, looked)),
  ];
  return all.toSorted((a, b) => a.most - b.most);
}

function byRange({ name, per, max }: RangeSeen, looked: Looked): readonly Cap[] {
  if (max === undefined) return [];
  return [cap(`LimitRange/${name}`, "limit", per === "Container" ? max : max - ofOthers(looked, "limit"))];
}

function byQuota({ name, of, hard, used }: QuotaSeen, looked: Looked): readonly Cap[] {
  const field = of === "limits" ? "limit" : "request";
  const has = looked.container[field];
  if (has === undefined) return [];
  return [cap(`ResourceQuota/${name}`, field, has + hard - used - sum(spokenFor(looked), field))];
}

function byNode(node: NodeSeen, looked: Looked): readonly Cap[] {
  const name = `Node/${node.name}`;
  const { pod, container } = looked;
  const limit = cap(name, "limit", node.allocatable);
  if (container.request === undefined) return [limit];
  // Kubernetes 1.36 refuses requests above allocatable; before, they are infeasible.
  if (!needsRoomNow(looked)) return [limit, cap(name, "request", node.allocatable - ofOthers(looked, "request"))];
  const elsewhere = spokenFor(looked).filter((each) => each.node === pod.node?.name);
  const free = node.allocatable - node.requested - sum(elsewhere, "request");
  return [limit, cap(name, "request", container.request + free)];
}

/**
 * The request of a Guaranteed pod grows with its limit, on this very node, and so may that of a pod for which limit ÷ request is
 * bounded. That of others follows when there is room.
 */
function needsRoomNow({ seen, pod, container }: Looked): boolean {
  const together = pod.qos === "Guaranteed" || seen.limits.ranges.some(({ maxRatio }) => maxRatio !== undefined);
  return together && resizesInPlace(seen, pod, container);
}

/** What the other containers of the pod have, and were promised. */
export function ofOthers(looked: Looked, field: Field): number {
  const { pod, container } = looked;
  const others = pod.containers.filter(({ name }) => name !== container.name);
  const promised = spokenFor(looked).filter(({ uid }) => uid === pod.uid);
  return others.reduce((total, each) => total + (each[field] ?? 0), 0) + sum(promised, field);
}

/** What a container was promised itself does not stand in its own way. */
function spokenFor({ promised, pod, container }: { promised: readonly Promised[]; pod: PodSeen; container: { name: string } }) {
  return promised.filter((each) => each.uid !== pod.uid || each.container !== container.name);
}

const sum = (promised: readonly Promised[], field: Field) => promised.reduce((total, each) => total + each[field], 0);

const cap = (name: string, of: Field, most: number): Cap => ({ name, of, most: bytes(Math.max(0, Math.floor(most))) });
