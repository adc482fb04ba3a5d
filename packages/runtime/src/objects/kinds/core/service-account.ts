import type { Kind, KubernetesObject } from "../../object.ts";
import type { LocalObjectReference, ObjectReference } from "../common.ts";
import { namespacedKind } from "../kind.ts";

/** Who a pod is to the API server: `v1` `serviceaccounts`. */
export interface ServiceAccount extends KubernetesObject {
  readonly automountServiceAccountToken?: boolean;
  readonly imagePullSecrets?: readonly LocalObjectReference[];
  readonly secrets?: readonly ObjectReference[];
}
export const ServiceAccount: Kind<ServiceAccount> = namespacedKind("v1", "ServiceAccount", "serviceaccounts");
