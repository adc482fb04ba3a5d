// Selects a node for a pod, or explains why none fits.
import type { Node, Pod, Stored } from "@memhog/runtime";
import type { NodeSelectorRequirement, PersistentVolumeClaim, Taint, Toleration } from "@memhog/runtime/kinds";
import { matches } from "@memhog/runtime/objects";
import { type Amounts, amountsIn } from "./requests.ts";

type Placement =
  | { readonly kind: "bind"; readonly node: Stored<Node> }
  /** The message that `kubectl describe pod` shows. */
  | { readonly kind: "wait"; readonly message: string };

/** Unsupported scheduling constraints: such pods stay Pending with a message that says so. */
function notKnownHere({ spec }: Stored<Pod>): string | undefined {
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {};
  const spreads = spec.topologySpreadConstraints?.some(({ whenUnsatisfiable }) => whenUnsatisfiable === "DoNotSchedule");
  const asked = [
    ...(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.length ? ["required podAffinity"] : []),
    ...(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.length ? ["required podAntiAffinity"] : []),
    ...(spreads ? ["topologySpreadConstraints with DoNotSchedule"] : []),
  ];
  return asked.length === 0 ? undefined : `the simulator's scheduler does not implement ${asked.join(", ")}`;
}

/** A claim that the pod mounts. */
interface MountedClaim {
  readonly name: string;
  readonly found: Stored<PersistentVolumeClaim> | undefined;
}

/** Why the claims of a pod prevent scheduling; undefined if all are bound. */
function lackOfStorage(claims: readonly MountedClaim[]): string | undefined {
  for (const { name, found } of claims) {
    if (found === undefined) return `persistentvolumeclaim "${name}" not found`;
    if (found.metadata.deletionTimestamp !== undefined) return `persistentvolumeclaim "${name}" is being deleted`;
  }
  const isBound = ({ found }: MountedClaim) => found?.status?.phase === "Bound";
  return claims.every(isBound) ? undefined : "pod has unbound immediate PersistentVolumeClaims";
}

/** The node with the most free resources among those that fit. */
export function decidePlacement(
  pod: Stored<Pod>,
  requests: Amounts,
  rooms: readonly Room[],
  claims: readonly MountedClaim[] = [],
): Placement {
  const unknown = notKnownHere(pod);
  if (unknown !== undefined) return { kind: "wait", message: unknown };
  if (rooms.length === 0) return { kind: "wait", message: "no nodes available to schedule pods" };
  const missing = lackOfStorage(claims);
  if (missing !== undefined) {
    const none = `0/${rooms.length} nodes are available:`;
    const message = `${none} ${missing}. preemption: ${none} ${rooms.length} Preemption is not helpful for scheduling.`;
    return { kind: "wait", message };
  }
  const refusals: Refusal[] = [];
  const fitting: Room[] = [];
  for (const room of rooms) {
    const refusal = refusalOf(pod, requests, room);
    if (refusal === undefined) fitting.push(room);
    else refusals.push(refusal);
  }
  const [best] = fitting.map((room) => ({ room, left: leftIn(room, requests) })).sort(byRoom);
  return best === undefined ? { kind: "wait", message: describe(refusals) } : { kind: "bind", node: best.room.node };
}

/** Most free resources first, then fewest pods, then by name, so that the result is deterministic. */
function byRoom(a: Rated, b: Rated): number {
  const inOrder = a.room.node.metadata.name < b.room.node.metadata.name;
  return b.left - a.left || a.room.pods - b.room.pods || (inOrder ? -1 : 1);
}

interface Rated {
  readonly room: Room;
  readonly left: number;
}

/** The free share after placement: the mean of CPU and memory, in whole percent as in the real scheduler. */
function leftIn({ node, taken }: Room, requests: Amounts): number {
  const { cpu = 0, memory = 0 } = amountsIn(node.status?.allocatable);
  const share = (all: number, used: number) => (all === 0 ? 0 : Math.floor(((all - used) * 100) / all));
  return Math.floor((share(cpu, taken.cpu + requests.cpu) + share(memory, taken.memory + requests.memory)) / 2);
}

