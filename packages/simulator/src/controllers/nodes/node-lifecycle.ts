// Nodes that stop renewing their Lease are called unreachable; what is wrong with a node becomes a taint, so that no pod is
// put there and (taint-eviction.ts) those that are there go.
import {
  type Condition,
  checkAgainIn,
  controller,
  done,
  findCondition,
  formatTime,
  indexBy,
  Lease,
  may,
  Node,
  type NodeCondition,
  type Outcome,
  Pod,
  parseTime,
  type Stored,
  type Taint,
} from "@memhog/runtime";
import { isGoing, isReady } from "../pods.ts";

/** How long a node may be silent. */
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
        when: ({ type }) => type === "added",
        map: ({ spec }) => (spec.nodeName === undefined ? [] : [{ name: spec.nodeName }]),
      },
    ],
    may: [may(Node, "patch"), may(Pod, "patch", { subresource: "status" })],
  },
  async (ref, ctx): Promise<Outcome> => {
    const node = ctx.get(Node, ref);
    if (node === undefined || isGoing(node)) return done();
    const now = ctx.clock.now();
    const silentInMs = decideSilence(node, ctx.get(Lease, { namespace: leases, name: ref.name }), now);
    const lost = silentInMs <= 0 ? decideLost(node, now) : [];
    if (lost.length > 0) {
      await ctx.client.patch(Node, ref, { type: "strategic", body: { status: { conditions: lost } } }, { subresource: "status" });
      ctx.event(node, { reason: "NodeNotReady", note: `Node ${ref.name} status is now: NodeNotReady` });
      return done(); // the change brings us back
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
    return silentInMs <= 0 ? done() : checkAgainIn(silentInMs, "by then the node should have been heard of");
  },
);

/** How long until a node that is not heard of any more counts as lost. */
export function decideSilence(node: Stored<Node>, lease: Stored<Lease> | undefined, nowMs: number): number {
  const ready = findCondition(node.status?.conditions, "Ready");
  const heard = [lease?.spec?.renewTime, ready?.lastHeartbeatTime, node.metadata.creationTimestamp].map(
    (time) => parseTime(time) ?? 0,
  );
  return Math.max(...heard) + graceMs - nowMs;
}

const watched = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];

/** The conditions that nobody can vouch for any more, as they are to be; none if they say so already. */
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

/** What is wrong with a node, as taints. */
const rules: readonly Rule[] = [
  { key: "not-ready", holds: says("Ready", "False"), effects: ["NoSchedule", "NoExecute"] },
  { key: "unreachable", holds: says("Ready", "Unknown"), effects: ["NoSchedule", "NoExecute"] },
  { key: "memory-pressure", holds: says("MemoryPressure", "True"), effects: ["NoSchedule"] },
  { key: "disk-pressure", holds: says("DiskPressure", "True"), effects: ["NoSchedule"] },
  { key: "pid-pressure", holds: says("PIDPressure", "True"), effects: ["NoSchedule"] },
  { key: "network-unavailable", holds: says("NetworkUnavailable", "True"), effects: ["NoSchedule"] },
  { key: "unschedulable", holds: ({ spec }) => spec?.unschedulable === true, effects: ["NoSchedule"] },
];

/** The taints a node should have, those of others included; undefined if it has them. */
export function decideTaints(node: Stored<Node>, nowMs: number): readonly Taint[] | undefined {
  const present = node.spec?.taints ?? [];
  // A new node that has not said a word yet is tainted by the API server; that stays until it speaks.
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
