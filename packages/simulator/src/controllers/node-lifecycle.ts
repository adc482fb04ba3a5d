// Node lifecycle: marks nodes that stop renewing their Lease as unreachable, and turns node conditions into taints.
import {
  allow,
  controller,
  done,
  findCondition,
  indexBy,
  Node,
  NotFoundError,
  type Outcome,
  Pod,
  requeueAfter,
  type Stored,
  seconds,
} from "@memhog/runtime";
import { type Condition, Lease, type NodeCondition, type Taint } from "@memhog/runtime/kinds";
import { formatTime, parseTime } from "@memhog/runtime/objects";
import { isAbout } from "./scheduler/decide.ts";
import { isBeingDeleted, isReady } from "./workload.ts";

/** How long a node may miss its heartbeats. */
const graceMs = 50_000;
const leases = "kube-node-lease";
const byNode = indexBy(Pod, ({ spec }) => spec.nodeName);

export const nodeLifecycle = controller(
  Node,
  {
    name: "node-lifecycle",
    watches: [
      { kind: Lease, map: ({ metadata }) => (metadata.namespace === leases ? [{ name: metadata.name }] : []) },
      {
        kind: Pod,
        predicate: ({ type }) => type === "added",
        map: ({ spec }) => (spec.nodeName === undefined ? [] : [{ name: spec.nodeName }]),
      },
    ],
    permissions: [allow(Node, "patch"), allow(Pod, "patch", { subresource: "status" })],
  },
  async (ref, ctx): Promise<Outcome> => {
    const node = ctx.get(Node, ref);
    if (node === undefined || isBeingDeleted(node)) return done();
    const now = ctx.clock.now();
    const silentInMs = decideSilence(node, ctx.get(Lease, { namespace: leases, name: ref.name }), now);
    const lost = silentInMs <= 0 ? decideLost(node, now) : [];
    if (lost.length > 0) {
      await ctx.client.patch(Node, ref, { type: "strategic", body: { status: { conditions: lost } } }, { subresource: "status" });
      ctx.event(node, { reason: "NodeNotReady", message: `Node ${ref.name} status is now: NodeNotReady` });
      return done(); // the change causes the next reconcile
    }
    const taints = decideTaints(node, now);
    if (taints !== undefined) {
      const { resourceVersion } = node.metadata;
      await ctx.client.patch(Node, ref, { type: "merge", body: { metadata: { resourceVersion }, spec: { taints } } });
    }
    if (findCondition(node.status?.conditions, "Ready")?.status !== "True") {
      for (const pod of ctx.lookup(byNode, ref.name).filter(isReady)) {
        const body = { status: { conditions: [{ type: "Ready", status: "False", lastTransitionTime: formatTime(now) }] } };
        await ctx.client.patch(Pod, pod.metadata, { type: "strategic", body }, { subresource: "status" });
      }
    }
    return silentInMs <= 0 ? done() : requeueAfter(silentInMs, "by then the node should have been heard of");
  },
);

/** How long until a node without heartbeats is unreachable. */
export function decideSilence(node: Stored<Node>, lease: Stored<Lease> | undefined, nowMs: number): number {
  const ready = findCondition(node.status?.conditions, "Ready");
  const heard = [lease?.spec?.renewTime, ready?.lastHeartbeatTime, node.metadata.creationTimestamp].map(
    (time) => parseTime(time) ?? 0,
  );
  return Math.max(...heard) + graceMs - nowMs;
}

const watched = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];

/** The conditions that become Unknown; none if they already are. */
export function decideLost({ status, metadata }: Stored<Node>, nowMs: number): readonly NodeCondition[] {
  const now = formatTime(nowMs);
  return watched.flatMap((type) => {
    const said: NodeCondition | undefined = findCondition(status?.conditions, type);
    if (said?.status === "Unknown") return [];
    const never = { reason: "NodeStatusNeverUpdated", message: "Kubelet never posted node status." };
    const stopped = { reason: "NodeStatusUnknown", message: "Kubelet stopped posting node status." };
    const heard = said?.lastHeartbeatTime ?? metadata.creationTimestamp ?? now;
    const words = said === undefined ? never : stopped;
    return [{ type, status: "Unknown" as const, ...words, lastHeartbeatTime: heard, lastTransitionTime: now }];
  });
}

interface Rule {
  readonly key: string;
  readonly holds: (node: Stored<Node>) => boolean;
  readonly effects: readonly Taint["effect"][];
}

const says = (type: string, status: Condition["status"]) => (node: Stored<Node>) =>
  findCondition(node.status?.conditions, type)?.status === status;

/** The taints for the conditions of a node. */
const rules: readonly Rule[] = [
  { key: "not-ready", holds: says("Ready", "False"), effects: ["NoSchedule", "NoExecute"] },
  { key: "unreachable", holds: says("Ready", "Unknown"), effects: ["NoSchedule", "NoExecute"] },
  { key: "memory-pressure", holds: says("MemoryPressure", "True"), effects: ["NoSchedule"] },
  { key: "disk-pressure", holds: says("DiskPressure", "True"), effects: ["NoSchedule"] },
  { key: "pid-pressure", holds: says("PIDPressure", "True"), effects: ["NoSchedule"] },
  { key: "network-unavailable", holds: says("NetworkUnavailable", "True"), effects: ["NoSchedule"] },
  { key: "unschedulable", holds: ({ spec }) => spec?.unschedulable === true, effects: ["NoSchedule"] },
];

