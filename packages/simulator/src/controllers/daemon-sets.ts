// DaemonSets: one pod on each node that takes it. The pod says by affinity which node it is for; the scheduler puts it there.
import {
  controller,
  DaemonSet,
  type DaemonSetStatus,
  done,
  may,
  Node,
  type Outcome,
  Pod,
  type Stored,
  type Taint,
  type Toleration,
} from "@memhog/runtime";
import { resolveBound } from "./percent.ts";
import { hasEnded, isActive, isAvailable, isGoing, isReady, podFrom } from "./pods.ts";
import { ControllerRevision, decideRevisions, revisionLabel } from "./revisions.ts";
import { selects, tolerates } from "./scheduler/node-fit.ts";
import { report, stated, unlessZero } from "./status.ts";

export const daemonSets = controller(
  DaemonSet,
  {
    name: "daemonset",
    owns: [Pod, ControllerRevision],
    watches: [{ kind: Node, map: (_node, sets) => [...sets.objects()].map(({ metadata }) => metadata) }],
    may: [may(DaemonSet, "update", { subresource: "status" })],
  },
  async (ref, ctx): Promise<Outcome> => {
    const set = ctx.get(DaemonSet, ref);
    if (set === undefined || isGoing(set)) return done();
    const pods = ctx.list(Pod, { ownedBy: set });
    const nodes = ctx.list(Node);
    const { template, revisionHistoryLimit } = set.spec;
    const inUse = new Set(pods.map((pod) => `${set.metadata.name}-${hashOf(pod)}`));
    const options = { owner: set, kind: DaemonSet, template, limit: revisionHistoryLimit, inUse };
    const revisions = decideRevisions(options, ctx.list(ControllerRevision, { ownedBy: set }));
    const { update } = revisions;
    if (revisions.write === "create") await ctx.client.create(ControllerRevision, update);
    if (revisions.write === "renumber") {
      await ctx.client.patch(ControllerRevision, update.metadata, { type: "merge", body: { revision: update.revision } });
    }

    const now = ctx.clock.now();
    const hash = update.metadata.labels?.[revisionLabel] ?? "";
    const { create, remove } = decideDaemons(set, { nodes, pods, hash, now });
    for (const node of create) {
      const pod = await ctx.client.create(Pod, podFor(set, node, hash));
      ctx.event(set, { reason: "SuccessfulCreate", note: `Created pod: ${pod.metadata.name}` });
    }
    for (const { metadata } of remove) {
      await ctx.client.delete(Pod, metadata, { uid: metadata.uid });
      ctx.event(set, { reason: "SuccessfulDelete", note: `Deleted pod: ${metadata.name}` });
    }
    for (const { metadata } of revisions.forget) await ctx.client.delete(ControllerRevision, metadata, { uid: metadata.uid });
    const status = decideStatus(set, { nodes, pods, hash, now });
    await report(set, status, (next) => ctx.client.update(DaemonSet, next, { subresource: "status" }));
    return done();
  },
);

export interface Daemons {
  readonly nodes: readonly Stored<Node>[];
  readonly pods: readonly Stored<Pod>[];
  /** Of today's template. */
  readonly hash: string;
  readonly now: number;
}

export interface DaemonSteps {
  /** Names of nodes. */
  readonly create: readonly string[];
  readonly remove: readonly Stored<Pod>[];
}

