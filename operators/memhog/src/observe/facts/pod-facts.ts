// What is kept of a pod. Of every pod: what it takes of its node, since that is room which others do not have, and whether it is
// well, since it may be a replica of one we look after. Of a pod that carries our annotation: everything a decision about it can
// rest on, read once when the pod changes and not on every loop.
import { controllerOf, type Pod, parseTime, type Stored } from "@memhog/runtime";
import { appAnnotation, copyOfLabel, monitorAnnotation } from "../../api/names.ts";
import type { PodSeen, ResizeSeen } from "../../model/seen.ts";
import { type ContainerFacts, containersOf } from "./container-facts.ts";
import { podRequest } from "./pod-request.ts";
import { resizeIn } from "./resize-facts.ts";

export interface PodFacts extends Pick<PodSeen, "createdAtMs" | "phase" | "ready" | "deleting"> {
  readonly node: string | undefined;
  /** Bytes it takes of its node. */
  readonly requested: number;
  /** Undefined for pods that nobody asked us to look after. */
  readonly watched: WatchedPod | undefined;
}

export interface WatchedPod extends Pick<PodSeen, "monitored" | "qos" | "copyOf"> {
  readonly containers: readonly ContainerFacts[];
  readonly resize: ResizeSeen;
  readonly notResizable: string | undefined;
  /** The VPA that had its hands on this pod's memory. */
  readonly vpa: string | undefined;
}

export function podFacts(pod: Stored<Pod>): PodFacts {
  const { annotations = {}, creationTimestamp, deletionTimestamp } = pod.metadata;
  const { phase = "Pending", conditions = [] } = pod.status ?? {};
  return {
    createdAtMs: parseTime(creationTimestamp) ?? 0,
    phase,
    ready: conditions.some(({ type, status }) => type === "Ready" && status === "True"),
    deleting: deletionTimestamp !== undefined,
    node: pod.spec.nodeName,
    requested: podRequest(pod),
    watched: annotations[monitorAnnotation] === undefined ? undefined : watchedPod(pod),
  };
}

/** Labels and annotations weigh more than all the rest; only those we ask for are kept, and only where they matter. */
export function podMetadata(pod: Stored<Pod>): Stored<Pod>["metadata"] {
  const { name, namespace, uid, resourceVersion, annotations = {}, labels } = pod.metadata;
  const owner = controllerOf(pod);
  const isAnnotated = annotations[monitorAnnotation] !== undefined;
  const app = annotations[appAnnotation];
  return {
    ...{ name, uid, resourceVersion },
    ...(namespace !== undefined && { namespace }),
    ...(owner !== undefined && { ownerReferences: [owner] }),
    ...(app !== undefined && { annotations: { [appAnnotation]: app } }),
    ...(isAnnotated && labels !== undefined && { labels }),
  };
}

function watchedPod(pod: Stored<Pod>): WatchedPod {
  const { annotations = {}, labels = {}, generation } = pod.metadata;
  const { status } = pod;
  return {
    monitored: annotations[monitorAnnotation] === "true",
    // The API server sets it when it stores a pod; without a status there is nothing to resize anyway.
    qos: status?.qosClass ?? "BestEffort",
    containers: containersOf(pod),
    resize: resizeIn(status, generation),
    notResizable: whyNotResizable(pod),
    copyOf: labels[copyOfLabel],
    vpa: vpaIn(annotations),
  };
}

function whyNotResizable({ metadata, spec }: Stored<Pod>): string | undefined {
  if (metadata.annotations?.["kubernetes.io/config.mirror"] !== undefined) return "a static pod";
  if (spec.os?.name === "windows") return "a Windows pod";
  return undefined;
}

/**
 * The VPA leaves annotations on pods it looks after (never in its mode Off): which containers it observed, and what it changed:
 * "Pod resources updated by web-vpa: container 0: cpu request, memory request". One that changed only the CPU is no rival.
 */
function vpaIn(annotations: Readonly<Record<string, string>>): string | undefined {
  const { vpaUpdates, vpaObservedContainers, vpaInPlaceUpdated } = annotations;
  if (vpaUpdates !== undefined) {
    const name = /updated by ([a-z0-9.-]+):/.exec(vpaUpdates)?.[1] ?? "";
    return vpaUpdates.includes("memory") ? `VerticalPodAutoscaler/${name}` : undefined;
  }
  return (vpaObservedContainers ?? vpaInPlaceUpdated) ? "VerticalPodAutoscaler/" : undefined;
}
