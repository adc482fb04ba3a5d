// An operator as files to apply: what it is made of is known here (kinds, rights, probes, flags), so nobody writes it down a
// second time. drift.ts writes the files and holds them against this.
//
//     deploy/
//       kustomization.yaml      everything: kubectl apply -k deploy
//       crd/                    the kinds; somebody with more rights may apply them
//       operator/               the program, with Roles in one namespace and nothing else
//       cluster-wide/           instead: the same for all namespaces, with ClusterRoles
//       components/             what not every cluster can use; a kustomization of one's own adds it to either
//       samples/                objects to try it with
import type { Container } from "../objects/kinds/core/container.ts";
import { Namespace } from "../objects/kinds/core/namespace.ts";
import { apiVersionOf, type KubernetesObject } from "../objects/object.ts";
import type { Grant } from "../schema/access.ts";
import { crdOf, type NamedCrd } from "../schema/custom-resource-definition.ts";
import type { AnyResource } from "../schema/define-resource.ts";
import type { ManifestFiles } from "../schema/drift.ts";
import { rolesFor } from "../schema/rbac.ts";
import { conversionFor, webhookConfigurations } from "../webhook/configuration.ts";
import type { Webhook } from "../webhook/webhooks.ts";
import { OperatorOptionsError } from "./errors.ts";
import {
  deploymentOf,
  disruptionBudgetOf,
  labelsOf,
  metricsServiceOf,
  type ProgramOptions,
  webhookServiceOf,
} from "./program-manifests.ts";
import { usualWebhookAddress, webhookPort } from "./webhook-address.ts";

export interface OperatorManifestsOptions extends ProgramOptions {
  /** Its kinds. */
  readonly resources: readonly AnyResource[];
  /** What it may do: `operator(…).grants`. */
  readonly grants: readonly Grant[];
  /**
   * What it serves: their Service, their configurations and the conversion of its kinds are made of it. A `convert(…)` belongs
   * here and not to a variant: all variants share one CRD, so all must serve it. @default none
   */
  readonly webhooks?: readonly Webhook[];
  /** Objects to try it with, by file name. */
  readonly samples: Readonly<Record<string, object>>;
  /** More ways to run it, each a folder of its own beside the two that every operator has; or those two, told otherwise. */
  readonly variants?: Readonly<Record<string, Variant>>;
  /** A Service `<name>-metrics`, for whoever scrapes. @default false */
  readonly metricsService?: boolean;
  /** Parts that can be added to a variant, by name: each a kustomize component. Their namespace is that of who adds them. */
  readonly components?: Readonly<Record<string, readonly KubernetesObject[]>>;
}

/** A way to run an operator. */
export interface Variant {
  /** @default those of the operator */
  readonly grants?: readonly Grant[];
  /** Its own namespace, or all of them. @default "all" */
  readonly namespaces?: "own" | "all";
  /** A namespace that is made with it, and in which only restricted pods may run. @default the operator's, which is there */
  readonly namespace?: string;
  /** Flags, beside --leader-elect. */
  readonly args?: readonly string[];
  /** What it serves. @default those of the operator */
  readonly webhooks?: readonly Webhook[];
  /** Ports of the container, beside those of metrics, probes and webhooks. */
  readonly ports?: Container["ports"];
  /** What else it needs. */
  readonly objects?: readonly KubernetesObject[];
}

/** What should be in an operator's deploy folder. */
export function operatorManifests(options: OperatorManifestsOptions): ManifestFiles {
  const { resources, samples, variants = {}, components = {} } = options;
  const crds = Object.fromEntries(resources.map((resource) => [`${resource.plural}.yaml`, [convertedCrdOf(resource, options)]]));
  const all = { operator: { namespaces: "own" }, "cluster-wide": { args: ["--all-namespaces"] }, ...variants } as const;
  return {
    "kustomization.yaml": [kustomization("crd", "operator")],
    ...below("crd", { "kustomization.yaml": [kustomization(...Object.keys(crds))], ...crds }),
    ...each(all, (name, variant) => below(name, variantFiles(variant, options))),
    ...each(components, (name, objects) => below(`components/${name}`, componentFiles(name, objects))),
    ...below("samples", Object.fromEntries(Object.entries(samples).map(([name, sample]) => [name, [sample]]))),
  };
}

