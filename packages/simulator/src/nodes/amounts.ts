// CPU and memory as numbers that can be added and compared: what the kubelet counts before it lets a pod in.
import { type Container, type PodSpec, parseQuantity, type ResourceList, type ResourceRequirements } from "@memhog/runtime";

export interface Amounts {
  /** Thousandths of a CPU. */
  readonly cpu: number;
  /** Bytes. */
  readonly memory: number;
}

/** Which resources count as a container's own: those of the spec, or those that were allocated to it. */
export type ResourcesOf = (container: Container) => ResourceRequirements | undefined;

const none: Amounts = { cpu: 0, memory: 0 };

export function amountsIn(list: ResourceList | undefined): Amounts {
  const { cpu = 0, memory = 0 } = list ?? {};
  return { cpu: Number(parseQuantity(cpu).milliValue()), memory: Number(parseQuantity(memory).value()) };
}

export function isSidecar(container: Container): boolean {
  return container.restartPolicy === "Always";
}

/**
 * What a pod needs of a node. Containers run side by side; init containers one after the other, beside the sidecars that
 * came before them: the pod needs what the greediest of these moments does.
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

/** Equal in value, however they are spelled. */
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

/** Sums of requirements, spelled as the first that has them; for the pod as a whole. */
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
