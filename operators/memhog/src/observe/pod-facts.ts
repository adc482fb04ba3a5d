// The facts of a pod. For every pod: its memory request, which reduces the free memory of its node, and its health, because it may be
// a replica of a monitored app. For an annotated pod: everything a decision depends on, computed once per change of the pod.
import { createHash } from "node:crypto";
import type { Pod, Stored } from "@memhog/runtime";
import type { Container, ContainerStatus, PodCondition, PodStatus, ResourceList, Volume } from "@memhog/runtime/kinds";
import { parseTime } from "@memhog/runtime/objects";
import { appAnnotation, copyOfLabel, monitorAnnotation } from "../api/names.ts";
import { type Bytes, bytesOf } from "../model/bytes.ts";
import type { CopyRisk, ObservedContainer, ObservedOomKill, ObservedPod, ObservedResize } from "../model/observed-app.ts";
import { controllerIn, hasSensibleLabels, isName } from "./kinds.ts";
import { type Life, shortId } from "./prometheus/samples.ts";

export interface PodFacts extends Pick<ObservedPod, "createdAtMs" | "phase" | "ready" | "deleting"> {
  readonly node: string | undefined;
  /** Requested bytes, as the scheduler counts them. */
  readonly requested: number;
  /** Undefined for pods without the monitor annotation. */
  readonly watched: WatchedPod | undefined;
}

export interface WatchedPod extends Pick<ObservedPod, "monitored" | "revision" | "qos" | "podLevel" | "copyOf" | "copyRisk"> {
  readonly containers: readonly ContainerFacts[];
  readonly resize: ObservedResize;
  readonly notResizable: string | undefined;
  /** The VPA that manages this pod's memory. */
  readonly vpa: string | undefined;
}

export function podFacts(pod: Stored<Pod>): PodFacts {
  const { creationTimestamp, deletionTimestamp } = pod.metadata;
  const { phase = "Pending", conditions = [] } = pod.status ?? {};
  return {
    createdAtMs: parseTime(creationTimestamp) ?? 0,
    phase,
    ready: conditions.some(({ type, status }) => type === "Ready" && status === "True"),
    deleting: deletionTimestamp !== undefined,
    node: pod.spec.nodeName,
    requested: podRequest(pod),
    watched: isWatched(pod) ? watchedPod(pod) : undefined,
  };
}

function isWatched(pod: Stored<Pod>): boolean {
  return pod.metadata.annotations?.[monitorAnnotation] !== undefined && hasSensibleLabels(pod);
}

/** Labels and annotations take more memory than the rest, so only the required ones are kept. */
export function podMetadata(pod: Stored<Pod>): Stored<Pod>["metadata"] {
  const { name, namespace, uid, resourceVersion, annotations = {}, labels } = pod.metadata;
  const owner = controllerIn(pod);
  const app = annotations[appAnnotation];
  return {
    ...{ name, uid, resourceVersion },
    ...(namespace !== undefined && { namespace }),
    ...(owner !== undefined && { ownerReferences: [owner] }),
    ...(isName(app) && { annotations: { [appAnnotation]: app } }),
    ...(isWatched(pod) && labels !== undefined && { labels }),
  };
}

function watchedPod(pod: Stored<Pod>): WatchedPod {
  const { annotations = {}, labels = {}, generation } = pod.metadata;
  const { status } = pod;
  return {
    monitored: annotations[monitorAnnotation] === "true",
    revision: revisionOf(pod),
    // The API server sets qosClass when it stores a pod. A pod without a status cannot be resized anyway.
    qos: status?.qosClass ?? "BestEffort",
    containers: containersOf(pod),
    ...podLevelOf(pod),
    resize: resizeIn(status, generation),
    notResizable: whyNotResizable(pod),
    copyOf: labels[copyOfLabel],
    copyRisk: copyRiskOf(pod),
    vpa: vpaIn(annotations),
  };
}

function podLevelOf({ spec: { resources } }: Stored<Pod>): Pick<ObservedPod, "podLevel"> {
  const [limit, request] = [memoryIn(resources?.limits), memoryIn(resources?.requests)];
  return limit === undefined && request === undefined ? {} : { podLevel: { limit, request } };
}

/**
 * Deployments, StatefulSets and DaemonSets label their pods with the revision of the template. The pods of Jobs have no such label, and
 * those of a CronJob belong to another Job each time: what their containers run identifies the version.
 */
function revisionOf({ metadata, spec }: Stored<Pod>): string | undefined {
  const { labels = {} } = metadata;
  const revision = labels["pod-template-hash"] ?? labels["controller-revision-hash"];
  if (revision !== undefined || controllerIn({ metadata })?.kind !== "Job") return isName(revision) ? revision : undefined;
  const runs = spec.containers.map(({ name, image, command, args }) => [name, image, command, args]);
  return createHash("sha256").update(JSON.stringify(runs)).digest("hex").slice(0, 10);
}

function whyNotResizable({ metadata, spec }: Stored<Pod>): string | undefined {
  if (metadata.annotations?.["kubernetes.io/config.mirror"] !== undefined) return "a static pod";
  if (spec.os?.name === "windows") return "a Windows pod";
  return undefined;
}

/** Volumes whose content belongs to one pod, or that no pod can write to. */
const harmlessVolumes = ["configMap", "secret", "downwardAPI", "projected", "emptyDir", "ephemeral", "image"] as const;

/**
 * What of a pod must not happen twice at the same time (D6). Any other volume counts as shared: a claim, a directory of the node, or
 * a network file system that this version does not know. A mount or a source with `readOnly` is not written to.
 */
