// What matters of one container: its memory as asked for and as in force, whether it runs, and how it was last killed.
import { type Container, type ContainerStatus, type Pod, parseTime } from "@memhog/runtime";
import type { ContainerSeen, OomKillSeen } from "../../model/seen.ts";
import { type Life, shortId } from "../prometheus/samples.ts";
import { memoryIn } from "./amounts.ts";
import { isSidecar } from "./pod-request.ts";

export interface ContainerFacts extends Omit<ContainerSeen, "samples" | "badSamples"> {
  /** Undefined while it does not run. */
  readonly life: Life | undefined;
}

/** Containers and sidecars. Init containers that end are left out: they are gone before anybody could measure them. */
export function containersOf({ spec, status }: Pod): readonly ContainerFacts[] {
  const statuses = new Map(
    [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].map((each) => [each.name, each] as const),
  );
  const all = [...(spec.initContainers ?? []).filter(isSidecar), ...spec.containers];
  return all.map((container) => factsOf(container, statuses.get(container.name)));
}

function factsOf(container: Container, status: ContainerStatus | undefined): ContainerFacts {
  const { name, resources, resizePolicy = [] } = container;
  const running = status?.state?.running;
  return {
    name,
    sidecar: isSidecar(container),
    limit: memoryIn(resources?.limits),
    request: memoryIn(resources?.requests),
    // What is in force is in force, whichever generation of the spec the status speaks of: an old one never shows too much.
    appliedLimit: memoryIn(status?.resources?.limits),
    appliedRequest: memoryIn(status?.resources?.requests),
    restartsOnResize: resizePolicy.some(
      ({ resourceName, restartPolicy }) => resourceName === "memory" && restartPolicy === "RestartContainer",
    ),
    running: running !== undefined,
    life: running && { id: shortId(status?.containerID), startedAtMs: parseTime(running.startedAt) },
    restarts: status?.restartCount ?? 0,
    oomKill: oomKillIn(status),
  };
}

/**
 * The last kill for lack of memory that the status still shows. The kubelet counts a restart when the next container is made,
 * so one that lies dead, or waits in back-off, still has the count of the container that was killed:
 *
 *     state                          lastState      restartCount   the killed one was
 *     terminated OOMKilled           –              2              2, still down
 *     waiting (CrashLoopBackOff)     OOMKilled      2              2, still down
 *     running                        OOMKilled      3              2
 */
function oomKillIn(status: ContainerStatus | undefined): OomKillSeen | undefined {
  if (status === undefined) return undefined;
  const { state = {}, lastState = {}, restartCount = 0 } = status;
  if (state.terminated?.reason === "OOMKilled")
    return { restart: restartCount, atMs: parseTime(state.terminated.finishedAt) ?? 0, stillDown: true };
  if (lastState.terminated?.reason !== "OOMKilled") return undefined;
  const isNext = state.running !== undefined || state.terminated !== undefined;
  return {
    restart: Math.max(0, isNext ? restartCount - 1 : restartCount),
    atMs: parseTime(lastState.terminated.finishedAt) ?? 0,
    stillDown: state.running === undefined,
  };
}
