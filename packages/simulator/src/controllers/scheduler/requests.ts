// How much of a node a pod takes: what its containers request, not what they use.
import { type Container, type Pod, parseQuantity, type QuantityText, type ResourceList } from "@memhog/runtime";

export interface Amounts {
  /** In thousandths. */
  readonly cpu: number;
  /** In bytes. */
  readonly memory: number;
}

const none: Amounts = { cpu: 0, memory: 0 };

/**
 * Containers run together, init containers one after the other before them; an init container that restarts always is a
 * sidecar, and runs beside everything that comes after it.
 */
export function requestsOf(pod: Pod): Amounts {
  return totalOf(pod, (container) => requestOf(container, pod), pod.spec.resources?.requests);
}

/** The same of limits, for quotas. */
export function limitsOf(pod: Pod): Amounts {
  const limitOf = ({ resources }: Container) => ({ ...none, ...amountsIn(resources?.limits) });
  return totalOf(pod, limitOf, pod.spec.resources?.limits);
}

function totalOf({ spec }: Pod, amountOf: (container: Container) => Amounts, forAll: ResourceList | undefined): Amounts {
  const { containers, initContainers = [], overhead } = spec;
  let sidecars = none;
  let starting = none;
  for (const container of initContainers) {
    const own = amountOf(container);
    if (isSidecar(container)) sidecars = add(sidecars, own);
    starting = most(starting, isSidecar(container) ? sidecars : add(sidecars, own));
  }
  const running = containers.reduce((sum, container) => add(sum, amountOf(container)), sidecars);
  const whole = amountsIn(forAll);
  const asked = most(running, starting);
  const { cpu = asked.cpu, memory = asked.memory } = whole;
  return add({ cpu, memory }, { ...none, ...amountsIn(overhead) });
}

function isSidecar(container: Container): boolean {
  return (container as { readonly restartPolicy?: string }).restartPolicy === "Always";
}

/** While a container is being resized, the node must have room for it as it was and as it will be. */
function requestOf({ name, resources }: Container, { status }: Pod): Amounts {
  const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  const allocated = statuses.find((each) => each.name === name)?.allocatedResources;
  return most({ ...none, ...amountsIn(resources?.requests) }, { ...none, ...amountsIn(allocated) });
}

export function amountsIn(list: ResourceList | undefined): Partial<Amounts> {
  const { cpu, memory } = list ?? {};
  return {
    ...(cpu !== undefined && { cpu: Number(parseQuantity(cpu).milliValue()) }),
    ...(memory !== undefined && { memory: bytesOf(memory) }),
  };
}

const bytesOf = (memory: QuantityText) => Number(parseQuantity(memory).value());

export function add(a: Amounts, b: Amounts): Amounts {
  return { cpu: a.cpu + b.cpu, memory: a.memory + b.memory };
}

export function subtract(a: Amounts, b: Amounts): Amounts {
  return { cpu: a.cpu - b.cpu, memory: a.memory - b.memory };
}

function most(a: Amounts, b: Amounts): Amounts {
  return { cpu: Math.max(a.cpu, b.cpu), memory: Math.max(a.memory, b.memory) };
}
