// How much disruption an application bears: policy/v1.
import type { Kind, KubernetesObject } from "../object.ts";
import type { Condition, IntOrString, LabelSelector, Time } from "./common.ts";
import { namespacedKind } from "./kind.ts";

/** Bounds voluntary disruptions of the pods it selects: `policy/v1` `poddisruptionbudgets`. */
export interface PodDisruptionBudget extends KubernetesObject {
  readonly spec?: PodDisruptionBudgetSpec;
  readonly status?: PodDisruptionBudgetStatus;
}
export const PodDisruptionBudget: Kind<PodDisruptionBudget> = namespacedKind(
  "policy/v1",
  "PodDisruptionBudget",
  "poddisruptionbudgets",
);

export interface PodDisruptionBudgetSpec {
  readonly selector?: LabelSelector;
  readonly minAvailable?: IntOrString;
  readonly maxUnavailable?: IntOrString;
  readonly unhealthyPodEvictionPolicy?: "IfHealthyBudget" | "AlwaysAllow";
}

export interface PodDisruptionBudgetStatus {
  readonly observedGeneration?: number;
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly disruptionsAllowed: number;
  readonly expectedPods: number;
  readonly disruptedPods?: Readonly<Record<string, Time>>;
  readonly conditions?: readonly Condition[];
}

/** The body of a POST to `pods/eviction`; it is never stored. */
export interface Eviction extends KubernetesObject {
  readonly deleteOptions?: {
    readonly gracePeriodSeconds?: number;
    readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
    readonly propagationPolicy?: "Foreground" | "Background" | "Orphan";
    readonly dryRun?: readonly "All"[];
  };
}