/** Where pods are missing or should not be; and, where all is well, which old ones may be replaced. */
export function decideDaemons(set: Stored<DaemonSet>, daemons: Daemons): DaemonSteps {
  const { nodes, pods, hash, now } = daemons;
  const byNode = Map.groupBy(pods, nodeOf);
  const on = (node: Stored<Node>) => byNode.get(node.metadata.name) ?? [];
  const wanted = nodes.filter((node) => belongsOn(set, node));
  const create = wanted.filter((node) => on(node).length === 0).map(({ metadata }) => metadata.name);
  const bearable = nodes.filter((node) => belongsOn(set, node, ["NoExecute"]));
  const stray = pods.filter((pod) => !bearable.some(({ metadata }) => metadata.name === nodeOf(pod)));
  const spare = wanted.flatMap((node) =>
    on(node)
      .filter((pod) => !isGoing(pod))
      .slice(1),
  );
  const remove = [...stray, ...spare, ...pods.filter(hasEnded)].filter((pod) => !isGoing(pod));
  if (create.length > 0 || remove.length > 0 || set.spec.updateStrategy?.type === "OnDelete") {
    return { create, remove: [...new Set(remove)] };
  }
  const { maxUnavailable = 1 } = set.spec.updateStrategy?.rollingUpdate ?? {};
  const serves = (pod: Stored<Pod>) => isActive(pod) && isAvailable(pod, set.spec.minReadySeconds ?? 0, now);
  const outdated = pods.filter((pod) => hashOf(pod) !== hash && !isGoing(pod));
  const mayMiss = resolveBound(maxUnavailable, wanted.length, "up") - wanted.filter((node) => !on(node).some(serves)).length;
  // An old pod that does not serve is replaced in any case: it cannot be missed.
  const useless = outdated.filter((pod) => !serves(pod));
  return { create, remove: [...useless, ...outdated.filter(serves).slice(0, Math.max(0, mayMiss))] };
}

/** What a daemon bears that other pods do not: it is part of the node. */
const tolerations: readonly Toleration[] = [
  { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute" },
  { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute" },
  { key: "node.kubernetes.io/disk-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/memory-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/pid-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/unschedulable", operator: "Exists", effect: "NoSchedule" },
];

/** Whether a node should have a daemon; with NoExecute alone, whether one that is there may stay. */
function belongsOn(
  { spec }: Stored<DaemonSet>,
  node: Stored<Node>,
  effects: readonly Taint["effect"][] = ["NoSchedule", "NoExecute"],
): boolean {
  const borne = [...(spec.template.spec.tolerations ?? []), ...tolerations];
  const taints = (node.spec?.taints ?? []).filter(({ effect }) => effects.includes(effect));
  return selects(spec.template, node) && taints.every((taint) => tolerates(borne, taint));
}

/** The node a daemon is on, or meant for. */
function nodeOf({ spec }: Stored<Pod>): string {
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const meant = terms.flatMap(({ matchFields = [] }) => matchFields).find(({ key }) => key === "metadata.name");
  return spec.nodeName ?? meant?.values?.[0] ?? "";
}

function hashOf({ metadata }: Stored<Pod>): string {
  return metadata.labels?.[revisionLabel] ?? "";
}

function podFor(set: Stored<DaemonSet>, node: string, hash: string): Pod {
  const { template } = set.spec;
  const labels = { ...template.metadata?.labels, [revisionLabel]: hash };
  const pod = podFrom({ ...template, metadata: { ...template.metadata, labels } }, set, DaemonSet);
  const term = { matchFields: [{ key: "metadata.name", operator: "In", values: [node] }] } as const;
  const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } };
  const borne = [...(template.spec.tolerations ?? []), ...tolerations];
  return { ...pod, spec: { ...pod.spec, affinity: { ...pod.spec.affinity, nodeAffinity }, tolerations: borne } };
}

export function decideStatus(set: Stored<DaemonSet>, { nodes, pods, hash, now }: Daemons): DaemonSetStatus {
  const wanted = nodes.filter((node) => belongsOn(set, node)).map(({ metadata }) => metadata.name);
  const placed = pods.filter((pod) => wanted.includes(nodeOf(pod)));
  const onNodes = (which: (pod: Stored<Pod>) => boolean) => new Set(placed.filter(which).map(nodeOf)).size;
  const available = onNodes((pod) => isActive(pod) && isAvailable(pod, set.spec.minReadySeconds ?? 0, now));
  return stated<DaemonSetStatus>({
    currentNumberScheduled: onNodes(() => true),
    desiredNumberScheduled: wanted.length,
    numberMisscheduled: pods.length - placed.length,
    numberReady: onNodes((pod) => isActive(pod) && isReady(pod)),
    numberAvailable: unlessZero(available),
    numberUnavailable: unlessZero(wanted.length - available),
    updatedNumberScheduled: unlessZero(onNodes((pod) => hashOf(pod) === hash)),
    observedGeneration: set.metadata.generation,
  });
}
