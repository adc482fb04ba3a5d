// From the changes of an intent to what is written of containers: only memory, only upwards, only what is not so yet. Whoever
// gave a container more than we want in the meantime has the last word.
import type { Container, ResourceList } from "@memhog/runtime";
import { type Bytes, bytesOf, quantityText } from "../model/bytes.ts";
import type { Change } from "../model/record.ts";

export type Part = "limits" | "requests";

export interface ContainersOf {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
}

/** A container with nothing but memory. */
export interface Grown {
  readonly name: string;
  readonly resources: { readonly limits?: ResourceList; readonly requests?: ResourceList };
}

/** Of a pod or a template: the containers that get more, in the lists they are in. Native sidecars are among the initContainers. */
export interface GrownContainers {
  readonly containers?: readonly Grown[];
  readonly initContainers?: readonly Grown[];
}

/** What is to be written, or undefined if everything is so already. */
export function growth(spec: ContainersOf, changes: readonly Change[], parts: readonly Part[]): GrownContainers | undefined {
  const of = (containers: readonly Container[] = []) => containers.flatMap((container) => grow(container, changes, parts));
  return inLists(of(spec.containers), of(spec.initContainers));
}

function grow({ name, resources }: Container, changes: readonly Change[], parts: readonly Part[]): readonly Grown[] {
  const change = changes.find(({ container }) => container === name);
  const wanted = { limits: change?.to.limit, requests: change?.to.request };
  const more = parts.flatMap((part) => {
    const value = wanted[part];
    return value === undefined || memoryOf(resources?.[part]) >= value ? [] : [[part, { memory: quantityText(value) }] as const];
  });
  return more.length === 0 ? [] : [{ name, resources: Object.fromEntries(more) }];
}

/**
 * The one way down: requests that the node turned out to have no room for, back to what the kubelet admitted. Limits never. While
 * one container is to get more, this is not such a case, and what somebody else gave another stays.
 */
export function takenBack(spec: ContainersOf, changes: readonly Change[]): GrownContainers | undefined {
  const back = changes.flatMap(({ container, to }) =>
    to.request === undefined ? [] : [{ name: container, request: to.request }],
  );
  const of = (containers: readonly Container[] = []) =>
    back.flatMap(({ name, request }) => {
      const found = containers.find((container) => container.name === name);
      if (found === undefined || memoryOf(found.resources?.requests) <= request) return [];
      return [{ name, resources: { requests: { memory: quantityText(request) } } }];
    });
  return inLists(of(spec.containers), of(spec.initContainers));
}

function inLists(containers: readonly Grown[], initContainers: readonly Grown[]): GrownContainers | undefined {
  if (containers.length + initContainers.length === 0) return undefined;
  return { ...(containers.length > 0 && { containers }), ...(initContainers.length > 0 && { initContainers }) };
}

/** None is less than any. */
function memoryOf(resources: ResourceList | undefined): Bytes | -1 {
  const memory = resources?.memory;
  return memory === undefined ? -1 : bytesOf(memory);
}

/** The containers with that growth laid over them, everything else as it was. */
export function grown(containers: readonly Container[], more: readonly Grown[] = []): readonly Container[] {
  return containers.map((container) => {
    const resources = more.find(({ name }) => name === container.name)?.resources;
    if (resources === undefined) return container;
    const { limits, requests } = container.resources ?? {};
    const laid = { limits: { ...limits, ...resources.limits }, requests: { ...requests, ...resources.requests } };
    return { ...container, resources: { ...container.resources, ...laid } };
  });
}
