// DaemonSets: one pod on each eligible node. The pod selects its node by affinity, and the scheduler assigns it.
import { allow, controller, done, Node, type Outcome, Pod, requeueAfter, type Stored } from "@memhog/runtime";
import { DaemonSet, type DaemonSetStatus, type Taint, type Toleration } from "@memhog/runtime/kinds";
import { selects, tolerates } from "./scheduler/decide.ts";
import {
  ControllerRevision,
  decideRevisions,
  hasEnded,
  isActive,
  isAvailable,
  isBeingDeleted,
  isReady,
  podFrom,
  rejectionOf,
  rejectionRetry,
  report,
  resolveBound,
  revisionLabel,
  stated,
  unlessZero,
} from "./workload.ts";

export const daemonSets = controller(
  DaemonSet,
  {
    name: "daemonset",
    owns: [Pod, ControllerRevision],
    watches: [{ kind: Node, map: (_node, cached) => cached.list(DaemonSet).map(({ metadata }) => metadata) }],
    permissions: [allow(DaemonSet, "update", { subresource: "status" })],
  },
  async (ref, ctx): Promise<Outcome> => {
    const set = ctx.get(DaemonSet, ref);
    if (set === undefined || isBeingDeleted(set)) return done();
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
    let rejected = false;
    try {
      for (const node of create) {
        const pod = await ctx.client.create(Pod, podFor(set, node, hash));
        ctx.event(set, { reason: "SuccessfulCreate", message: `Created pod: ${pod.metadata.name}` });
      }
    } catch (error) {
      rejected = true;
      ctx.event(set, { type: "Warning", reason: "FailedCreate", message: `Error creating: ${rejectionOf(error).message}` });
    }
    for (const { metadata } of remove) {
      await ctx.client.delete(Pod, metadata, { uid: metadata.uid });
      ctx.event(set, { reason: "SuccessfulDelete", message: `Deleted pod: ${metadata.name}` });
    }
    for (const { metadata } of revisions.forget) await ctx.client.delete(ControllerRevision, metadata, { uid: metadata.uid });
    const status = decideStatus(set, { nodes, pods, hash, now });
    await report(set, status, (next) => ctx.client.update(DaemonSet, next, { subresource: "status" }));
    return rejected ? requeueAfter(rejectionRetry, "pods were refused") : done();
  },
);

interface Daemons {
  readonly nodes: readonly Stored<Node>[];
  readonly pods: readonly Stored<Pod>[];
  /** Of the current template. */
  readonly hash: string;
  readonly now: number;
}

interface DaemonSteps {
  /** Names of nodes. */
  readonly create: readonly string[];
  readonly remove: readonly Stored<Pod>[];
}

/** Creates missing pods and deletes misplaced ones. If there are none, selects outdated pods to replace. */
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
      .filter((pod) => !isBeingDeleted(pod))
      .slice(1),
  );
  const remove = [...stray, ...spare, ...pods.filter(hasEnded)].filter((pod) => !isBeingDeleted(pod));
  if (create.length > 0 || remove.length > 0 || set.spec.updateStrategy?.type === "OnDelete") {
    return { create, remove: [...new Set(remove)] };
  }
  const { maxUnavailable = 1 } = set.spec.updateStrategy?.rollingUpdate ?? {};
  const serves = (pod: Stored<Pod>) => isActive(pod) && isAvailable(pod, set.spec.minReadySeconds ?? 0, now);
  const outdated = pods.filter((pod) => hashOf(pod) !== hash && !isBeingDeleted(pod));
  const mayMiss = resolveBound(maxUnavailable, wanted.length, "up") - wanted.filter((node) => !on(node).some(serves)).length;
  // An outdated pod that is not available is replaced in any case.
  const useless = outdated.filter((pod) => !serves(pod));
  return { create, remove: [...useless, ...outdated.filter(serves).slice(0, Math.max(0, mayMiss))] };
}

/** Tolerations that the controller adds to the pods of every DaemonSet. */
const tolerations: readonly Toleration[] = [
  { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute" },
  { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute" },
  { key: "node.kubernetes.io/disk-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/memory-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/pid-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/unschedulable", operator: "Exists", effect: "NoSchedule" },
];

/** Whether a node should have a pod; with NoExecute only, whether an existing pod may stay. */
function belongsOn(
  { spec }: Stored<DaemonSet>,
  node: Stored<Node>,
  effects: readonly Taint["effect"][] = ["NoSchedule", "NoExecute"],
): boolean {
  const borne = [...(spec.template.spec.tolerations ?? []), ...tolerations];
  const taints = (node.spec?.taints ?? []).filter(({ effect }) => effects.includes(effect));
  return selects(spec.template, node) && taints.every((taint) => tolerates(borne, taint));
}

/** The node that a pod runs on or is intended for. */
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
