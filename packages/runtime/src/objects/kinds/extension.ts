// CustomResourceDefinitions and webhook configurations.
import type { Kind, KubernetesObject } from "../object.ts";
import { type Condition, clusterKind, type LabelSelector } from "./kind.ts";

/** `apiextensions.k8s.io/v1` `customresourcedefinitions`. */
export interface CustomResourceDefinition extends KubernetesObject {
  readonly spec: CustomResourceDefinitionSpec;
  readonly status?: CustomResourceDefinitionStatus;
}
export const CustomResourceDefinition: Kind<CustomResourceDefinition> = clusterKind(
  "apiextensions.k8s.io/v1",
  "CustomResourceDefinition",
  "customresourcedefinitions",
);

export interface CustomResourceDefinitionSpec {
  readonly group: string;
  readonly names: CustomResourceDefinitionNames;
  readonly scope: "Namespaced" | "Cluster";
  readonly versions: readonly CustomResourceDefinitionVersion[];
  readonly conversion?: {
    readonly strategy: "None" | "Webhook";
    readonly webhook?: { readonly clientConfig?: WebhookClientConfig; readonly conversionReviewVersions: readonly string[] };
  };
  readonly preserveUnknownFields?: boolean;
}

export interface CustomResourceDefinitionNames {
  readonly kind: string;
  readonly plural: string;
  readonly singular?: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

export interface CustomResourceDefinitionVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: JsonSchemaProps };
  readonly subresources?: {
    readonly status?: Readonly<Record<string, never>>;
    readonly scale?: {
      readonly specReplicasPath: string;
      readonly statusReplicasPath: string;
      readonly labelSelectorPath?: string;
    };
  };
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

export interface PrinterColumn {
  readonly name: string;
  readonly type: "integer" | "number" | "string" | "boolean" | "date";
  readonly jsonPath: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
}

/** The subset of OpenAPI v3 that structural schemas support. */
export interface JsonSchemaProps {
  readonly type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  readonly title?: string;
  readonly description?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly enum?: readonly unknown[];
  readonly nullable?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly items?: JsonSchemaProps;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly properties?: Readonly<Record<string, JsonSchemaProps>>;
  readonly additionalProperties?: boolean | JsonSchemaProps;
  readonly required?: readonly string[];
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly allOf?: readonly JsonSchemaProps[];
  readonly anyOf?: readonly JsonSchemaProps[];
  readonly oneOf?: readonly JsonSchemaProps[];
  readonly not?: JsonSchemaProps;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: "atomic" | "granular";
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
}

/** A CEL rule. */
export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueRequired" | "FieldValueDuplicate";
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

export interface CustomResourceDefinitionStatus {
  /** Common types: Established, NamesAccepted, NonStructuralSchema, Terminating. */
  readonly conditions?: readonly Condition[];
  readonly acceptedNames?: CustomResourceDefinitionNames;
  readonly storedVersions?: readonly string[];
  readonly observedGeneration?: number;
}

const admission = "admissionregistration.k8s.io/v1";

/** Webhooks that can change an object before it is stored: `admissionregistration.k8s.io/v1` `mutatingwebhookconfigurations`. */
export interface MutatingWebhookConfiguration extends KubernetesObject {
  readonly webhooks?: readonly MutatingWebhook[];
}
export const MutatingWebhookConfiguration: Kind<MutatingWebhookConfiguration> = clusterKind(
  admission,
  "MutatingWebhookConfiguration",
  "mutatingwebhookconfigurations",
);

/** Webhooks that can reject an object: `admissionregistration.k8s.io/v1` `validatingwebhookconfigurations`. */
export interface ValidatingWebhookConfiguration extends KubernetesObject {
  readonly webhooks?: readonly ValidatingWebhook[];
}
export const ValidatingWebhookConfiguration: Kind<ValidatingWebhookConfiguration> = clusterKind(
  admission,
  "ValidatingWebhookConfiguration",
  "validatingwebhookconfigurations",
);

export interface ValidatingWebhook {
  readonly name: string;
  readonly clientConfig: WebhookClientConfig;
  readonly rules?: readonly RuleWithOperations[];
  readonly sideEffects: "None" | "NoneOnDryRun";
  readonly admissionReviewVersions: readonly string[];
  readonly failurePolicy?: "Fail" | "Ignore";
  readonly matchPolicy?: "Exact" | "Equivalent";
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[];
  readonly timeoutSeconds?: number;
}

export interface MutatingWebhook extends ValidatingWebhook {
  readonly reinvocationPolicy?: "Never" | "IfNeeded";
}

/** A Service in the cluster, or a URL. */
export interface WebhookClientConfig {
  readonly url?: string;
  readonly service?: { readonly namespace: string; readonly name: string; readonly path?: string; readonly port?: number };
  /** PEM, base64-encoded. */
  readonly caBundle?: string;
}

export interface RuleWithOperations {
  readonly operations?: readonly ("CREATE" | "UPDATE" | "DELETE" | "CONNECT" | "*")[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
  readonly scope?: "Cluster" | "Namespaced" | "*";
}
