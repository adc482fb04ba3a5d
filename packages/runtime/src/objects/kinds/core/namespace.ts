import type { Kind, KubernetesObject } from "../../object.ts";
import type { Condition } from "../common.ts";
import { clusterKind } from "../kind.ts";

/** Where names are unique: `v1` `namespaces`. */
export interface Namespace extends KubernetesObject {
  readonly spec?: { readonly finalizers?: readonly string[] };
  readonly status?: { readonly phase?: "Active" | "Terminating"; readonly conditions?: readonly Condition[] };
}
export const Namespace: Kind<Namespace> = clusterKind("v1", "Namespace", "namespaces");
