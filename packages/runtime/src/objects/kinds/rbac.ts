// Who may do what: rbac.authorization.k8s.io/v1.
import type { Kind, KubernetesObject } from "../object.ts";
import type { LabelSelector } from "./common.ts";
import { clusterKind, namespacedKind } from "./kind.ts";

const rbac = "rbac.authorization.k8s.io/v1";

export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  /** "pods", or "pods/resize" for a subresource. */
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

/** Rights within a namespace: `roles`. */
export interface Role extends KubernetesObject {
  readonly rules?: readonly PolicyRule[];
}
export const Role: Kind<Role> = namespacedKind(rbac, "Role", "roles");

/** Rights in the whole cluster, or in any namespace that binds them: `clusterroles`. */
export interface ClusterRole extends KubernetesObject {
  readonly rules?: readonly PolicyRule[];
  readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly LabelSelector[] };
}
export const ClusterRole: Kind<ClusterRole> = clusterKind(rbac, "ClusterRole", "clusterroles");

/** Gives somebody rights within a namespace: `rolebindings`. */
export interface RoleBinding extends KubernetesObject {
  readonly roleRef: RoleRef;
  readonly subjects?: readonly Subject[];
}
export const RoleBinding: Kind<RoleBinding> = namespacedKind(rbac, "RoleBinding", "rolebindings");

/** Gives somebody rights everywhere: `clusterrolebindings`. */
export interface ClusterRoleBinding extends KubernetesObject {
  readonly roleRef: RoleRef;
  readonly subjects?: readonly Subject[];
}
export const ClusterRoleBinding: Kind<ClusterRoleBinding> = clusterKind(rbac, "ClusterRoleBinding", "clusterrolebindings");
