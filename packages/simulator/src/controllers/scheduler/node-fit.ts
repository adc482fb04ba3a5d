// Whether a node takes a pod. The rules are asked in order, and the first that says no is the answer for this node; only the
// last one, resources, may say several things.
import {
  matches,
  type Node,
  type NodeSelectorRequirement,
  type Pod,
  type Stored,
  type Taint,
  type Toleration,
} from "@memhog/runtime";
import { type Amounts, amountsIn } from "./requests.ts";

export interface Room {
  readonly node: Stored<Node>;
  /** What the pods that are there request. */
  readonly taken: Amounts;
  readonly pods: number;
}

export interface Refusal {
  readonly reasons: readonly string[];
  /** Whether it would help if other pods went. */
  readonly curable: boolean;
}

/** undefined: it fits. */
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

/** Whether one of the tolerations is about this taint. */
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
