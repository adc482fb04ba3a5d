// Generates the deploy folder of an operator from its definition: kinds, permissions, probes and flags. drift.ts writes and compares the
// files.
//
//     deploy/
//       kustomization.yaml      everything: kubectl apply -k deploy
//       crd/                    the kinds; applying them needs cluster permissions
//       operator/               the program, with Roles in one namespace only; with webhooks, also a ClusterRole
//                               for its own webhook configurations
//       cluster-wide/           the alternative for all namespaces, with ClusterRoles
//       components/             options that not every cluster supports; add them in your own kustomization
//       samples/                sample objects
import { type AnyResource, apiVersionOf, crdOf, type KubernetesObject, type OperatorProgram } from "@memhog/runtime";
import { type Container, Namespace } from "@memhog/runtime/kinds";
import { defaultWebhookAddress, OperatorOptionsError, permissionsOf, webhookPort } from "@memhog/runtime/operator";
import { type NamedCrd, rolesFor } from "@memhog/runtime/schema";
import { conversionFor, type Webhook, webhookConfigurations } from "@memhog/runtime/webhook";
import {
  type DeploymentOptions,
  deploymentOf,
  disruptionBudgetOf,
  labelsOf,
  metricsServiceOf,
  webhookServiceOf,
} from "./deployment.ts";
import type { ManifestFiles } from "./drift.ts";

export interface OperatorManifestsOptions extends Omit<DeploymentOptions, "name"> {
  /** The value that main.ts gives to `runOperator`: its name, kinds, permissions and webhooks. */
  readonly program: OperatorProgram;
  /** Sample objects by file name. */
  readonly samples: Readonly<Record<string, object>>;
  /** More variants, each in its own folder, or other settings for `operator` and `cluster-wide`. @default none */
  readonly variants?: Readonly<Record<string, Variant>>;
  /** Whether there is a Service `<name>-metrics` to scrape. @default false */
  readonly metricsService?: boolean;
  /** Kustomize components by name, which can be added to a variant and take its namespace. @default none */
  readonly components?: Readonly<Record<string, readonly KubernetesObject[]>>;
}

/** How to run an operator. */
export interface Variant {
  /** Whether it watches its own namespace or all of them. @default "all" */
  readonly namespaces?: "own" | "all";
  /** A namespace that is created with it and enforces the restricted pod security standard. @default the operator's */
  readonly namespace?: string;
  /** Flags in addition to --leader-elect. */
  readonly args?: readonly string[];
  /**
   * Whether it serves the program's webhooks. All variants share one CRD, so a conversion is served by all of them.
   * @default true if the program converts a kind
   */
  readonly webhooks?: boolean;
  /** Ports of the container in addition to metrics, probes and webhooks. */
  readonly ports?: Container["ports"];
  /** Additional objects. */
  readonly objects?: readonly KubernetesObject[];
}

/** Returns the files of an operator's deploy folder. */
export function operatorManifests(options: OperatorManifestsOptions): ManifestFiles {
  const { program, samples, variants = {}, components = {} } = options;
  const { resources = [] } = program;
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

function convertedCrdOf(resource: AnyResource, { program, namespace = "default" }: OperatorManifestsOptions): NamedCrd {
  const { name, webhooks = [] } = program;
  const conversion = conversionFor(resource, webhooks, defaultWebhookAddress(name, namespace));
  return crdOf(resource, conversion && { conversion });
}

function variantFiles(variant: Variant, options: OperatorManifestsOptions): ManifestFiles {
  const { program, replicas = 1, metricsService = false } = options;
  const { name } = program;
  const { namespace = options.namespace ?? "default", namespaces = "all", args = [], objects = [], ports = [] } = variant;
  const serves = variant.webhooks ?? convertsKinds(program);
  const webhooks = serves ? (program.webhooks ?? []) : [];
  expectHomeOfConversion(namespace, options);
  // A variant with Roles only cannot be granted kinds of the whole cluster, such as nodes. With webhooks it also gets a ClusterRole
  // for its own configurations, by name: the API server calls no webhook whose caBundle is missing.
  const clusterKinds = serves ? ("named" as const) : false;
  const where = namespaces === "own" ? { namespaces: [namespace], clusterKinds } : { namespaces };
  const additions = {
    args: [...args, ...(serves ? ["--webhooks"] : [])],
    ports: [...(serves ? [webhookPort] : []), ...ports],
  };
  const files = {
    ...(variant.namespace !== undefined && { "namespace.yaml": [restrictedNamespace(variant.namespace)] }),
    "rbac.yaml": rolesFor(permissionsOf(program, { webhooks: serves, args }), {
      name,
      namespace,
      ...where,
      labels: labelsOf(name),
    }),
    "deployment.yaml": [deploymentOf({ ...options, name, namespace }, additions)],
    ...(replicas > 1 && { "disruption-budget.yaml": [disruptionBudgetOf(name, namespace)] }),
    ...(metricsService && { "service.yaml": [metricsServiceOf(name, namespace)] }),
    ...(webhooks.length > 0 && { "webhooks.yaml": webhookObjects(name, namespace, { webhooks, namespaces: where.namespaces }) }),
    ...(objects.length > 0 && { "objects.yaml": objects }),
  };
  return { "kustomization.yaml": [kustomization(...Object.keys(files))], ...files };
}

const convertsKinds = ({ webhooks = [] }: OperatorProgram): boolean => webhooks.some(({ type }) => type === "convert");

interface Served {
  readonly webhooks: readonly Webhook[];
  readonly namespaces: readonly string[] | "all";
}

function webhookObjects(name: string, namespace: string, served: Served): readonly KubernetesObject[] {
  const { webhooks, namespaces } = served;
  const configurations = webhookConfigurations(webhooks, { name, namespaces, ...defaultWebhookAddress(name, namespace) });
  const labels = labelsOf(name);
  const labeled = configurations.map((each) => ({ ...each, metadata: { ...each.metadata, labels } }));
  return [webhookServiceOf(name, namespace, webhooks), ...labeled];
}

/** A CRD names one Service in one namespace: the API server would never reach an operator elsewhere. */
function expectHomeOfConversion(namespace: string, { program, namespace: home = "default" }: OperatorManifestsOptions): void {
  if (namespace === home || !convertsKinds(program)) return;
  throw new OperatorOptionsError(
    `${program.name}: expected every variant to run in ${home}, where the CRD looks for the conversion, found one in ${namespace} → set namespace for all of them`,
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
