// The requests of a pod.
import { type Pod, parseQuantity, type Stored } from "@memhog/runtime";
import type { Change } from "@memhog/runtime/cache";
import type { Container, QuantityText, ResourceList } from "@memhog/runtime/kinds";
import { hasEnded, isBeingDeleted } from "../workload.ts";
import type { Room } from "./decide.ts";

export interface Amounts {
  /** In millicores. */
  readonly cpu: number;
  /** In bytes. */
  readonly memory: number;
}

const none: Amounts = { cpu: 0, memory: 0 };

/**
 * Containers run concurrently, after the init containers, which run one by one. An init container with restartPolicy Always
 * is a sidecar and runs beside all later containers.
 */
export function requestsOf(pod: Pod): Amounts {
  return totalOf(pod, (container) => requestOf(container, pod), pod.spec.resources?.requests);
}

/** The same for limits, for quotas. */
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

/** During a resize the node must have room for both the old and the new resources. */
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

// The requests of all pods per node, updated with every change instead of summed up for every placement.
//
// A pod that was just bound is counted before the cache shows the binding. Otherwise two pods could get the last free space.

type OnNode = Omit<Room, "node">;

const empty: OnNode = { pods: 0, taken: { cpu: 0, memory: 0 } };

interface Share {
  readonly node: string;
  readonly requests: Amounts;
}

export class Taken {
  /** By pod UID. */
  readonly #shares = new Map<string, Share>();
  readonly #nodes = new Map<string, OnNode>();

  on(node: string): OnNode {
    return this.#nodes.get(node) ?? empty;
  }

  has({ metadata }: Stored<Pod>): boolean {
    return this.#shares.has(metadata.uid);
  }

  assume(pod: Stored<Pod>, node: string): void {
    this.#put(pod.metadata.uid, { node, requests: requestsOf(pod) });
  }

  /** Applies a change. True: it frees resources. */
  follow({ type, object }: Change<Pod>): boolean {
    const { uid } = object.metadata;
    const before = this.#shares.get(uid);
    const { nodeName } = object.spec;
    const goesNowhere = nodeName === undefined && isBeingDeleted(object);
    if (type === "removed" || hasEnded(object) || goesNowhere) this.#put(uid, undefined);
    else if (nodeName !== undefined) this.#put(uid, { node: nodeName, requests: requestsOf(object) });
    const after = this.#shares.get(uid);
    return before !== undefined && !(after !== undefined && equal(before.requests, after.requests));
  }

  #put(uid: string, share: Share | undefined): void {
    const before = this.#shares.get(uid);
    if (before !== undefined) {
      const { pods, taken } = this.on(before.node);
      this.#nodes.set(before.node, { pods: pods - 1, taken: subtract(taken, before.requests) });
    }
    if (share === undefined) {
      this.#shares.delete(uid);
      return;
    }
    this.#shares.set(uid, share);
    const { pods, taken } = this.on(share.node);
    this.#nodes.set(share.node, { pods: pods + 1, taken: add(taken, share.requests) });
  }
}

function equal(a: Amounts, b: Amounts): boolean {
  return a.cpu === b.cpu && a.memory === b.memory;
}
