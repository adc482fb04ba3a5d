import type { Kind, KubernetesObject } from "../object.ts";
import type { Container, EphemeralContainer, PodSecurityContext, Volume } from "./container.ts";
import {
  type Condition,
  type LabelSelector,
  type LocalObjectReference,
  namespacedKind,
  type ResourceList,
  type ResourceRequirements,
  type TemplateMeta,
  type Time,
} from "./kind.ts";

/** `v1` `pods`. */
export interface Pod extends KubernetesObject {
  readonly spec: PodSpec;
  readonly status?: PodStatus;
}
export const Pod: Kind<Pod> = namespacedKind("v1", "Pod", "pods");

export interface PodTemplateSpec {
  readonly metadata?: TemplateMeta;
  readonly spec: PodSpec;
}

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly ephemeralContainers?: readonly EphemeralContainer[];
  readonly volumes?: readonly Volume[];
  /** Resources of the pod as a whole (beta since 1.34). */
  readonly resources?: ResourceRequirements;
  readonly overhead?: ResourceList;
  readonly restartPolicy?: "Always" | "OnFailure" | "Never";
  readonly terminationGracePeriodSeconds?: number;
  readonly activeDeadlineSeconds?: number;
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly imagePullSecrets?: readonly LocalObjectReference[];
  readonly securityContext?: PodSecurityContext;
  readonly nodeName?: string;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly affinity?: Affinity;
  readonly tolerations?: readonly Toleration[];
  readonly topologySpreadConstraints?: readonly TopologySpreadConstraint[];
  readonly schedulerName?: string;
  readonly schedulingGates?: readonly { readonly name: string }[];
  readonly priority?: number;
  readonly priorityClassName?: string;
  readonly preemptionPolicy?: "PreemptLowerPriority" | "Never";
  readonly runtimeClassName?: string;
  readonly readinessGates?: readonly { readonly conditionType: string }[];
  readonly hostname?: string;
  readonly hostnameOverride?: string;
  readonly subdomain?: string;
  readonly setHostnameAsFQDN?: boolean;
  readonly hostAliases?: readonly { readonly ip: string; readonly hostnames?: readonly string[] }[];
  readonly dnsPolicy?: "ClusterFirst" | "ClusterFirstWithHostNet" | "Default" | "None";
  readonly dnsConfig?: PodDnsConfig;
  readonly enableServiceLinks?: boolean;
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly hostUsers?: boolean;
  readonly shareProcessNamespace?: boolean;
  readonly os?: { readonly name: "linux" | "windows" };
  readonly resourceClaims?: readonly PodResourceClaim[];
}

export interface PodDnsConfig {
  readonly nameservers?: readonly string[];
  readonly searches?: readonly string[];
  readonly options?: readonly { readonly name?: string; readonly value?: string }[];
}

export interface PodResourceClaim {
  readonly name: string;
  readonly resourceClaimName?: string;
  readonly resourceClaimTemplateName?: string;
}

export interface PodStatus {
  /** The generation of the spec that this status describes (since 1.33; alpha before). */
  readonly observedGeneration?: number;
  readonly phase?: "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";
  readonly conditions?: readonly PodCondition[];
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly ephemeralContainerStatuses?: readonly ContainerStatus[];
  readonly qosClass?: "Guaranteed" | "Burstable" | "BestEffort";
  /** State of a resize up to 1.32; later versions report it in conditions. */
  readonly resize?: "Proposed" | "InProgress" | "Deferred" | "Infeasible" | "";
  readonly allocatedResources?: ResourceList;
  readonly resources?: ResourceRequirements;
  readonly reason?: string;
  readonly message?: string;
  readonly startTime?: Time;
  readonly hostIP?: string;
  readonly hostIPs?: readonly { readonly ip: string }[];
  readonly podIP?: string;
  readonly podIPs?: readonly { readonly ip: string }[];
  readonly nominatedNodeName?: string;
  readonly resourceClaimStatuses?: readonly { readonly name: string; readonly resourceClaimName?: string }[];
}

/** Common types: PodScheduled, Initialized, ContainersReady, Ready, DisruptionTarget, PodResizePending, PodResizeInProgress, … */
export interface PodCondition extends Condition {
  readonly lastProbeTime?: Time | null;
}

export interface ContainerStatus {
  readonly name: string;
  readonly image?: string;
  readonly imageID?: string;
  readonly containerID?: string;
  readonly ready?: boolean;
  readonly started?: boolean;
  readonly restartCount?: number;
  readonly state?: ContainerState;
  /** The previous termination. If a container was OOM-killed and runs again, the kill is recorded here. */
  readonly lastState?: ContainerState;
  /** What the node admitted; the spec has what is desired. */
  readonly allocatedResources?: ResourceList;
  /** The resources in effect. */
  readonly resources?: ResourceRequirements;
  readonly allocatedResourcesStatus?: readonly { readonly name: string; readonly resources?: readonly unknown[] }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[];
  readonly user?: {
    readonly linux?: { readonly uid: number; readonly gid: number; readonly supplementalGroups?: readonly number[] };
  };
  readonly stopSignal?: string;
}

/** At most one field is set; none means waiting. */
export interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt?: Time };
  readonly terminated?: ContainerStateTerminated;
}

export interface ContainerStateTerminated {
  readonly exitCode: number;
  readonly signal?: number;
  /** For example "OOMKilled", "Error", "Completed". */
  readonly reason?: string;
  readonly message?: string;
  readonly startedAt?: Time;
  readonly finishedAt?: Time;
  readonly containerID?: string;
}

export interface Toleration {
  readonly key?: string;
  readonly operator?: "Exists" | "Equal" | (string & {});
  readonly value?: string;
  readonly effect?: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
  readonly tolerationSeconds?: number;
}

export interface TopologySpreadConstraint {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly whenUnsatisfiable: "DoNotSchedule" | "ScheduleAnyway";
  readonly labelSelector?: LabelSelector;
  readonly matchLabelKeys?: readonly string[];
  readonly minDomains?: number;
  readonly nodeAffinityPolicy?: "Honor" | "Ignore";
  readonly nodeTaintsPolicy?: "Honor" | "Ignore";
}

export interface Affinity {
  readonly nodeAffinity?: NodeAffinity;
  readonly podAffinity?: PodAffinity;
  readonly podAntiAffinity?: PodAffinity;
}

export interface NodeAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: { readonly nodeSelectorTerms: readonly NodeSelectorTerm[] };
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
    readonly weight: number;
    readonly preference: NodeSelectorTerm;
  }[];
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeSelectorRequirement[];
  readonly matchFields?: readonly NodeSelectorRequirement[];
}

export interface NodeSelectorRequirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt";
  readonly values?: readonly string[];
}

/** Affinity and anti-affinity have the same fields. */
export interface PodAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[];
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
    readonly weight: number;
    readonly podAffinityTerm: PodAffinityTerm;
  }[];
}

export interface PodAffinityTerm {
  readonly topologyKey: string;
  readonly labelSelector?: LabelSelector;
  readonly namespaceSelector?: LabelSelector;
  readonly namespaces?: readonly string[];
  readonly matchLabelKeys?: readonly string[];
  readonly mismatchLabelKeys?: readonly string[];
}
