import type { Kind, KubernetesObject } from "../../object.ts";
import type { LocalObjectReference, ResourceList, ResourceRequirements, TemplateMeta } from "../common.ts";
import { namespacedKind } from "../kind.ts";
import type { Container, EphemeralContainer } from "./container.ts";
import type { PodStatus } from "./pod-status.ts";
import type { Affinity, Toleration, TopologySpreadConstraint } from "./scheduling.ts";
import type { PodSecurityContext } from "./security-context.ts";
import type { Volume } from "./volume.ts";

/** One or more containers on one node: `v1` `pods`. */
export interface Pod extends KubernetesObject {
  readonly spec: PodSpec;
  readonly status?: PodStatus;
}
export const Pod: Kind<Pod> = namespacedKind("v1", "Pod", "pods");

/** What workloads make pods from. */
export interface PodTemplateSpec {
  readonly metadata?: TemplateMeta;
  readonly spec: PodSpec;
}

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly ephemeralContainers?: readonly EphemeralContainer[];
  readonly volumes?: readonly Volume[];
  /** Limits for the pod as a whole (beta since 1.34). */
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
