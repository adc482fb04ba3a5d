// An operator as files to apply: what it is made of is known here (kinds, rights, probes, flags), so nobody writes it down a
// second time. drift.ts writes the files and holds them against this.
//
//     deploy/
//       kustomization.yaml      everything: kubectl apply -k deploy
//       crd/                    the kinds; somebody with more rights may apply them
//       operator/               the program, with Roles in one namespace and nothing else
//       cluster-wide/           instead: the same for all namespaces, with ClusterRoles
//       samples/                objects to try it with
import { Deployment } from "../objects/kinds/apps.ts";
import type { Container } from "../objects/kinds/core/container.ts";
import { apiVersionOf, type KubernetesObject } from "../objects/object.ts";
import { identityLabels, recommendedLabels } from "../objects/recommended-labels.ts";
import type { Grant } from "../schema/access.ts";
import { crdOf } from "../schema/custom-resource-definition.ts";
import type { AnyResource } from "../schema/define-resource.ts";
import type { ManifestFiles } from "../schema/drift.ts";
import { rolesFor } from "../schema/rbac.ts";

export interface OperatorManifestsOptions {
  /** The operator's: of the Deployment, the service account, the Roles. */
  readonly name: string;
  /** Of the operator. */
  readonly image: string;
  /** Where it runs, and in the namespaced variant works. @default "default" */
  readonly namespace?: string;
  /** Its kinds. */
  readonly resources: readonly AnyResource[];
  /** What it may do: `operator(…).grants`. */
  readonly grants: readonly Grant[];
  /** Objects to try it with, by file name. */
  readonly samples: Readonly<Record<string, object>>;
  /** More ways to run it, each a folder of its own beside the two that every operator has. */
  readonly variants?: Readonly<Record<string, Variant>>;
}

/** A way to run an operator. */
export interface Variant {
  /** @default those of the operator */
  readonly grants?: readonly Grant[];
  /** Its own namespace, or all of them. @default "all" */
  readonly namespaces?: "own" | "all";
  /** Flags, beside --leader-elect. */
  readonly args?: readonly string[];
  /** Ports of the container, beside those of metrics and probes. */
  readonly ports?: Container["ports"];
  /** What else it needs: Services, webhook configurations. */
  readonly objects?: readonly KubernetesObject[];
}

/** What should be in an operator's deploy folder. */
export function operatorManifests(options: OperatorManifestsOptions): ManifestFiles {
  const { resources, samples, variants = {} } = options;
  const crds = Object.fromEntries(resources.map((resource) => [`${resource.plural}.yaml`, [crdOf(resource)]]));
  const all = { operator: { namespaces: "own" }, "cluster-wide": { args: ["--all-namespaces"] }, ...variants } as const;
  return {
    "kustomization.yaml": [kustomization("crd", "operator")],
    ...below("crd", { "kustomization.yaml": [kustomization(...Object.keys(crds))], ...crds }),
    ...Object.fromEntries(
      Object.entries<Variant>(all).flatMap(([name, variant]) => Object.entries(variantFiles(name, variant, options))),
    ),
    ...below("samples", Object.fromEntries(Object.entries(samples).map(([name, sample]) => [name, [sample]]))),
  };
}

function variantFiles(folder: string, variant: Variant, options: OperatorManifestsOptions): ManifestFiles {
  const { name, namespace = "default" } = options;
  const { grants = options.grants, namespaces = "all", objects = [] } = variant;
  const where = namespaces === "own" ? [namespace] : namespaces;
  const files = {
    "rbac.yaml": rolesFor(grants, { name, namespace, namespaces: where, labels: labelsOf(name) }),
    "deployment.yaml": [deploymentOf(variant, options)],
    ...(objects.length > 0 && { "webhooks.yaml": objects }),
  };
  return below(folder, { "kustomization.yaml": [kustomization(...Object.keys(files))], ...files });
}

const labelsOf = (name: string) => recommendedLabels({ name, instance: name });

function deploymentOf({ args = [], ports = [] }: Variant, { name, image, namespace = "default" }: OperatorManifestsOptions) {
  const labels = labelsOf(name);
  const container: Container = {
    name: "operator",
    image,
    args: ["--leader-elect", ...args],
    env: [{ name: "POD_NAMESPACE", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } }],
    ports: [{ name: "metrics", containerPort: 8080 }, { name: "probes", containerPort: 8081 }, ...ports],
    livenessProbe: { httpGet: { path: "/healthz", port: "probes" } },
    readinessProbe: { httpGet: { path: "/readyz", port: "probes" } },
    resources: { requests: { cpu: "10m", memory: "96Mi" }, limits: { memory: "192Mi" } },
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
  };
  return {
    apiVersion: apiVersionOf(Deployment),
    kind: Deployment.kind,
    metadata: { name, namespace, labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: identityLabels({ name, instance: name }) },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: name,
          securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: "RuntimeDefault" } },
          containers: [container],
        },
      },
    },
  };
}

function kustomization(...resources: readonly string[]): object {
  return { apiVersion: "kustomize.config.k8s.io/v1beta1", kind: "Kustomization", resources };
}

function below(folder: string, files: ManifestFiles): ManifestFiles {
  return Object.fromEntries(Object.entries(files).map(([path, content]) => [`${folder}/${path}`, content]));
}
