// Everything that a decision about one app is based on, as plain values. observe/ fills it in, decide/ reads it, `explain` prints it.
//
// `…AtMs` are wall-clock times from the API. Ages are durations, measured without the wall clock of memhog (M5).
import type { Bytes } from "./bytes.ts";
import type { AppRecord, Intent } from "./plan.ts";

/** The topmost known owner of a pod. */
export interface AppName {
  readonly kind: AppKind;
  readonly namespace: string;
  readonly name: string;
}
/** "Other": an owner of an unknown kind. Its pods are only resized in place. */
export type AppKind = "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet" | "CronJob" | "Job" | "Pod" | "Other";

export interface ObservedApp {
  readonly app: AppName;
  readonly nowMs: number;
  /** The most specific AppMonitors that select pods of the app (observe/monitors.ts). With more than one, none acts. */
  readonly policies: readonly Policy[];
  /** The names of less specific AppMonitors that select pods of the app too, for people. */
  readonly outranked: readonly string[];
  readonly record: AppRecord;
  readonly pods: readonly ObservedPod[];
  /** The pod template of the owner; undefined for bare pods, Jobs and owners of unknown kinds. */
  readonly template: ObservedTemplate | undefined;
  readonly limits: NamespaceLimits;
  readonly metrics: ObservedMetrics;
  readonly cluster: ClusterAbilities;
  /** An HPA on memory utilization, or a VPA: "HorizontalPodAutoscaler/web", or the kind alone if the name is unknown. */
  readonly otherAutoscaler: { readonly name: string; readonly kind: "HPA" | "VPA" } | undefined;
  /** Raises of other apps that take a slot: decide/methods.ts shares the slots of the cluster by namespace. */
  readonly underWayElsewhere: SlotsTaken;
  /**
   * By pod UID: milliseconds since this process last raised it, by the monotonic clock. Unlike the times in the record it is not
   * affected by steps of the wall clock. Empty after a restart.
   */
  readonly raisedAgoMs: ReadonlyMap<string, number>;
  /**
   * By the id of a Template intent: how long this process has seen its rollout in the present stage, by the monotonic clock. It starts
   * again when the process does.
   */
  readonly rolloutUnchangedMs: ReadonlyMap<string, number>;
}

export interface SlotsTaken {
  /** By other apps of the same namespace. */
  readonly namespace: number;
  /** By other apps of all namespaces. */
  readonly cluster: number;
  /** How many other namespaces have at least one. */
  readonly otherNamespaces: number;
}

export interface ClusterAbilities {
  /** pods/resize is served. */
  readonly inPlace: boolean;
  /** A container that is already OOMKilled can be resized (Kubernetes ≥ 1.37). */
  readonly resizeAfterOomKill: boolean;
  /** memhog runs with --in-place-only: it has no permission to replace pods or edit owners. @default false */
  readonly inPlaceOnly?: boolean;
  /** The memory limit of a running container can be lowered in place (Kubernetes ≥ 1.34). @default false */
  readonly lowersLimits?: boolean;
}

export interface ObservedMetrics {
  /** The last query was answered in full. */
  readonly available: boolean;
  /** How long it has been unavailable, and why, for people. */
  readonly unavailableForMs?: number;
  readonly problem?: string;
  /** Older samples are ignored. */
  readonly freshForMs: number;
}

export interface ObservedPod {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly createdAtMs: number;
  /** The annotation is "true". */
  readonly monitored: boolean;
  /** The revision of the pod template it was made from; undefined if that is not known, as for bare pods. */
  readonly revision?: string | undefined;
  readonly phase: "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";
  readonly ready: boolean;
  readonly deleting: boolean;
  readonly qos: "Guaranteed" | "Burstable" | "BestEffort";
  readonly node: ObservedNode | undefined;
  readonly containers: readonly ObservedContainer[];
  /** Memory in spec.resources of the pod, which all its containers share (Kubernetes ≥ 1.34). Undefined if it has none. */
  readonly podLevel?: { readonly limit: Bytes | undefined; readonly request: Bytes | undefined };
  /** What the kubelet reports about the last resize. */
  readonly resize: ObservedResize;
  /** Why this pod can never be resized in place, for people: a static pod, a Windows pod. */
  readonly notResizable: string | undefined;
  /** The UID of the pod that this one is a larger copy of. */
  readonly copyOf: string | undefined;
  /** Why a copy of this pod must not run next to it. */
  readonly copyRisk: CopyRisk | undefined;
}

/** WritesVolume: it writes to storage that its copy would write to as well. RunsOnce: its work would be done twice. */
export type CopyRisk = "WritesVolume" | "RunsOnce";

export interface ObservedResize {
  readonly state: "none" | "inProgress" | "deferred" | "infeasible" | "error";
  readonly message?: string;
}

export interface ObservedNode {
  readonly name: string;
  readonly allocatable: Bytes;
  /** The sum of the memory requests of the pods on it. */
  readonly requested: Bytes;
  /** The kubelet reports MemoryPressure. */
  readonly underPressure: boolean;
}

