// From "this container may start" to a container that runs: its image, its creation, its program; with the events that
// `kubectl describe pod` shows of it.
import type { Pod } from "@memhog/runtime";
import type { ContainerRun } from "./container-run.ts";
import type { Instant } from "./instant.ts";
import type { PodTools } from "./pod-tools.ts";
import { type Program, programFor } from "./program/program.ts";

/** Begins to create a container, if its image can be had. */
export function createContainer(container: ContainerRun, now: number, { tell, timing, pull }: PodTools): void {
  const { image = "", imagePullPolicy } = container.spec;
  const { tookMs = 0, error } = pull(image) ?? {};
  if (error !== undefined && imagePullPolicy === "Never") {
    const message = `Container image "${image}" is not present with pull policy of Never`;
    tell({ type: "Warning", reason: "ErrImageNeverPull", message, container });
    tell({ type: "Warning", reason: "Failed", message: "Error: ErrImageNeverPull", container });
    container.neverPull(message);
    return;
  }
  if (error !== undefined || tookMs > 0)
    tell({ type: "Normal", reason: "Pulling", message: `Pulling image "${image}"`, container });
  if (error !== undefined) {
    tell({ type: "Warning", reason: "Failed", message: `Failed to pull image "${image}": ${error}`, container });
    tell({ type: "Warning", reason: "Failed", message: "Error: ErrImagePull", container });
    container.missImage(error, now);
    return;
  }
  tell({ type: "Normal", reason: "Pulled", message: pulledIn(image, tookMs), container });
  tell({ type: "Normal", reason: "Created", message: "Container created", container });
  container.create(now + tookMs + timing.createMs);
}

/** What was created runs. */
export function runContainer(container: ContainerRun, pod: Pod, at: Instant, tools: PodTools): void {
  container.run({ containerId: runtimeId(tools), program: programOf(container, pod, tools), at });
  tools.tell({ type: "Normal", reason: "Started", message: "Container started", container });
}

function programOf(container: ContainerRun, pod: Pod, { environment, programOf, tell }: PodTools): Program {
  const seed = Math.floor(environment.random() * 2 ** 32);
  return programFor(pod, container.spec, {
    programOf,
    seed,
    onComplaint: ({ annotation, message }) =>
      tell({ type: "Warning", reason: "NotUnderstood", message: `${annotation}: ${message}`, container }),
  });
}

/** 64 digits, as containerd numbers what it makes. */
export function runtimeId({ environment }: Pick<PodTools, "environment">): string {
  return `${environment.uuid()}${environment.uuid()}`.replaceAll("-", "");
}

function pulledIn(image: string, tookMs: number): string {
  if (tookMs === 0) return `Container image "${image}" already present on machine and can be accessed by the pod`;
  const took = `${tookMs / 1_000}s`;
  return `Successfully pulled image "${image}" in ${took} (${took} including waiting). Image size: 0 bytes.`;
}
