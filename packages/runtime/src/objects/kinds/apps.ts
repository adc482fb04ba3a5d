// Workloads that keep pods running: apps/v1.
import type { Kind, KubernetesObject } from "../object.ts";
import type { Condition, IntOrString, LabelSelector, Time } from "./common.ts";
import type { PersistentVolumeClaim } from "./core/claim.ts";
import type { PodTemplateSpec } from "./core/pod.ts";
import { namespacedKind } from "./kind.ts";

/** Interchangeable pods, rolled out surge-then-drain: `apps/v1` `deployments`. */
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
  /** Types in use: Available, Progressing, ReplicaFailure. */
  readonly conditions?: readonly (Condition & { readonly lastUpdateTime?: Time })[];
}

/** One generation of a Deployment, or pods without rollout: `apps/v1` `replicasets`. */
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

/** Pods with a number, a name and storage of their own: `apps/v1` `statefulsets`. */
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

/** One pod on each node: `apps/v1` `daemonsets`. */
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
