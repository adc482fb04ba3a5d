import type { Kind, KubernetesObject } from "../object.ts";
import {
  type Condition,
  clusterKind,
  type IntOrString,
  type LabelSelector,
  type LocalObjectReference,
  namespacedKind,
  type ObjectReference,
  type ResourceList,
  type Time,
} from "./kind.ts";

/** `v1` `namespaces`. */
export interface Namespace extends KubernetesObject {
  readonly spec?: { readonly finalizers?: readonly string[] };
  readonly status?: { readonly phase?: "Active" | "Terminating"; readonly conditions?: readonly Condition[] };
}
export const Namespace: Kind<Namespace> = clusterKind("v1", "Namespace", "namespaces");

/** `v1` `nodes`. */
export interface Node extends KubernetesObject {
  readonly spec?: NodeSpec;
  readonly status?: NodeStatus;
}
export const Node: Kind<Node> = clusterKind("v1", "Node", "nodes");

export interface NodeSpec {
  readonly podCIDR?: string;
  readonly podCIDRs?: readonly string[];
  readonly providerID?: string;
  readonly unschedulable?: boolean;
  readonly taints?: readonly Taint[];
}

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
  readonly timeAdded?: Time;
}

export interface NodeStatus {
  readonly capacity?: ResourceList;
  /** Capacity minus what is reserved for the system. */
  readonly allocatable?: ResourceList;
  readonly conditions?: readonly NodeCondition[];
  readonly addresses?: readonly { readonly type: string; readonly address: string }[];
  readonly daemonEndpoints?: { readonly kubeletEndpoint?: { readonly Port: number } };
  readonly nodeInfo?: NodeSystemInfo;
  readonly images?: readonly { readonly names?: readonly string[]; readonly sizeBytes?: number }[];
  readonly features?: Readonly<Record<string, boolean>>;
}

/** Common types: Ready, MemoryPressure, DiskPressure, PIDPressure, NetworkUnavailable. */
export interface NodeCondition extends Condition {
  readonly lastHeartbeatTime?: Time;
}

export interface NodeSystemInfo {
  readonly architecture: string;
  readonly bootID: string;
  readonly containerRuntimeVersion: string;
  readonly kernelVersion: string;
  readonly kubeletVersion: string;
  readonly machineID: string;
  readonly operatingSystem: string;
  readonly osImage: string;
  readonly systemUUID: string;
}

/** `v1` `services`. */
export interface Service extends KubernetesObject {
  readonly spec?: ServiceSpec;
  readonly status?: ServiceStatus;
}
export const Service: Kind<Service> = namespacedKind("v1", "Service", "services");

export interface ServiceSpec {
  readonly type?: "ClusterIP" | "NodePort" | "LoadBalancer" | "ExternalName";
  readonly selector?: Readonly<Record<string, string>>;
  readonly ports?: readonly ServicePort[];
  /** "None" makes the Service headless. */
  readonly clusterIP?: string;
  readonly clusterIPs?: readonly string[];
  readonly ipFamilies?: readonly ("IPv4" | "IPv6")[];
  readonly ipFamilyPolicy?: "SingleStack" | "PreferDualStack" | "RequireDualStack";
  readonly externalName?: string;
  readonly externalIPs?: readonly string[];
  readonly externalTrafficPolicy?: "Cluster" | "Local";
  readonly internalTrafficPolicy?: "Cluster" | "Local";
  readonly trafficDistribution?: string;
  readonly publishNotReadyAddresses?: boolean;
  readonly sessionAffinity?: "None" | "ClientIP";
  readonly sessionAffinityConfig?: { readonly clientIP?: { readonly timeoutSeconds?: number } };
  readonly loadBalancerClass?: string;
  readonly loadBalancerSourceRanges?: readonly string[];
  readonly allocateLoadBalancerNodePorts?: boolean;
  readonly healthCheckNodePort?: number;
}

export interface ServicePort {
  readonly name?: string;
  readonly port: number;
  readonly targetPort?: IntOrString;
  readonly nodePort?: number;
  readonly protocol?: "TCP" | "UDP" | "SCTP";
  readonly appProtocol?: string;
}

