// What the kubelet goes by when it decides about the containers of a pod. Pure: the pod as it is, and an answer.
import type { Pod } from "@memhog/runtime";
import type { ContainerRun } from "./container-run.ts";

/** Whether a container that has ended with this code is started again. */
export function startsAgain({ role, spec }: ContainerRun, exitCode: number, pod: Pod): boolean {
  if (role === "sidecar") return true;
  // A container may have a policy of its own.
  const { restartPolicy = pod.spec.restartPolicy ?? "Always" } = spec;
  return restartPolicy !== "Never" && (exitCode !== 0 || (role === "main" && restartPolicy === "Always"));
}

/** An init container failed for good, or every container has ended for good. */
export function isFinished(init: readonly ContainerRun[], main: readonly ContainerRun[]): boolean {
  const failed = init.some((container) => container.role === "init" && container.isOver && container.exitCode !== 0);
  return failed || main.every(({ isOver }) => isOver);
}

/** Nothing has been done about it yet. */
export function isNew({ state }: ContainerRun): boolean {
  return state.kind === "waiting" && state.startsAt === undefined;
}
