// Replicas by measurement: autoscaling/v2, and the scale subresource of autoscaling/v1.
import type { Kind, KubernetesObject } from "../object.ts";
import type { Condition, LabelSelector, QuantityText, Time } from "./common.ts";
import { namespacedKind } from "./kind.ts";

/** Sets the replicas of a workload: `autoscaling/v2` `horizontalpodautoscalers`. */
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

/** The member named like `type`, with a small first letter, is set. */
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

/** What the `scale` subresource of any kind speaks; it is not a resource of its own. */
export interface Scale extends KubernetesObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas: number; readonly selector?: string };
}
