// Who is asked before a write: admissionregistration.k8s.io/v1.
import type { Kind, KubernetesObject } from "../object.ts";
import type { LabelSelector } from "./common.ts";
import { clusterKind } from "./kind.ts";

const admission = "admissionregistration.k8s.io/v1";

/** Webhooks that may change an object on its way in: `mutatingwebhookconfigurations`. */
export interface MutatingWebhookConfiguration extends KubernetesObject {
  readonly webhooks?: readonly MutatingWebhook[];
}
export const MutatingWebhookConfiguration: Kind<MutatingWebhookConfiguration> = clusterKind(
  admission,
  "MutatingWebhookConfiguration",
  "mutatingwebhookconfigurations",
);

/** Webhooks that may refuse an object: `validatingwebhookconfigurations`. */
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

/** Where to call: a Service in the cluster, or a URL. */
export interface WebhookClientConfig {
  readonly url?: string;
  readonly service?: { readonly namespace: string; readonly name: string; readonly path?: string; readonly port?: number };
  /** PEM, base64-encoded once more as all bytes in the API are. */
  readonly caBundle?: string;
}

export interface RuleWithOperations {
  readonly operations?: readonly ("CREATE" | "UPDATE" | "DELETE" | "CONNECT" | "*")[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
  readonly scope?: "Cluster" | "Namespaced" | "*";
}