export interface ObservedContainer {
  readonly name: string;
  /** An init container with restartPolicy Always. */
  readonly sidecar: boolean;
  /** In the spec. */
  readonly limit: Bytes | undefined;
  readonly request: Bytes | undefined;
  /** Reported by the kubelet; undefined before Kubernetes 1.33. */
  readonly appliedLimit: Bytes | undefined;
  readonly appliedRequest: Bytes | undefined;
  /** resizePolicy memory: RestartContainer. */
  readonly restartsOnResize: boolean;
  readonly running: boolean;
  readonly restarts: number;
  /** The last OOM kill in the status. */
  readonly oomKill: ObservedOomKill | undefined;
  /** Since the last restart of the container, oldest first, one per timestamp. */
  readonly samples: readonly Sample[];
  /** Unset unless the AppMonitor asks for it (spec.shrink) and Prometheus has answered in full. */
  readonly window?: ObservedWindow | undefined;
  /** Samples that were dropped: NaN, negative, infinite, in the future, or older than the container. */
  readonly badSamples: number;
}

/** What Prometheus has of a container over a long time, across restarts. */
export interface ObservedWindow {
  readonly peak: Bytes;
  /** Number of samples. */
  readonly samples: number;
  readonly lengthMs: number;
}

export interface ObservedOomKill {
  /** The restart count of the killed container. Together with the pod UID and the container name it identifies the kill. */
  readonly restart: number;
  readonly atMs: number;
  /** The container has not been restarted. */
  readonly stillDown: boolean;
}

export interface Sample {
  readonly bytes: Bytes;
  /** Age of the sample now. */
  readonly ageMs: number;
}

export interface ObservedTemplate {
  readonly uid: string;
  readonly resourceVersion: string;
  /** In the template. */
  readonly containers: readonly {
    readonly name: string;
    readonly limit: Bytes | undefined;
    readonly request: Bytes | undefined;
  }[];
  readonly replicas: number;
  readonly readyReplicas: number;
  /** Every replica is of the newest template and Ready. */
  readonly rolledOut: boolean;
  /** A person holds rollouts back: a paused Deployment, a partition. For people. */
  readonly held?: string;
  /** The controller reports that the rollout exceeded its deadline. For people. */
  readonly stalled?: string;
  /** The controller cannot create pods, for example because of a quota. For people. */
  readonly failing?: string;
  /** How long a rollout may make no progress. */
  readonly deadlineMs: number;
  /** A controller replaces the pods when the template changes. Otherwise (ReplicaSet, OnDelete) memhog evicts them. */
  readonly replacesPods: boolean;
  /** How many pods a rollout may remove before new ones are Ready. */
  readonly maxUnavailable: number;
  /** How many pods a rollout may create beyond `replicas`. */
  readonly surge: number;
}

/** LimitRanges and ResourceQuotas of the namespace that concern memory. */
export interface NamespaceLimits {
  readonly ranges: readonly ObservedLimitRange[];
  readonly quotas: readonly ObservedQuota[];
}

export interface ObservedLimitRange {
  readonly name: string;
  readonly per: "Container" | "Pod";
  readonly max: Bytes | undefined;
  /** Upper bound of limit ÷ request. */
  readonly maxRatio: number | undefined;
}

export interface ObservedQuota {
  readonly name: string;
  readonly of: "limits" | "requests";
  readonly hard: Bytes;
  readonly used: Bytes;
}

export type Strategy = "Auto" | "InPlace" | "Redeploy" | "Recommend";
export type Metric = "WorkingSet" | "Usage";

/** The spec of an AppMonitor with its defaults. */
export interface Policy {
  /** Name of the AppMonitor. */
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  /** 75: raise at usage ÷ limit ≥ 0.75. */
  readonly thresholdPercent: number;
  /** More than 1, at most 10. */
  readonly multiplier: number;
  readonly strategy: Strategy;
  readonly metric: Metric;
  readonly maxMemory: Bytes | undefined;
  readonly cooldownMs: number;
  /** 0: the trend is ignored. */
  readonly lookaheadMs: number;
  readonly maxRaisesPerHour: number;
  readonly paused: boolean;
  /** Undefined: memory is never taken back. */
  readonly shrink?: ShrinkPolicy | undefined;
}

export interface ShrinkPolicy {
  readonly windowMs: number;
  /** 0.2: keep 20 % more than the peak. */
  readonly margin: number;
  /** Whether a request may become lower than in the template. */
  readonly belowTemplate: boolean;
}

/** Whether this container can be resized in place. methods.ts decides whether it is. */
export function resizesInPlace(seen: ObservedApp, pod: ObservedPod, container: ObservedContainer): boolean {
  if (!seen.cluster.inPlace || seen.policies.some(({ strategy }) => strategy === "Redeploy")) return false;
  if (pod.notResizable !== undefined || pod.qos === "BestEffort" || hasEnded(pod)) return false;
  return container.running || (container.oomKill?.stillDown === true && seen.cluster.resizeAfterOomKill);
}

/** Its containers will never run again. */
export function hasEnded({ phase }: ObservedPod): boolean {
  return phase === "Succeeded" || phase === "Failed";
}

export const podOf = (seen: ObservedApp, uid: string): ObservedPod | undefined => seen.pods.find((pod) => pod.uid === uid);

export const containerOf = (pod: ObservedPod, name: string): ObservedContainer | undefined =>
  pod.containers.find((container) => container.name === name);

/** The larger copy of the pod of this intent. */
export const copyFor = (seen: ObservedApp, intent: Pick<Intent, "copyUid">): ObservedPod | undefined =>
  intent.copyUid === undefined ? undefined : seen.pods.find((pod) => pod.uid === intent.copyUid);

export const live = (pod: ObservedPod): boolean => !pod.deleting && !hasEnded(pod);
