// Everything a decision about one app rests on, as plain values. observe/ fills it in, decide/ reads it, and `explain` prints
// it; whatever is not in here cannot be the reason for anything.
//
// Times: `…Ms` with `At` are wall-clock milliseconds as the API has them. Ages of samples are spans that were measured without
// our wall clock (promise M5).
import type { Bytes } from "./bytes.ts";
import type { Policy } from "./policy.ts";
import type { AppRecord } from "./record.ts";

/** The top-most known owner of a pod: what people call their app. */
export interface AppName {
  readonly kind: AppKind;
  readonly namespace: string;
  readonly name: string;
}
/** "Other": an owner of a kind we do not know; its pods are resized in place or reported. */
export type AppKind = "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet" | "CronJob" | "Job" | "Pod" | "Other";

export interface AppSeen {
  readonly app: AppName;
  readonly nowMs: number;
  /** The AppMonitors that select the app's pods: one is as it should be. */
  readonly policies: readonly Policy[];
  readonly record: AppRecord;
  readonly pods: readonly PodSeen[];
  /** What new pods are made from; undefined for bare pods, Jobs and owners we do not know. */
  readonly template: TemplateSeen | undefined;
  readonly limits: NamespaceLimits;
  readonly metrics: MetricsSeen;
  readonly cluster: ClusterAbilities;
  /** An HPA that scales this app by memory utilisation, or a VPA, by name ("HorizontalPodAutoscaler/web"). */
  readonly rival: { readonly name: string; readonly kind: "HPA" | "VPA" } | undefined;
  /** How many raises other apps have under way: for the bound across the cluster. */
  readonly underWayElsewhere: number;
  /**
   * Milliseconds since our last raise of this pod, by the monotonic clock of this process: a second witness beside the record,
   * whom a step of the wall clock does not fool. Key: pod UID. Absent after a restart.
   */
  readonly raisedAgoMs: ReadonlyMap<string, number>;
}

export interface ClusterAbilities {
  /** pods/resize is served. */
  readonly inPlace: boolean;
  /** A container that is already OOMKilled can be resized and lives (Kubernetes ≥ 1.37). */
  readonly resizeAfterOomKill: boolean;
}

export interface MetricsSeen {
  /** The last query was answered in full. */
  readonly available: boolean;
  /** Since when it was not, as a span; and why, for people. */
  readonly unavailableForMs?: number;
  readonly problem?: string;
  /** Samples older than this decide nothing. */
  readonly freshForMs: number;
}

export interface PodSeen {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly createdAtMs: number;
  /** The annotation says "true"; "false" stops us before the next write. */
  readonly monitored: boolean;
  readonly phase: "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";
  readonly ready: boolean;
  readonly deleting: boolean;
  readonly qos: "Guaranteed" | "Burstable" | "BestEffort";
  readonly node: NodeSeen | undefined;
  readonly containers: readonly ContainerSeen[];
  /** What the kubelet says about the last resize. */
  readonly resize: ResizeSeen;
  /** Why this pod can never be resized in place: a static pod, Windows, … */
  readonly notResizable: string | undefined;
  /** The UID of the pod this one is a bigger copy of, if we made it. */
  readonly copyOf: string | undefined;
}

export interface ResizeSeen {
  readonly state: "none" | "inProgress" | "deferred" | "infeasible" | "error";
  readonly message?: string;
}

export interface NodeSeen {
  readonly name: string;
  readonly allocatable: Bytes;
  /** The sum of the memory requests of the pods on it. */
  readonly requested: Bytes;
}

export interface ContainerSeen {
  readonly name: string;
  /** An init container with restartPolicy Always. */
  readonly sidecar: boolean;
  /** What the spec asks for. */
  readonly limit: Bytes | undefined;
  readonly request: Bytes | undefined;
  /** What the kubelet confirms; undefined where it says nothing (Kubernetes < 1.33). */
  readonly appliedLimit: Bytes | undefined;
  readonly appliedRequest: Bytes | undefined;
  /** resizePolicy memory: RestartContainer. */
  readonly restartsOnResize: boolean;
  readonly running: boolean;
  readonly restarts: number;
  /** The last kill for lack of memory that the status still knows. */
  readonly oomKill: OomKillSeen | undefined;
  /** Of this very container (not of one before its restart), oldest first, one per timestamp. */
  readonly samples: readonly Sample[];
  /** How many were dropped: NaN, negative, infinite, from the future, older than the container. */
  readonly badSamples: number;
}

export interface OomKillSeen {
  /** The restart count of the container that was killed: with the pod's UID and the name it makes the kill unique. */
  readonly restart: number;
  readonly atMs: number;
  /** It has not been started again: waiting in back-off, or terminated for good. */
  readonly stillDown: boolean;
}

export interface Sample {
  readonly bytes: Bytes;
  /** How old it is now. */
  readonly ageMs: number;
}

export interface TemplateSeen {
  readonly uid: string;
  readonly resourceVersion: string;
  /** Per container: what the template asks for. */
  readonly containers: readonly {
    readonly name: string;
    readonly limit: Bytes | undefined;
    readonly request: Bytes | undefined;
  }[];
  readonly replicas: number;
  readonly readyReplicas: number;
  /** Every replica is of the newest template, and ready. */
  readonly rolledOut: boolean;
  /** The rollout makes no progress; why. */
  readonly stalled?: string;
  /** The controller replaces pods by itself when the template changes; otherwise (ReplicaSet, OnDelete) we evict them one by one. */
  readonly replacesPods: boolean;
  /** How many pods a rollout may take away before others are Ready in their place. 0: new ones come first. */
  readonly takenFirst: number;
}

/** LimitRanges and ResourceQuotas of the namespace, as far as memory goes. */
export interface NamespaceLimits {
  readonly ranges: readonly RangeSeen[];
  readonly quotas: readonly QuotaSeen[];
}

export interface RangeSeen {
  readonly name: string;
  readonly per: "Container" | "Pod";
  readonly max: Bytes | undefined;
  /** limit ÷ request may be at most this. */
  readonly maxRatio: number | undefined;
}

export interface QuotaSeen {
  readonly name: string;
  readonly of: "limits" | "requests";
  readonly hard: Bytes;
  readonly used: Bytes;
}