/** "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable. preemption: …" */
function describe(refusals: readonly Refusal[]): string {
  const none = `0/${refusals.length} nodes are available:`;
  const helped = refusals.map(({ curable }) =>
    curable ? "No preemption victims found for incoming pod" : "Preemption is not helpful for scheduling",
  );
  return `${none} ${counted(refusals.flatMap(({ reasons }) => reasons))}. preemption: ${none} ${counted(helped)}.`;
}

function counted(reasons: readonly string[]): string {
  return [...Map.groupBy(reasons, (reason) => reason)]
    .map(([reason, all]) => `${all.length} ${reason}`)
    .sort()
    .join(", ");
}

// Whether a pod fits a node. The first rule that rejects it gives the reason; only the resource rule can give several.

export interface Room {
  readonly node: Stored<Node>;
  /** The requests of the pods on the node. */
  readonly taken: Amounts;
  readonly pods: number;
}

export interface Refusal {
  readonly reasons: readonly string[];
  /** Whether preemption could help. */
  readonly curable: boolean;
}

/** Undefined if the pod fits. */
export function refusalOf(pod: Stored<Pod>, requests: Amounts, room: Room): Refusal | undefined {
  const { node } = room;
  const never = (reason: string): Refusal => ({ reasons: [reason], curable: false });
  const taints = node.spec?.taints ?? [];
  if (node.spec?.unschedulable && !tolerates(pod.spec.tolerations, cordon)) return never("node(s) were unschedulable");
  const forbidding = taints.filter(({ effect }) => effect !== "PreferNoSchedule");
  if (forbidding.some((taint) => !tolerates(pod.spec.tolerations, taint))) return never("node(s) had untolerated taint(s)");
  if (!selects(pod, node)) return never("node(s) didn't match Pod's node affinity/selector");
  return lackOf(requests, room);
}

const cordon: Taint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };

function lackOf(requests: Amounts, { node, taken, pods }: Room): Refusal | undefined {
  const { cpu = 0, memory = 0 } = amountsIn(node.status?.allocatable);
  const places = Number(node.status?.allocatable?.pods ?? 0);
  const reasons = [
    ...(pods + 1 > places ? ["Too many pods"] : []),
    ...(requests.cpu > 0 && requests.cpu > cpu - taken.cpu ? ["Insufficient cpu"] : []),
    ...(requests.memory > 0 && requests.memory > memory - taken.memory ? ["Insufficient memory"] : []),
  ];
  return reasons.length === 0 ? undefined : { reasons, curable: requests.cpu <= cpu && requests.memory <= memory };
}

/** Whether a toleration matches this taint. */
export function tolerates(tolerations: readonly Toleration[] = [], taint: Taint): boolean {
  return tolerations.some((toleration) => isAbout(toleration, taint));
}

export function isAbout({ key, operator = "Equal", value = "", effect }: Toleration, taint: Taint): boolean {
  if (effect !== undefined && effect !== taint.effect) return false;
  if (key === undefined || key === "") return operator === "Exists";
  return key === taint.key && (operator === "Exists" || value === (taint.value ?? ""));
}

/** nodeSelector and the required part of node affinity. */
export function selects({ spec }: Pick<Pod, "spec">, { metadata }: Stored<Node>): boolean {
  const labelled = Object.entries(spec.nodeSelector ?? {}).every(([key, value]) => metadata.labels?.[key] === value);
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const fields = { "metadata.name": metadata.name };
  return (
    labelled &&
    (terms === undefined ||
      terms.some(
        ({ matchExpressions = [], matchFields = [] }) =>
          matchExpressions.length + matchFields.length > 0 &&
          matches(matchExpressions.map(requirement), metadata.labels) &&
          matches(matchFields.map(requirement), fields),
      ))
  );
}

const requirement = ({ key, operator, values = [] }: NodeSelectorRequirement) => ({ key, operator, values });
