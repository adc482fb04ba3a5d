// From the changes of an intent to the resources in a patch: only memory, only increases (except `setTo`), only what differs. A container that was
// given more than this meanwhile keeps it.
import type { Container, ResourceList } from "@memhog/runtime/kinds";
import { type Bytes, bytesOf, quantityText } from "../model/bytes.ts";
import type { Change, Memory } from "../model/plan.ts";

export type Part = "limits" | "requests";

export interface ContainersOf {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
}

/** The name of a container and its memory, as a patch has them. */
export interface Grown {
  readonly name: string;
  readonly resources: { readonly limits?: ResourceList; readonly requests?: ResourceList };
}

/** The containers that get more, in the lists they belong to. Native sidecars are initContainers. */
export interface GrownContainers {
  readonly containers?: readonly Grown[];
  readonly initContainers?: readonly Grown[];
}

/** What to write; undefined if there is nothing to change. */
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

/** The memory of one container as it should be, larger or smaller; undefined if it is so. For spec.shrink. */
export function setTo(
  spec: ContainersOf,
  { container: name, to }: { container: string; to: Memory },
): GrownContainers | undefined {
  const of = (containers: readonly Container[] = []) =>
    containers.flatMap(({ name: found, resources }) => {
      if (found !== name) return [];
      const limits = memoryOf(resources?.limits) === to.limit ? {} : { limits: { memory: quantityText(to.limit) } };
      const isSame = to.request === undefined || memoryOf(resources?.requests) === to.request;
      const requests = isSame ? {} : { requests: { memory: quantityText(to.request) } };
      return "limits" in limits || "requests" in requests ? [{ name, resources: { ...limits, ...requests } }] : [];
    });
  return inLists(of(spec.containers), of(spec.initContainers));
}

/**
 * Besides spec.shrink the only decrease: requests that the node has no room for go back to what the kubelet admitted. Limits never decrease. Not used
 * while any container still gets more.
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

/** What undoes these changes, where the memory is still exactly what they wrote. */
export function restored(spec: ContainersOf, changes: readonly Change[]): GrownContainers | undefined {
  const of = (containers: readonly Container[] = []) =>
    containers.flatMap(({ name, resources = {} }) => {
      const { from, to } = changes.find(({ container }) => container === name) ?? {};
      if (from === undefined || to === undefined || memoryOf(resources.limits) !== to.limit) return [];
      if (to.request !== undefined && memoryOf(resources.requests) !== to.request) return [];
      const requests = from.request === undefined ? {} : { requests: { memory: quantityText(from.request) } };
      return [{ name, resources: { limits: { memory: quantityText(from.limit) }, ...requests } }];
    });
  return inLists(of(spec.containers), of(spec.initContainers));
}

function inLists(containers: readonly Grown[], initContainers: readonly Grown[]): GrownContainers | undefined {
  if (containers.length + initContainers.length === 0) return undefined;
  return { ...(containers.length > 0 && { containers }), ...(initContainers.length > 0 && { initContainers }) };
}

/** No memory is less than any amount. */
function memoryOf(resources: ResourceList | undefined): Bytes | -1 {
  const memory = resources?.memory;
  return memory === undefined ? -1 : bytesOf(memory);
}

/** The containers with their increases, otherwise unchanged. */
export function grown(containers: readonly Container[], more: readonly Grown[] = []): readonly Container[] {
  return containers.map((container) => {
    const resources = more.find(({ name }) => name === container.name)?.resources;
    if (resources === undefined) return container;
    const { limits, requests } = container.resources ?? {};
    const laid = { limits: { ...limits, ...resources.limits }, requests: { ...requests, ...resources.requests } };
    return { ...container, resources: { ...container.resources, ...laid } };
  });
}
