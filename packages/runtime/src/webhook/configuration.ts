// The webhook configurations for the API server, generated from the declared webhooks. `kubectl apply` uses them as a manifest;
// tests apply them directly.
//
// Every entry has:
// - sideEffects None: the functions only respond, so dry runs may call them.
// - matchPolicy Equivalent: a write through another version of the kind is converted and sent, too.
// - For built-in kinds, kube-system and the operator's namespace are excluded: while the operator is down, the cluster must be
//   able to start the pods it needs to recover. Custom resources cannot block recovery, so they are checked everywhere.
// - An operator that watches some namespaces is asked about these only: while it is down, it blocks nobody else.
import type {
  CustomResourceDefinition,
  MutatingWebhook,
  MutatingWebhookConfiguration,
  ValidatingWebhook,
  ValidatingWebhookConfiguration,
  WebhookClientConfig,
} from "../objects/kinds/extension.ts";
import type { LabelSelector } from "../objects/kinds/kind.ts";
import type { Kind } from "../objects/object.ts";
import { WebhookDeclarationError } from "./errors.ts";
import type { AdmissionWebhook, Webhook } from "./webhooks.ts";

export interface WebhookAddress {
  /** A Service in the cluster. @default port 443 */
  readonly service?: { readonly namespace: string; readonly name: string; readonly port?: number };
  /** Or a URL the API server can reach, without a path: "https://127.0.0.1:9443". For operators outside the cluster. */
  readonly url?: string;
}