export interface ServiceStatus {
  readonly conditions?: readonly Condition[];
  readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[] };
}

/** `v1` `configmaps`. */
export interface ConfigMap extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>;
  /** Base64. */
  readonly binaryData?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
}
export const ConfigMap: Kind<ConfigMap> = namespacedKind("v1", "ConfigMap", "configmaps");

/** `v1` `secrets`. */
export interface Secret extends KubernetesObject {
  readonly type?: string;
  /** Base64. */
  readonly data?: Readonly<Record<string, string>>;
  /** Plain text; write-only. The server never returns it. */
  readonly stringData?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
}
export const Secret: Kind<Secret> = namespacedKind("v1", "Secret", "secrets");

/** `v1` `serviceaccounts`. */
export interface ServiceAccount extends KubernetesObject {
  readonly automountServiceAccountToken?: boolean;
  readonly imagePullSecrets?: readonly LocalObjectReference[];
  readonly secrets?: readonly ObjectReference[];
}
export const ServiceAccount: Kind<ServiceAccount> = namespacedKind("v1", "ServiceAccount", "serviceaccounts");

/** `v1` `persistentvolumeclaims`. */
export interface PersistentVolumeClaim extends KubernetesObject {
  readonly spec: PersistentVolumeClaimSpec;
  readonly status?: PersistentVolumeClaimStatus;
}
export const PersistentVolumeClaim: Kind<PersistentVolumeClaim> = namespacedKind(
  "v1",
  "PersistentVolumeClaim",
  "persistentvolumeclaims",
);

export type AccessMode = "ReadWriteOnce" | "ReadOnlyMany" | "ReadWriteMany" | "ReadWriteOncePod";

export interface PersistentVolumeClaimSpec {
  readonly accessModes?: readonly AccessMode[];
  readonly resources?: { readonly requests?: ResourceList; readonly limits?: ResourceList };
  /** If omitted, the cluster's default class; "" means no class. */
  readonly storageClassName?: string;
  readonly volumeAttributesClassName?: string;
  readonly volumeMode?: "Filesystem" | "Block";
  readonly volumeName?: string;
  readonly selector?: LabelSelector;
  readonly dataSource?: DataSource;
  readonly dataSourceRef?: DataSource & { readonly namespace?: string };
}

export interface DataSource {
  readonly apiGroup?: string;
  readonly kind: string;
  readonly name: string;
}

export interface PersistentVolumeClaimStatus {
  readonly phase?: "Pending" | "Bound" | "Lost";
  readonly accessModes?: readonly AccessMode[];
  readonly capacity?: ResourceList;
  readonly allocatedResources?: ResourceList;
  readonly allocatedResourceStatuses?: Readonly<Record<string, string>>;
  readonly conditions?: readonly (Condition & { readonly lastProbeTime?: Time | null })[];
}

/** Limits and defaults for each container, pod or claim of a namespace: `v1` `limitranges`. */
export interface LimitRange extends KubernetesObject {
  readonly spec?: { readonly limits: readonly LimitRangeItem[] };
}
export const LimitRange: Kind<LimitRange> = namespacedKind("v1", "LimitRange", "limitranges");

export interface LimitRangeItem {
  readonly type: "Container" | "Pod" | "PersistentVolumeClaim" | (string & {});
  readonly min?: ResourceList;
  readonly max?: ResourceList;
  /** The limit of a container that does not set one. */
  readonly default?: ResourceList;
  readonly defaultRequest?: ResourceList;
  readonly maxLimitRequestRatio?: ResourceList;
}

/** Limits for all objects of a namespace together: `v1` `resourcequotas`. */
export interface ResourceQuota extends KubernetesObject {
  readonly spec?: ResourceQuotaSpec;
  readonly status?: { readonly hard?: ResourceList; readonly used?: ResourceList };
}
export const ResourceQuota: Kind<ResourceQuota> = namespacedKind("v1", "ResourceQuota", "resourcequotas");

export interface ResourceQuotaSpec {
  readonly hard?: ResourceList;
  readonly scopes?: readonly string[];
  readonly scopeSelector?: {
    readonly matchExpressions?: readonly {
      readonly scopeName: string;
      readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
      readonly values?: readonly string[];
    }[];
  };
}
