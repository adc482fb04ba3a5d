// Shapes that many kinds share.

/** An instant as the API spells it: RFC 3339, in UTC. */
export type Time = string;

/** A resource quantity as the API spells it ("500m", "1.5Gi"); read it with `parseQuantity`. The API also takes bare numbers. */
export type QuantityText = string | number;

/** A number, or a name or percentage: ports, `maxUnavailable`. */
export type IntOrString = number | string;

/** A standard condition, as `metav1.Condition`. Pods and older kinds leave out some fields. */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: Time;
  readonly observedGeneration?: number;
}

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelSelectorRequirement[];
}

export interface LabelSelectorRequirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values?: readonly string[];
}

/** Quantities by resource name: cpu, memory, ephemeral-storage, hugepages-…, … */
export type ResourceList = Readonly<Record<string, QuantityText>>;

export interface ResourceRequirements {
  readonly requests?: ResourceList;
  readonly limits?: ResourceList;
  readonly claims?: readonly { readonly name: string; readonly request?: string }[];
}

export interface LocalObjectReference {
  readonly name: string;
}

/** A reference to any object, as Events and EndpointSlices make it. */
export interface ObjectReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly fieldPath?: string;
}

/** Metadata a template gives to the objects made from it. */
export interface TemplateMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
}