export function copyRiskOf({ spec }: Pick<Pod, "spec">): CopyRisk | undefined {
  if ((spec.restartPolicy ?? "Always") !== "Always") return "RunsOnce";
  const shared = new Set((spec.volumes ?? []).filter(isShared).map(({ name }) => name));
  const writes = ({ volumeMounts = [], volumeDevices = [] }: Container) =>
    volumeMounts.some(({ name, readOnly }) => readOnly !== true && shared.has(name)) ||
    volumeDevices.some(({ name }) => shared.has(name));
  return [...spec.containers, ...(spec.initContainers ?? [])].some(writes) ? "WritesVolume" : undefined;
}

function isShared({ name: _, ...sources }: Volume): boolean {
  if (harmlessVolumes.some((source) => sources[source] !== undefined)) return false;
  return !Object.values(sources).some((source) => (source as { readonly readOnly?: unknown } | undefined)?.readOnly === true);
}

/**
 * A VPA annotates the pods it manages (not in mode Off) with the observed containers and with its changes: "Pod resources updated by
 * web-vpa: container 0: cpu request, memory request". A VPA that changed only CPU is ignored. There is no structured field, so the
 * name is taken from this text; if it does not match, the VPA is reported without a name.
 */
function vpaIn(annotations: Readonly<Record<string, string>>): string | undefined {
  const { vpaUpdates, vpaObservedContainers, vpaInPlaceUpdated } = annotations;
  if (vpaUpdates !== undefined) {
    const name = /updated by ([a-z0-9.-]{1,253}):/.exec(vpaUpdates.length < 4_096 ? vpaUpdates : "")?.[1];
    if (!vpaUpdates.includes("memory")) return undefined;
    return name === undefined ? "VerticalPodAutoscaler" : `VerticalPodAutoscaler/${name}`;
  }
  return (vpaObservedContainers ?? vpaInPlaceUpdated) ? "VerticalPodAutoscaler" : undefined;
}

/** The desired and applied memory of a container, whether it runs, and its last OOM kill. */
export interface ContainerFacts extends Omit<ObservedContainer, "samples" | "badSamples"> {
  /** Undefined while it does not run. */
  readonly life: Life | undefined;
}

/** Containers and sidecars. Other init containers end before they are measured. */
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
    // Valid whichever generation the status is of: an older status shows less after a raise, and more after a shrink, so neither is
    // confirmed too early.
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
 * The last OOM kill that the status shows. The kubelet increments restartCount when it creates the next container, so a terminated
 * container, or one in back-off, still has the restart count of the killed one:
 *
 *     state                          lastState      restartCount   restart count of the killed container
 *     terminated OOMKilled           –              2              2, still down
 *     waiting (CrashLoopBackOff)     OOMKilled      2              2, still down
 *     running                        OOMKilled      3              2
 */
function oomKillIn(status: ContainerStatus | undefined): ObservedOomKill | undefined {
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

// The state of a resize: conditions since Kubernetes 1.33, `status.resize` before that.

const none: ObservedResize = { state: "none" };

/** @param generation The generation of the pod. A status of an older generation does not reflect its spec. */
export function resizeIn(status: PodStatus | undefined, generation: number | undefined): ObservedResize {
  if (status === undefined) return none;
  if (isOlder(status.observedGeneration, generation))
    return { state: "inProgress", message: "the kubelet has not observed the resize yet" };
  const current = (status.conditions ?? []).filter(
    (condition) => condition.status === "True" && !isOlder(condition.observedGeneration, generation),
  );
  // A pending resize is newer than one in progress.
  const found =
    current.find(({ type }) => type === "PodResizePending") ?? current.find(({ type }) => type === "PodResizeInProgress");
  return found === undefined ? beforeConditions(status) : seenIn(found);
}

/** Kubernetes before 1.33 does not set observedGeneration. */
function isOlder(observed: number | undefined, generation: number | undefined): boolean {
  return observed !== undefined && observed > 0 && generation !== undefined && observed < generation;
}

function seenIn({ type, reason, message }: PodCondition): ObservedResize {
  return { state: stateOf(type, reason), ...(message !== undefined && message !== "" && { message }) };
}

function stateOf(type: string, reason: string | undefined): ObservedResize["state"] {
  if (type === "PodResizeInProgress") return reason === "Error" ? "error" : "inProgress";
  if (reason === "Deferred") return "deferred";
  return reason === "Infeasible" ? "infeasible" : "inProgress";
}

function beforeConditions({ resize = "" }: PodStatus): ObservedResize {
  if (resize === "") return none;
  if (resize === "Deferred") return { state: "deferred" };
  return { state: resize === "Infeasible" ? "infeasible" : "inProgress" };
}

/**
 * The memory request of a pod in bytes, as the scheduler computes it; 0 after the pod has ended.
 *
 * The requests of containers add up. Init containers run one after the other before them, so the largest counts. Sidecars run with
 * both, so they are added to both. During a resize, the larger of the desired and the allocated request counts.
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

/** An init container that runs as long as the pod. */
export function isSidecar({ restartPolicy }: Container): boolean {
  return restartPolicy === "Always";
}

/** Undefined if missing or malformed: a projection runs on every object of the cluster and must not throw on a malformed one (E3). */
export function memoryIn(list: ResourceList | undefined, name = "memory"): Bytes | undefined {
  const quantity = list?.[name];
  if (quantity === undefined) return undefined;
  try {
    return bytesOf(quantity);
  } catch {
    return undefined;
  }
}
