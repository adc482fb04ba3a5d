// The status of a pod, computed afresh from what the node knows, each time. Whether it is news to the API server is found
// out in status-patch.ts.
import { formatTime, type Pod, type PodStatus, type Stored } from "@memhog/runtime";
import { totalRequirements } from "./amounts.ts";
import { statusOfContainer } from "./container-status.ts";
import { instantAt } from "./instant.ts";
import { conditionsOf } from "./pod-conditions.ts";
import { type Phase, phaseOf } from "./pod-phase.ts";
import type { PodRun } from "./pod-run.ts";
import type { PodTools } from "./pod-tools.ts";

export interface StatusTools extends Pick<PodTools, "environment"> {
  /** Of the node. */
  readonly hostIp: string;
}

export function statusOf(run: PodRun, { environment, hostIp }: StatusTools): PodStatus {
  const { pod } = run;
  if (run.isDeleted && !run.isOver) return untouched(pod);
  if (run.isRejected) return { ...observedIn(pod), phase: "Failed", ...run.failure, startTime: formatTime(run.startTime.wall) };
  const byName = (a: { readonly name: string }, b: { readonly name: string }) => (a.name < b.name ? -1 : 1);
  const known = run.containers.filter(({ role }) => role !== "init");
  const allocated = totalRequirements(known.map((container) => container.allocated));
  const { limits } = totalRequirements(known.map(({ actual, allocated }) => actual ?? allocated));
  const resources = { ...(limits && { limits }), ...(allocated.requests && { requests: allocated.requests }) };
  return {
    ...observedIn(pod),
    phase: shownPhase(run),
    ...run.failure,
    conditions: conditionsOf(run, instantAt(environment.clock, run.now)),
    hostIP: hostIp,
    hostIPs: [{ ip: hostIp }],
    ...addressOf(run, hostIp),
    startTime: formatTime(run.startTime.wall),
    ...(run.init.length > 0 && { initContainerStatuses: run.init.map((container) => statusOfContainer(container, run)) }),
    containerStatuses: run.main.map((container) => statusOfContainer(container, run)).sort(byName),
    ...(allocated.requests && { allocatedResources: allocated.requests }),
    ...(Object.keys(resources).length > 0 && { resources }),
  };
}

/** While a pod is being stopped the API server is told that this was heard, and then nothing until it is over. */
function untouched(pod: Stored<Pod>): PodStatus {
  const observed = observedIn(pod);
  const { status = {} } = pod;
  if (status.conditions === undefined) return { ...status, ...observed };
  return { ...status, ...observed, conditions: status.conditions.map((condition) => ({ ...condition, ...observed })) };
}

function observedIn({ metadata }: Stored<Pod>): Pick<PodStatus, "observedGeneration"> {
  return metadata.generation === undefined ? {} : { observedGeneration: metadata.generation };
}

/** The end is told when everything is gone, not before. */
function shownPhase(run: PodRun): Phase {
  const phase = phaseOf(run);
  if (run.isOver || (phase !== "Succeeded" && phase !== "Failed")) return phase;
  return run.pod.status?.phase ?? "Pending";
}

/** The kubelet learns the address together with the first container. On the network of the host it is the host's. */
function addressOf({ sandbox, containers, pod }: PodRun, hostIp: string): Pick<PodStatus, "podIP" | "podIPs"> {
  const isKnown = containers.some(
    ({ life, ended, state }) => life !== undefined || ended.length > 0 || state.kind === "no image",
  );
  if (sandbox.kind === "none" || !isKnown) return {};
  const ip = pod.spec.hostNetwork ? hostIp : sandbox.ip;
  return { podIP: ip, podIPs: [{ ip }] };
}
