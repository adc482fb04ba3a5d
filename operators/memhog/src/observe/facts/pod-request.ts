// How much of its node a pod takes, as the scheduler counts it.
import type { Container, Pod } from "@memhog/runtime";
import { memoryIn } from "./amounts.ts";

/**
 * The bytes a pod has requested of its node; 0 once it has ended.
 *
 * Containers run together, so their requests add up; init containers run one after the other before them, so the largest
 * counts; sidecars are init containers that stay, so they count with both. In the middle of a resize the larger of what is
 * asked for and what the kubelet still holds back counts.
 *
 *     init 300Mi · sidecar 50Mi · init 200Mi · main 100Mi + 100Mi      max(300, 50 + 200, 50 + 100 + 100) = 300Mi
 */
export function podRequest({ spec, status }: Pod): number {
  if (status?.phase === "Succeeded" || status?.phase === "Failed") return 0;
  const overhead = memoryIn(spec.overhead) ?? 0;
  const ofPod = memoryIn(spec.resources?.requests);
  if (ofPod !== undefined) return ofPod + overhead;
  const held = new Map(
    [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])].map(
      ({ name, allocatedResources }) => [name, memoryIn(allocatedResources) ?? 0] as const,
    ),
  );
  const requestOf = ({ name, resources }: Container) => Math.max(memoryIn(resources?.requests) ?? 0, held.get(name) ?? 0);
  let sidecars = 0;
  let starting = 0;
  for (const container of spec.initContainers ?? []) {
    const request = requestOf(container);
    if (isSidecar(container)) sidecars += request;
    starting = Math.max(starting, sidecars + (isSidecar(container) ? 0 : request));
  }
  const running = spec.containers.reduce((sum, container) => sum + requestOf(container), sidecars);
  return Math.max(starting, running) + overhead;
}

/** An init container that stays for as long as the pod does. */
export function isSidecar({ restartPolicy }: Container): boolean {
  return restartPolicy === "Always";
}
