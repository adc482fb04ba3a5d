// CPU and memory as numbers, as the kubelet computes them to admit a pod.
import { parseQuantity } from "@memhog/runtime";
import type { Container, PodSpec, ResourceList, ResourceRequirements } from "@memhog/runtime/kinds";
import type { Room } from "./pod-tools.ts";

export interface Amounts {
  /** Thousandths of a CPU. */
  readonly cpu: number;
  /** Bytes. */
  readonly memory: number;
}

/** Selects the resources of a container: those of the spec, or the allocated ones. */
type ResourcesOf = (container: Container) => ResourceRequirements | undefined;

const none: Amounts = { cpu: 0, memory: 0 };

export function amountsIn(list: ResourceList | undefined): Amounts {
  const { cpu = 0, memory = 0 } = list ?? {};
  return { cpu: Number(parseQuantity(cpu).milliValue()), memory: Number(parseQuantity(memory).value()) };
}

export function isSidecar(container: Container): boolean {
  return container.restartPolicy === "Always";
}

/**
 * The resource requests of a pod. Containers run concurrently; init containers run one after the other, beside the sidecars
 * that started before them. The pod requests the maximum over these phases.
 *
 *     init 100Mi · sidecar 20Mi · init 200Mi · container 50Mi   →  max(100, 20 + 200, 20 + 50) = 220Mi
 */
export function requestsOf(spec: PodSpec, resourcesOf: ResourcesOf = ({ resources }) => resources): Amounts {
  const requested = (container: Container) => amountsIn(resourcesOf(container)?.requests);
  let peak = none;
  let beside = none;
  for (const container of spec.initContainers ?? []) {
    const own = requested(container);
    peak = larger(peak, sum([beside, own]));
    if (isSidecar(container)) beside = sum([beside, own]);
  }
  return sum([larger(peak, sum([beside, ...spec.containers.map(requested)])), amountsIn(spec.overhead)]);
}

export function sum(all: readonly Amounts[]): Amounts {
  return all.reduce((a, b) => ({ cpu: a.cpu + b.cpu, memory: a.memory + b.memory }), none);
}

function larger(a: Amounts, b: Amounts): Amounts {
  return { cpu: Math.max(a.cpu, b.cpu), memory: Math.max(a.memory, b.memory) };
}

/** A container's memory limit in bytes; Infinity without one. */
export function memoryLimitIn(resources: ResourceRequirements | undefined): number {
  const limit = resources?.limits?.memory;
  return limit === undefined ? Number.POSITIVE_INFINITY : Number(parseQuantity(limit).value());
}

/** Equal in value, in any notation. */
export function sameResources(a: ResourceRequirements | undefined, b: ResourceRequirements | undefined): boolean {
  return (["requests", "limits"] as const).every((part) => sameList(a?.[part], b?.[part]));
}

function sameList(a: ResourceList = {}, b: ResourceList = {}): boolean {
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => {
      const [left, right] = [a[name], b[name]];
      return left !== undefined && right !== undefined && parseQuantity(left).equals(parseQuantity(right));
    })
  );
}

/** Sums requirements for the whole pod, in the notation of the first container that has them. */
export function totalRequirements(all: readonly (ResourceRequirements | undefined)[]): ResourceRequirements {
  const [requests, limits] = (["requests", "limits"] as const).map((part) => totalList(all.map((each) => each?.[part])));
  return { ...(limits && { limits }), ...(requests && { requests }) };
}

function totalList(lists: readonly (ResourceList | undefined)[]): ResourceList | undefined {
  const total: Record<string, string> = {};
  for (const [name, amount] of lists.flatMap((list) => Object.entries(list ?? {}))) {
    const before = total[name];
    total[name] = before === undefined ? String(amount) : parseQuantity(before).add(parseQuantity(amount)).toString();
  }
  return Object.keys(total).length === 0 ? undefined : total;
}

// Whether a pod fits a node, with the messages of the kubelet, which checks memory first.

/** The insufficient resource. */
export interface Shortage {
  readonly resource: keyof Amounts;
  /** The node is too small even when empty. */
  readonly forever: boolean;
  readonly message: string;
}

/** Undefined if the pod fits. */
export function shortageFor(requested: Amounts, { allocatable, usedByOthers }: Room): Shortage | undefined {
  const order = ["memory", "cpu"] as const;
  const never = order.find((name) => requested[name] > allocatable[name]);
  if (never !== undefined) {
    const message = `Node didn't have enough capacity: ${never}, requested: ${requested[never]}, capacity: ${allocatable[never]}`;
    return { resource: never, forever: true, message };
  }
  const short = order.find((name) => requested[name] > 0 && usedByOthers[name] + requested[name] > allocatable[name]);
  return short && { resource: short, forever: false, message: notEnough(short, requested, { allocatable, usedByOthers }) };
}

/** The message of the scheduler's predicate. */
export function notEnough(name: keyof Amounts, requested: Amounts, { allocatable, usedByOthers }: Room): string {
  return (
    `Node didn't have enough resource: ${name}, requested: ${requested[name]}, ` +
    `used: ${usedByOthers[name]}, capacity: ${allocatable[name]}`
  );
}
