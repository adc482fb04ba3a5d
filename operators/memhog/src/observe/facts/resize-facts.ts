// What the kubelet says about the last resize of a pod. Conditions since Kubernetes 1.33; `status.resize` before, where somebody
// had switched the feature on.
import type { PodCondition, PodStatus } from "@memhog/runtime";
import type { ResizeSeen } from "../../model/seen.ts";

const none: ResizeSeen = { state: "none" };

/** @param generation of the spec; a status of an older one says nothing about it. */
export function resizeIn(status: PodStatus | undefined, generation: number | undefined): ResizeSeen {
  if (status === undefined) return none;
  if (isOlder(status.observedGeneration, generation)) return { state: "inProgress", message: "the kubelet has not seen it yet" };
  const current = (status.conditions ?? []).filter(
    (condition) => condition.status === "True" && !isOlder(condition.observedGeneration, generation),
  );
  // A resize that waits is newer than one that is being carried out.
  const found =
    current.find(({ type }) => type === "PodResizePending") ?? current.find(({ type }) => type === "PodResizeInProgress");
  return found === undefined ? beforeConditions(status) : seenIn(found);
}

/** The API server and kubelets before 1.33 set no observedGeneration: then there is nothing to compare. */
function isOlder(observed: number | undefined, generation: number | undefined): boolean {
  return observed !== undefined && observed > 0 && generation !== undefined && observed < generation;
}

function seenIn({ type, reason, message }: PodCondition): ResizeSeen {
  return { state: stateOf(type, reason), ...(message !== undefined && message !== "" && { message }) };
}

function stateOf(type: string, reason: string | undefined): ResizeSeen["state"] {
  if (type === "PodResizeInProgress") return reason === "Error" ? "error" : "inProgress";
  if (reason === "Deferred") return "deferred";
  return reason === "Infeasible" ? "infeasible" : "inProgress";
}

function beforeConditions({ resize = "" }: PodStatus): ResizeSeen {
  if (resize === "") return none;
  if (resize === "Deferred") return { state: "deferred" };
  return { state: resize === "Infeasible" ? "infeasible" : "inProgress" };
}