export interface WebhookConfigurationOptions extends WebhookAddress {
  /** Name of both configurations: the operator's name. */
  readonly name: string;
  /** The operator's namespace; excluded for built-in kinds. @default the Service's namespace */
  readonly ownNamespace?: string;
  /** The namespaces that the operator watches: objects elsewhere are not sent to it. @default "all" */
  readonly namespaces?: readonly string[] | "all";
  /** PEM that callers must trust. @default none: trust.ts or cert-manager sets it later */
  readonly trust?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export type WebhookConfiguration = ValidatingWebhookConfiguration | MutatingWebhookConfiguration;

/** Returns the required configurations: one for validating webhooks, one for mutating webhooks. */
export function webhookConfigurations(
  webhooks: readonly Webhook[],
  options: WebhookConfigurationOptions,
): readonly WebhookConfiguration[] {
  const { name, labels, annotations } = options;
  const metadata = { name, ...(labels && { labels }), ...(annotations && { annotations }) };
  const apiVersion = "admissionregistration.k8s.io/v1";
  const admissions = webhooks.filter((webhook) => webhook.type !== "convert");
  const entries = (type: "validate" | "mutate") =>
    admissions.filter((webhook) => webhook.type === type).map((webhook) => entryOf(webhook, options));
  const validating = entries("validate");
  const mutating = entries("mutate").map((entry): MutatingWebhook => ({ ...entry, reinvocationPolicy: "IfNeeded" }));
  return [
    ...(validating.length > 0 ? [{ apiVersion, kind: "ValidatingWebhookConfiguration", metadata, webhooks: validating }] : []),
    ...(mutating.length > 0 ? [{ apiVersion, kind: "MutatingWebhookConfiguration", metadata, webhooks: mutating }] : []),
  ];
}

/** `spec.conversion` for the CRD of a kind that has a `convert(…)`. */
export function conversionThrough(
  options: WebhookAddress & { readonly trust?: string },
): NonNullable<CustomResourceDefinition["spec"]["conversion"]> {
  return { strategy: "Webhook", webhook: { conversionReviewVersions: ["v1"], clientConfig: clientConfig("/convert", options) } };
}

/** `spec.conversion` if one of these webhooks converts the kind; undefined if all its versions have the same fields. */
export function conversionFor(kind: Kind, webhooks: readonly Webhook[], address: WebhookAddress) {
  const isConverted = webhooks.some((each) => each.type === "convert" && isSameKind(each.kind, kind));
  return isConverted ? conversionThrough(address) : undefined;
}

const isSameKind = (a: Kind, b: Kind): boolean => a.kind === b.kind && a.group === b.group;

/** The host names at which the API server calls this address; the certificate must cover them. */
export function namesOf({ service, url }: WebhookAddress): readonly string[] {
  const ofUrl = url === undefined ? [] : [new URL(url).hostname.replace(/^\[(.*)\]$/, "$1")];
  const ofService =
    service === undefined
      ? []
      : [`${service.name}.${service.namespace}.svc`, `${service.name}.${service.namespace}.svc.cluster.local`];
  return [...ofService, ...ofUrl];
}

function entryOf(webhook: AdmissionWebhook, options: WebhookConfigurationOptions): ValidatingWebhook {
  const { kind, path, options: declared } = webhook;
  const { operations = ["CREATE", "UPDATE"], subresource, objectSelector, matchConditions } = declared;
  return {
    name: nameOf(webhook),
    clientConfig: clientConfig(path, options),
    rules: [
      {
        operations,
        apiGroups: [kind.group],
        apiVersions: [kind.version],
        resources: [subresource === undefined ? kind.plural : `${kind.plural}/${subresource}`],
        scope: kind.namespaced ? "Namespaced" : "Cluster",
      },
    ],
    failurePolicy: declared.failurePolicy ?? (isBuiltIn(kind) ? "Ignore" : "Fail"),
    sideEffects: "None",
    matchPolicy: "Equivalent",
    timeoutSeconds: timeoutOf(webhook),
    admissionReviewVersions: ["v1"],
    ...(kind.namespaced ? namespaceSelector(webhook, options) : {}),
    ...(objectSelector && { objectSelector }),
    ...(matchConditions && { matchConditions }),
  };
}

/** Must be a domain name of at least three parts, unique within its configuration. */
function nameOf({ type, kind, options: { name, subresource } }: AdmissionWebhook): string {
  return [name, type, subresource, kind.plural, kind.group === "" ? "core" : kind.group]
    .filter((part) => part !== undefined)
    .join(".");
}

function timeoutOf({ kind, options: { timeoutSeconds = 5 } }: AdmissionWebhook): number {
  if (Number.isInteger(timeoutSeconds) && timeoutSeconds >= 1 && timeoutSeconds <= 30) return timeoutSeconds;
  throw new WebhookDeclarationError(`webhook for ${kind.kind}: expected timeoutSeconds from 1 to 30, found ${timeoutSeconds}`);
}

function namespaceSelector(
  webhook: AdmissionWebhook,
  options: WebhookConfigurationOptions,
): { readonly namespaceSelector?: LabelSelector } {
  const { ownNamespace = options.service?.namespace, namespaces = "all" } = options;
  const isProtected = isBuiltIn(webhook.kind) && namespaces === "all";
  const usual = isProtected ? ["kube-system", ...(ownNamespace === undefined ? [] : [ownNamespace])] : [];
  const chosen = webhook.options.namespaceSelector;
  const named = [
    ...namesIn("In", namespaces === "all" ? [] : namespaces),
    ...namesIn("NotIn", webhook.options.excludeNamespaces ?? usual),
  ];
  if (named.length === 0) return chosen === undefined ? {} : { namespaceSelector: chosen };
  return { namespaceSelector: { ...chosen, matchExpressions: [...(chosen?.matchExpressions ?? []), ...named] } };
}

function namesIn(operator: "In" | "NotIn", names: readonly string[]) {
  return names.length === 0 ? [] : [{ key: "kubernetes.io/metadata.name", operator, values: [...new Set(names)] }];
}

function clientConfig(path: string, { service, url, trust }: WebhookAddress & { readonly trust?: string }): WebhookClientConfig {
  if ((service === undefined) === (url === undefined))
    throw new WebhookDeclarationError("expected either a service or a url to call webhooks by");
  const caBundle = trust === undefined ? {} : { caBundle: Buffer.from(trust).toString("base64") };
  if (service !== undefined) return { service: { ...service, path }, ...caBundle };
  return { url: `${String(url).replace(/\/$/, "")}${path}`, ...caBundle };
}

/** Built-in kinds: the core group, groups without a dot (apps, batch), and *.k8s.io. */
const isBuiltIn = ({ group }: Kind): boolean => !group.includes(".") || group.endsWith(".k8s.io");
