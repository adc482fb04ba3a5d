// RBAC, Leases, Events and EndpointSlices.
import type { Kind, KubernetesObject } from "../object.ts";
import { clusterKind, type LabelSelector, namespacedKind, type ObjectReference, type Time } from "./kind.ts";

const rbac = "rbac.authorization.k8s.io/v1";

export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  /** For example "pods", or "pods/resize" for a subresource. */
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

export interface RoleRef {
  readonly apiGroup: string;
  readonly kind: "Role" | "ClusterRole";
  readonly name: string;
}

export interface Subject {
  readonly kind: "ServiceAccount" | "User" | "Group";
  readonly name: string;
  readonly namespace?: string;
  readonly apiGroup?: string;
}

/** Permissions within a namespace: `rbac.authorization.k8s.io/v1` `roles`. */
export interface Role extends KubernetesObject {
  readonly rules?: readonly PolicyRule[];
}
export const Role: Kind<Role> = namespacedKind(rbac, "Role", "roles");

/** Permissions in the whole cluster, or in each namespace that has a RoleBinding to them: `clusterroles`. */
export interface ClusterRole extends KubernetesObject {
  readonly rules?: readonly PolicyRule[];
  readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly LabelSelector[] };
}
export const ClusterRole: Kind<ClusterRole> = clusterKind(rbac, "ClusterRole", "clusterroles");

/** Grants a role within a namespace: `rolebindings`. */
export interface RoleBinding extends KubernetesObject {
  readonly roleRef: RoleRef;
  readonly subjects?: readonly Subject[];
}
export const RoleBinding: Kind<RoleBinding> = namespacedKind(rbac, "RoleBinding", "rolebindings");

/** Grants a role in the whole cluster: `clusterrolebindings`. */
export interface ClusterRoleBinding extends KubernetesObject {
  readonly roleRef: RoleRef;
  readonly subjects?: readonly Subject[];
}
export const ClusterRoleBinding: Kind<ClusterRoleBinding> = clusterKind(rbac, "ClusterRoleBinding", "clusterrolebindings");

/** Used for leader election and node heartbeats: `coordination.k8s.io/v1` `leases`. */
export interface Lease extends KubernetesObject {
  readonly spec?: LeaseSpec;
}
export const Lease: Kind<Lease> = namespacedKind("coordination.k8s.io/v1", "Lease", "leases");

export interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  /** RFC 3339 with microseconds. */
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
  readonly preferredHolder?: string;
  readonly strategy?: string;
}

/** `events.k8s.io/v1` `events`. */
export interface Event extends KubernetesObject {
  /** RFC 3339 with microseconds; required. */
  readonly eventTime?: string;
  readonly type?: "Normal" | "Warning";
  /** Machine-readable, in CamelCase; at most 128 characters. */
  readonly reason?: string;
  /** What the controller did, in CamelCase; at most 128 characters. */
  readonly action?: string;
  /** Human-readable; at most 1024 bytes. */
  readonly note?: string;
  readonly regarding?: ObjectReference;
  readonly related?: ObjectReference;
  readonly reportingController?: string;
  readonly reportingInstance?: string;
  readonly series?: { readonly count: number; readonly lastObservedTime: string };
  readonly deprecatedCount?: number;
  readonly deprecatedFirstTimestamp?: Time;
  readonly deprecatedLastTimestamp?: Time;
  readonly deprecatedSource?: { readonly component?: string; readonly host?: string };
}
export const Event: Kind<Event> = namespacedKind("events.k8s.io/v1", "Event", "events");

/** A subset of the endpoints of a Service: `discovery.k8s.io/v1` `endpointslices`. */
export interface EndpointSlice extends KubernetesObject {
  readonly addressType: "IPv4" | "IPv6" | "FQDN";
  readonly endpoints: readonly Endpoint[];
  readonly ports?: readonly EndpointPort[];
}
export const EndpointSlice: Kind<EndpointSlice> = namespacedKind("discovery.k8s.io/v1", "EndpointSlice", "endpointslices");

export interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions?: { readonly ready?: boolean; readonly serving?: boolean; readonly terminating?: boolean };
  readonly targetRef?: ObjectReference;
  readonly hostname?: string;
  readonly nodeName?: string;
  readonly zone?: string;
  readonly hints?: { readonly forZones?: readonly { readonly name: string }[] };
}

export interface EndpointPort {
  readonly name?: string;
  readonly port?: number;
  readonly protocol?: "TCP" | "UDP" | "SCTP";
  readonly appProtocol?: string;
}
