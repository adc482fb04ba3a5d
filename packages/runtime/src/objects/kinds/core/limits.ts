import type { Kind, KubernetesObject } from "../../object.ts";
import type { ResourceList } from "../common.ts";
import { namespacedKind } from "../kind.ts";

/** Bounds and defaults for each container, pod or claim of a namespace: `v1` `limitranges`. */
export interface LimitRange extends KubernetesObject {
  readonly spec?: { readonly limits: readonly LimitRangeItem[] };
}
export const LimitRange: Kind<LimitRange> = namespacedKind("v1", "LimitRange", "limitranges");

export interface LimitRangeItem {
  readonly type: "Container" | "Pod" | "PersistentVolumeClaim" | (string & {});
  readonly min?: ResourceList;
  readonly max?: ResourceList;
  /** The limit of a container that names none. */
  readonly default?: ResourceList;
  readonly defaultRequest?: ResourceList;
  readonly maxLimitRequestRatio?: ResourceList;
}

/** Bounds for a namespace as a whole: `v1` `resourcequotas`. */
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
