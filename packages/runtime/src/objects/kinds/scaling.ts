// HorizontalPodAutoscalers, the scale subresource, PodDisruptionBudgets, evictions and PriorityClasses.
import type { Kind, KubernetesObject } from "../object.ts";
import {
  type Condition,
  clusterKind,
  type IntOrString,
  type LabelSelector,
  namespacedKind,
  type QuantityText,
  type Time,
} from "./kind.ts";

/** `autoscaling/v2` `horizontalpodautoscalers`. */
export interface HorizontalPodAutoscaler extends KubernetesObject {
  readonly spec: HorizontalPodAutoscalerSpec;
  readonly status?: HorizontalPodAutoscalerStatus;
}
export const HorizontalPodAutoscaler: Kind<HorizontalPodAutoscaler> = namespacedKind(
  "autoscaling/v2",
  "HorizontalPodAutoscaler",
  "horizontalpodautoscalers",
);

export interface HorizontalPodAutoscalerSpec {
  readonly scaleTargetRef: { readonly apiVersion?: string; readonly kind: string; readonly name: string };
  readonly minReplicas?: number;
  readonly maxReplicas: number;
  readonly metrics?: readonly MetricSpec[];
  readonly behavior?: { readonly scaleUp?: ScalingRules; readonly scaleDown?: ScalingRules };
}

/** The field that corresponds to `type` (in lower camel case) is set. */
export interface MetricSpec {
  readonly type: "Resource" | "ContainerResource" | "Pods" | "Object" | "External";
  readonly resource?: { readonly name: string; readonly target: MetricTarget };
  readonly containerResource?: { readonly name: string; readonly container: string; readonly target: MetricTarget };
  readonly pods?: { readonly metric: MetricIdentifier; readonly target: MetricTarget };
  readonly object?: {
    readonly describedObject: { readonly apiVersion?: string; readonly kind: string; readonly name: string };
    readonly metric: MetricIdentifier;
    readonly target: MetricTarget;
  };
  readonly external?: { readonly metric: MetricIdentifier; readonly target: MetricTarget };
}

export interface MetricIdentifier {
  readonly name: string;
  readonly selector?: LabelSelector;
}

export interface MetricTarget {
  readonly type: "Utilization" | "Value" | "AverageValue";
  readonly averageUtilization?: number;
  readonly averageValue?: QuantityText;
  readonly value?: QuantityText;
}

export interface ScalingRules {
  readonly stabilizationWindowSeconds?: number;
  readonly selectPolicy?: "Max" | "Min" | "Disabled";
  readonly tolerance?: QuantityText;
  readonly policies?: readonly { readonly type: "Pods" | "Percent"; readonly value: number; readonly periodSeconds: number }[];
}

export interface HorizontalPodAutoscalerStatus {
  readonly observedGeneration?: number;
  readonly currentReplicas?: number;
  readonly desiredReplicas?: number;
  readonly lastScaleTime?: Time;
  readonly currentMetrics?: readonly unknown[];
  readonly conditions?: readonly Condition[];
}

/** The `scale` subresource of any kind (`autoscaling/v1`); not a resource of its own. */
export interface Scale extends KubernetesObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas: number; readonly selector?: string };
}

/** Limits voluntary disruptions of the pods it selects: `policy/v1` `poddisruptionbudgets`. */
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

/** The body of a POST to `pods/eviction`; the server never stores it. */
export interface Eviction extends KubernetesObject {
  readonly deleteOptions?: {
    readonly gracePeriodSeconds?: number;
    readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
    readonly propagationPolicy?: "Foreground" | "Background" | "Orphan";
    readonly dryRun?: readonly "All"[];
  };
}

/** `scheduling.k8s.io/v1` `priorityclasses`. */
export interface PriorityClass extends KubernetesObject {
  readonly value: number;
  readonly globalDefault?: boolean;
  readonly preemptionPolicy?: "PreemptLowerPriority" | "Never";
  readonly description?: string;
}
export const PriorityClass: Kind<PriorityClass> = clusterKind("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses");
