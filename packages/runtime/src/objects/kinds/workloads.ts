// Workloads: apps/v1 and batch/v1.
import type { Kind, KubernetesObject } from "../object.ts";
import type { PersistentVolumeClaim } from "./core.ts";
import {
  type Condition,
  type IntOrString,
  type LabelSelector,
  namespacedKind,
  type ObjectReference,
  type TemplateMeta,
  type Time,
} from "./kind.ts";
import type { PodTemplateSpec } from "./pod.ts";

/** `apps/v1` `deployments`. */
export interface Deployment extends KubernetesObject {
  readonly spec: DeploymentSpec;
  readonly status?: DeploymentStatus;
}
export const Deployment: Kind<Deployment> = namespacedKind("apps/v1", "Deployment", "deployments");

export interface DeploymentSpec {
  readonly replicas?: number;
  readonly selector: LabelSelector;
  readonly template: PodTemplateSpec;
  readonly strategy?: {
    readonly type?: "RollingUpdate" | "Recreate";
    readonly rollingUpdate?: { readonly maxSurge?: IntOrString; readonly maxUnavailable?: IntOrString };
  };
  readonly minReadySeconds?: number;
  readonly progressDeadlineSeconds?: number;
  readonly revisionHistoryLimit?: number;
  readonly paused?: boolean;
}

export interface DeploymentStatus {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly updatedReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly unavailableReplicas?: number;
  readonly terminatingReplicas?: number;
  readonly collisionCount?: number;
  /** Common types: Available, Progressing, ReplicaFailure. */
  readonly conditions?: readonly (Condition & { readonly lastUpdateTime?: Time })[];
}

/** `apps/v1` `replicasets`. */
export interface ReplicaSet extends KubernetesObject {
  readonly spec: ReplicaSetSpec;
  readonly status?: ReplicaSetStatus;
}
export const ReplicaSet: Kind<ReplicaSet> = namespacedKind("apps/v1", "ReplicaSet", "replicasets");

export interface ReplicaSetSpec {
  readonly replicas?: number;
  readonly selector: LabelSelector;
  readonly template?: PodTemplateSpec;
  readonly minReadySeconds?: number;
}

export interface ReplicaSetStatus {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly fullyLabeledReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly terminatingReplicas?: number;
  readonly conditions?: readonly Condition[];
}

/** `apps/v1` `statefulsets`. */
export interface StatefulSet extends KubernetesObject {
  readonly spec: StatefulSetSpec;
  readonly status?: StatefulSetStatus;
}
export const StatefulSet: Kind<StatefulSet> = namespacedKind("apps/v1", "StatefulSet", "statefulsets");

export interface StatefulSetSpec {
  readonly replicas?: number;
  readonly serviceName?: string;
  readonly selector: LabelSelector;
  readonly template: PodTemplateSpec;
  readonly volumeClaimTemplates?: readonly PersistentVolumeClaim[];
  readonly podManagementPolicy?: "OrderedReady" | "Parallel";
  readonly updateStrategy?: {
    readonly type?: "RollingUpdate" | "OnDelete";
    readonly rollingUpdate?: { readonly partition?: number; readonly maxUnavailable?: IntOrString };
  };
  readonly persistentVolumeClaimRetentionPolicy?: {
    readonly whenDeleted?: "Retain" | "Delete";
    readonly whenScaled?: "Retain" | "Delete";
  };
  readonly ordinals?: { readonly start?: number };
  readonly minReadySeconds?: number;
  readonly revisionHistoryLimit?: number;
}

export interface StatefulSetStatus {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly currentReplicas?: number;
  readonly updatedReplicas?: number;
  readonly currentRevision?: string;
  readonly updateRevision?: string;
  readonly collisionCount?: number;
  readonly conditions?: readonly Condition[];
}

/** `apps/v1` `daemonsets`. */
export interface DaemonSet extends KubernetesObject {
  readonly spec: DaemonSetSpec;
  readonly status?: DaemonSetStatus;
}
export const DaemonSet: Kind<DaemonSet> = namespacedKind("apps/v1", "DaemonSet", "daemonsets");

export interface DaemonSetSpec {
  readonly selector: LabelSelector;
  readonly template: PodTemplateSpec;
  readonly updateStrategy?: {
    readonly type?: "RollingUpdate" | "OnDelete";
    readonly rollingUpdate?: { readonly maxSurge?: IntOrString; readonly maxUnavailable?: IntOrString };
  };
  readonly minReadySeconds?: number;
  readonly revisionHistoryLimit?: number;
}

export interface DaemonSetStatus {
  readonly observedGeneration?: number;
  readonly currentNumberScheduled: number;
  readonly desiredNumberScheduled: number;
  readonly numberMisscheduled: number;
  readonly numberReady: number;
  readonly numberAvailable?: number;
  readonly numberUnavailable?: number;
  readonly updatedNumberScheduled?: number;
  readonly collisionCount?: number;
  readonly conditions?: readonly Condition[];
}

/** `batch/v1` `jobs`. */
export interface Job extends KubernetesObject {
  readonly spec: JobSpec;
  readonly status?: JobStatus;
}
export const Job: Kind<Job> = namespacedKind("batch/v1", "Job", "jobs");

export interface JobSpec {
  readonly template: PodTemplateSpec;
  readonly parallelism?: number;
  readonly completions?: number;
  readonly completionMode?: "NonIndexed" | "Indexed";
  readonly backoffLimit?: number;
  readonly backoffLimitPerIndex?: number;
  readonly maxFailedIndexes?: number;
  readonly activeDeadlineSeconds?: number;
  readonly ttlSecondsAfterFinished?: number;
  readonly suspend?: boolean;
  readonly selector?: LabelSelector;
  readonly manualSelector?: boolean;
  readonly managedBy?: string;
  readonly podFailurePolicy?: { readonly rules: readonly Readonly<Record<string, unknown>>[] };
  readonly podReplacementPolicy?: "TerminatingOrFailed" | "Failed";
  readonly successPolicy?: {
    readonly rules: readonly { readonly succeededCount?: number; readonly succeededIndexes?: string }[];
  };
}

export interface JobStatus {
  readonly active?: number;
  readonly ready?: number;
  readonly succeeded?: number;
  readonly failed?: number;
  readonly terminating?: number;
  readonly completedIndexes?: string;
  readonly failedIndexes?: string;
  readonly startTime?: Time;
  readonly completionTime?: Time;
  /** Common types: Complete, Failed, Suspended, SuccessCriteriaMet, FailureTarget. */
  readonly conditions?: readonly (Condition & { readonly lastProbeTime?: Time })[];
  readonly uncountedTerminatedPods?: { readonly succeeded?: readonly string[]; readonly failed?: readonly string[] };
}

/** `batch/v1` `cronjobs`. */
export interface CronJob extends KubernetesObject {
  readonly spec: CronJobSpec;
  readonly status?: CronJobStatus;
}
export const CronJob: Kind<CronJob> = namespacedKind("batch/v1", "CronJob", "cronjobs");

export interface CronJobSpec {
  readonly schedule: string;
  readonly timeZone?: string;
  readonly jobTemplate: { readonly metadata?: TemplateMeta; readonly spec: JobSpec };
  readonly concurrencyPolicy?: "Allow" | "Forbid" | "Replace";
  readonly startingDeadlineSeconds?: number;
  readonly suspend?: boolean;
  readonly successfulJobsHistoryLimit?: number;
  readonly failedJobsHistoryLimit?: number;
}

export interface CronJobStatus {
  readonly active?: readonly ObjectReference[];
  readonly lastScheduleTime?: Time;
  readonly lastSuccessfulTime?: Time;
}
