import type { Kind, KubernetesObject } from "../../object.ts";
import type { Condition, IntOrString } from "../common.ts";
import { namespacedKind } from "../kind.ts";

/** One address for many pods: `v1` `services`. */
export interface Service extends KubernetesObject {
  readonly spec?: ServiceSpec;
  readonly status?: ServiceStatus;
}
export const Service: Kind<Service> = namespacedKind("v1", "Service", "services");

export interface ServiceSpec {
  readonly type?: "ClusterIP" | "NodePort" | "LoadBalancer" | "ExternalName";
  readonly selector?: Readonly<Record<string, string>>;
  readonly ports?: readonly ServicePort[];
  /** "None" makes a headless Service. */
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