/** The taints that a node should have, including those of others; undefined if it has them. */
export function decideTaints(node: Stored<Node>, nowMs: number): readonly Taint[] | undefined {
  const present = node.spec?.taints ?? [];
  // The API server taints a new node. The taint stays until the node reports its status.
  if (findCondition(node.status?.conditions, "Ready") === undefined) return undefined;
  const wanted = rules.flatMap(({ key, holds, effects }) =>
    holds(node) ? effects.map((effect) => ({ key: `node.kubernetes.io/${key}`, effect })) : [],
  );
  const isOurs = ({ key }: Taint) => rules.some((rule) => key === `node.kubernetes.io/${rule.key}`);
  const isSame = (a: Pick<Taint, "key" | "effect">) => (b: Taint) => a.key === b.key && a.effect === b.effect;
  const added = wanted
    .filter((taint) => !present.some(isSame(taint)))
    .map((taint) => ({ ...taint, timeAdded: formatTime(nowMs) }));
  const kept = present.filter((taint) => !isOurs(taint) || wanted.some((other) => isSame(other)(taint)));
  return added.length === 0 && kept.length === present.length ? undefined : [...kept, ...added];
}

// Taint eviction: deletes pods on a node with a NoExecute taint, at once or after their toleration seconds, and removes pods of
// nodes that no longer exist.

const onNode = indexBy(Pod, ({ spec }) => spec.nodeName);

export const taintEviction = controller(
  Pod,
  {
    name: "taint-eviction",
    predicate: ({ object }) => object.spec.nodeName !== undefined,
    watches: [
      {
        kind: Node,
        predicate: ({ type, object, previous }) =>
          type === "removed" || isTainting(object) || (previous !== undefined && isTainting(previous)),
        map: ({ metadata }, cached) => cached.lookup(onNode, metadata.name).map(({ metadata }) => metadata),
      },
    ],
    permissions: [allow(Pod, "delete")],
  },
  async (ref, ctx): Promise<Outcome> => {
    const pod = ctx.get(Pod, ref);
    if (pod?.spec.nodeName === undefined) return done();
    const node = ctx.get(Node, { name: pod.spec.nodeName });
    const now = ctx.clock.now();
    const goes =
      node === undefined
        ? { inMs: abandonedInMs(pod, now), force: true }
        : { inMs: decideEviction(pod, node, now), force: false };
    if (goes.inMs === undefined || (isBeingDeleted(pod) && !goes.force)) return done();
    if (goes.inMs > 0) return requeueAfter(goes.inMs, "the pod bears its node for as long");
    if (!goes.force) {
      ctx.event(pod, { reason: "TaintManagerEviction", message: `Marking for deletion Pod ${ref.namespace}/${ref.name}` });
      const why = { reason: "DeletionByTaintManager", message: "Taint manager: deleting due to NoExecute taint" };
      const condition = { type: "DisruptionTarget", status: "True", ...why, lastTransitionTime: formatTime(now) };
      await ctx.client.patch(
        Pod,
        ref,
        { type: "strategic", body: { status: { conditions: [condition] } } },
        { subresource: "status" },
      );
    }
    try {
      await ctx.client.delete(Pod, ref, { uid: pod.metadata.uid, ...(goes.force && { gracePeriodSeconds: 0 }) });
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
    return done();
  },
);

function isTainting({ spec }: Stored<Node>): boolean {
  return spec?.taints?.some(({ effect }) => effect === "NoExecute") ?? false;
}

/** How long a pod may stay on its node; undefined: forever. */
export function decideEviction({ spec }: Stored<Pod>, node: Stored<Node>, nowMs: number): number | undefined {
  const { tolerations = [] } = spec;
  const waits = (node.spec?.taints ?? [])
    .filter(({ effect }) => effect === "NoExecute")
    .map((taint) => {
      const borne = tolerations.filter((toleration) => isAbout(toleration, taint));
      if (borne.length === 0) return 0;
      const shortest = Math.min(...borne.map(({ tolerationSeconds = Number.POSITIVE_INFINITY }) => tolerationSeconds));
      return Math.max(0, (parseTime(taint.timeAdded) ?? nowMs) + Math.max(0, shortest) * 1_000 - nowMs);
    });
  const first = Math.min(Number.POSITIVE_INFINITY, ...waits);
  return first === Number.POSITIVE_INFINITY ? undefined : first;
}

/** A pod may exist before its node, but not for long. */
function abandonedInMs({ metadata }: Stored<Pod>, nowMs: number): number {
  return (parseTime(metadata.creationTimestamp) ?? nowMs) + seconds(60) - nowMs;
}