function convertedCrdOf(resource: AnyResource, options: OperatorManifestsOptions): NamedCrd {
  const { name, namespace = "default", webhooks = [] } = options;
  const conversion = conversionFor(resource, webhooks, usualWebhookAddress(name, namespace));
  return crdOf(resource, conversion && { conversion });
}

function variantFiles(variant: Variant, options: OperatorManifestsOptions): ManifestFiles {
  const { namespace = options.namespace ?? "default", webhooks = options.webhooks ?? [] } = variant;
  const { name, replicas = 1, metricsService = false } = options;
  const { grants = options.grants, namespaces = "all", objects = [], ports = [] } = variant;
  expectHomeOfConversion(namespace, options);
  // What needs the whole cluster (nodes) is not for the variant that has Roles and nothing else.
  const where = namespaces === "own" ? { namespaces: [namespace], clusterKinds: false } : { namespaces };
  const files = {
    ...(variant.namespace !== undefined && { "namespace.yaml": [restrictedNamespace(variant.namespace)] }),
    "rbac.yaml": rolesFor(grants, { name, namespace, ...where, labels: labelsOf(name) }),
    "deployment.yaml": [
      deploymentOf({ ...options, namespace }, { ...variant, ports: [...(webhooks.length > 0 ? [webhookPort] : []), ...ports] }),
    ],
    ...(replicas > 1 && { "disruption-budget.yaml": [disruptionBudgetOf(name, namespace)] }),
    ...(metricsService && { "service.yaml": [metricsServiceOf(name, namespace)] }),
    ...(webhooks.length > 0 && { "webhooks.yaml": webhookObjects(name, namespace, webhooks) }),
    ...(objects.length > 0 && { "objects.yaml": objects }),
  };
  return { "kustomization.yaml": [kustomization(...Object.keys(files))], ...files };
}

function webhookObjects(name: string, namespace: string, webhooks: readonly Webhook[]): readonly KubernetesObject[] {
  const configurations = webhookConfigurations(webhooks, { name, ...usualWebhookAddress(name, namespace) });
  return [webhookServiceOf(name, namespace, webhooks), ...configurations];
}

/** A CRD names one Service, in one namespace: an operator elsewhere would never be asked. */
function expectHomeOfConversion(
  namespace: string,
  { name, namespace: home = "default", webhooks = [] }: OperatorManifestsOptions,
): void {
  if (namespace === home || webhooks.every(({ type }) => type !== "convert")) return;
  throw new OperatorOptionsError(
    `${name}: expected every variant to run in ${home}, where the CRD looks for the conversion, found one in ${namespace} → set namespace for all of them`,
  );
}

function restrictedNamespace(name: string): KubernetesObject {
  const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
  return { apiVersion: apiVersionOf(Namespace), kind: Namespace.kind, metadata: { name, labels } };
}

function componentFiles(name: string, objects: readonly KubernetesObject[]): ManifestFiles {
  const resources = [`${name}.yaml`];
  const component = { apiVersion: "kustomize.config.k8s.io/v1alpha1", kind: "Component", resources };
  return { "kustomization.yaml": [component], [`${name}.yaml`]: objects };
}

function kustomization(...resources: readonly string[]): object {
  return { apiVersion: "kustomize.config.k8s.io/v1beta1", kind: "Kustomization", resources };
}

function each<T>(parts: Readonly<Record<string, T>>, files: (name: string, part: T) => ManifestFiles): ManifestFiles {
  return Object.assign({}, ...Object.entries<T>(parts).map(([name, part]) => files(name, part)));
}

function below(folder: string, files: ManifestFiles): ManifestFiles {
  return Object.fromEntries(Object.entries(files).map(([path, content]) => [`${folder}/${path}`, content]));
}
