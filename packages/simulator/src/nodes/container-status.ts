// What the API server is told about one container. The shape, down to which fields are there when, was copied from what a
// real kubelet (1.37) writes.
import { type ContainerState, type ContainerStateTerminated, type ContainerStatus, formatTime } from "@memhog/runtime";
import type { ContainerRun } from "./container-run.ts";
import { canonicalImage, imageId } from "./images.ts";
import type { Ended } from "./life.ts";
import type { PodRun } from "./pod-run.ts";

/** The one kind of container runtime there is here. */
const scheme = "containerd://";

export function statusOfContainer(container: ContainerRun, run: PodRun): ContainerStatus {
  const { name, spec, life, ended, restartCount, allocated, actual } = container;
  const containerId = life?.containerId ?? ended[0]?.containerId;
  const wasCreated = containerId !== undefined;
  const { state, lastState } = statesOf(container, run);
  return {
    name,
    state,
    lastState,
    ready: container.isReady(run.now),
    restartCount,
    image: wasCreated ? canonicalImage(spec.image ?? "") : (spec.image ?? ""),
    imageID: wasCreated ? imageId(spec.image ?? "") : "",
    ...(wasCreated && { containerID: `${scheme}${containerId}` }),
    started: life?.isStarted(run.now) ?? false,
    ...(wasCreated && hasSome(allocated.requests) && { allocatedResources: allocated.requests }),
    ...(wasCreated && { resources: actual ?? {} }),
    ...(spec.volumeMounts && { volumeMounts: spec.volumeMounts.map(mountOf) }),
  };
}

function statesOf(container: ContainerRun, run: PodRun): { readonly state: ContainerState; readonly lastState: ContainerState } {
  const { state, ended } = container;
  const [last, before] = ended;
  if (state.kind === "running")
    return { state: { running: { startedAt: formatTime(state.life.startedAt.wall) } }, lastState: terminated(last) };
  if (state.kind === "no image") return { state: { waiting: state.problem }, lastState: terminated(last) };
  if (state.kind === "waiting" || last === undefined) {
    const reason = run.init.length > 0 ? "PodInitializing" : "ContainerCreating";
    return { state: { waiting: { reason } }, lastState: terminated(last) };
  }
  if (state.saysBackOff) return { state: { waiting: crashLoop(container, run) }, lastState: terminated(last) };
  return { state: terminated(last), lastState: terminated(before) };
}

function crashLoop({ name, backOff }: ContainerRun, { pod }: PodRun): { readonly reason: string; readonly message: string } {
  const { name: podName, namespace, uid } = pod.metadata;
  const message = `back-off ${inWords(backOff.delayMs)} restarting failed container=${name} pod=${podName}_${namespace}(${uid})`;
  return { reason: "CrashLoopBackOff", message };
}

/** "10s", "2m40s", "5m0s", as Go prints it. */
function inWords(ms: number): string {
  const seconds = ms / 1_000;
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}

function terminated(ended: Ended | undefined): { readonly terminated?: ContainerStateTerminated } {
  if (ended === undefined) return {};
  const { containerId, exitCode, reason, startedAt, finishedAt } = ended;
  return {
    terminated: {
      exitCode,
      reason,
      startedAt: formatTime(startedAt.wall),
      finishedAt: formatTime(finishedAt.wall),
      containerID: `${scheme}${containerId}`,
    },
  };
}

function mountOf({ name, mountPath, readOnly }: NonNullable<ContainerRun["spec"]["volumeMounts"]>[number]) {
  return { name, mountPath, ...(readOnly && { readOnly, recursiveReadOnly: "Disabled" }) };
}

function hasSome(list: object | undefined): list is object {
  return list !== undefined && Object.keys(list).length > 0;
}
