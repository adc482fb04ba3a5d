// The Deployment of an operator, whose pods meet the restricted pod security standard, and the objects around it: a
// PodDisruptionBudget and topology spread for several replicas, and Services.
import { apiVersionOf, Deployment, type KubernetesObject, recommendedLabels, Service } from "@memhog/runtime";
import { type Container, PodDisruptionBudget } from "@memhog/runtime/kinds";
import { identityLabels } from "@memhog/runtime/objects";
import { defaultWebhookAddress, webhookPort } from "@memhog/runtime/operator";
import type { Webhook } from "@memhog/runtime/webhook";

export interface DeploymentOptions {
  /** The name of the Deployment, the service account and the Roles. */
  readonly name: string;
  /** The operator's image. */
  readonly image: string;
  /** The namespace that it runs in, and that the namespaced variant watches. @default "default" */
  readonly namespace?: string;
  /** Several replicas elect a leader, are spread over nodes and are drained one at a time. @default 1 */
  readonly replicas?: number;
  /** Flags of every variant, in addition to --leader-elect. */
  readonly args?: readonly string[];
  /** Environment variables, in addition to POD_NAMESPACE. A flag can refer to $(NAME): kustomize patches variables by name, but flags by position. */
  readonly env?: Container["env"];
  /** @default a memory request of 96Mi and a limit of 192Mi */
  readonly memory?: { readonly request: string; readonly limit: string };
}

/** The settings of one variant. */
interface Additions {
  readonly args?: readonly string[];
  readonly ports?: Container["ports"];
}

export const labelsOf = (name: string) => recommendedLabels({ name, instance: name });
const selectorOf = (name: string) => identityLabels({ name, instance: name });

export function deploymentOf(options: DeploymentOptions, additions: Additions): KubernetesObject {
  const { name, namespace = "default", replicas = 1 } = options;
  const labels = labelsOf(name);
  return {
    apiVersion: apiVersionOf(Deployment),
    kind: Deployment.kind,
    metadata: { name, namespace, labels },
    spec: {
      replicas,
      selector: { matchLabels: selectorOf(name) },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: name,
          securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: "RuntimeDefault" } },
          ...(replicas > 1 && { topologySpreadConstraints: [spreadOverNodes(name)] }),
          containers: [containerOf(options, additions)],
        },
      },
    },
  } as KubernetesObject;
}

function containerOf(options: DeploymentOptions, additions: Additions): Container {
  const { image, args = [], env = [], memory = { request: "96Mi", limit: "192Mi" } } = options;
  return {
    name: "operator",
    image,
    args: ["--leader-elect", ...args, ...(additions.args ?? [])],
    env: [{ name: "POD_NAMESPACE", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } }, ...env],
    ports: [{ name: "metrics", containerPort: 8080 }, { name: "probes", containerPort: 8081 }, ...(additions.ports ?? [])],
    livenessProbe: { httpGet: { path: "/healthz", port: "probes" } },
    readinessProbe: { httpGet: { path: "/readyz", port: "probes" } },
    resources: { requests: { cpu: "10m", memory: memory.request }, limits: { memory: memory.limit } },
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
  };
}

/** Preferred, not required: on a cluster with one node all replicas must run. */
function spreadOverNodes(name: string): object {
  return {
    maxSkew: 1,
    topologyKey: "kubernetes.io/hostname",
    whenUnsatisfiable: "ScheduleAnyway",
    labelSelector: { matchLabels: selectorOf(name) },
  };
}

/** maxUnavailable, because minAvailable would block the drain of a node with a single replica. */
export function disruptionBudgetOf(name: string, namespace: string): KubernetesObject {
  return {
    apiVersion: apiVersionOf(PodDisruptionBudget),
    kind: PodDisruptionBudget.kind,
    metadata: { name, namespace, labels: labelsOf(name) },
    spec: { maxUnavailable: 1, selector: { matchLabels: selectorOf(name) } },
  } as KubernetesObject;
}

/**
 * The Service of the webhooks. With a conversion webhook it also routes to pods that are not ready: a pod is ready when its caches
 * are synced, and listing the kind needs the conversion, so no pod would ever become ready. Admission webhooks use ready pods only.
 */
export function webhookServiceOf(name: string, namespace: string, webhooks: readonly Webhook[]): KubernetesObject {
  const converts = webhooks.some(({ type }) => type === "convert");
  return {
    apiVersion: apiVersionOf(Service),
    kind: Service.kind,
    metadata: { name: defaultWebhookAddress(name, namespace).service.name, namespace, labels: labelsOf(name) },
    spec: {
      selector: selectorOf(name),
      ports: [{ name: webhookPort.name, port: 443, targetPort: webhookPort.name }],
      ...(converts && { publishNotReadyAddresses: true }),
    },
  } as KubernetesObject;
}

export function metricsServiceOf(name: string, namespace: string): KubernetesObject {
  return {
    apiVersion: apiVersionOf(Service),
    kind: Service.kind,
    metadata: { name: `${name}-metrics`, namespace, labels: labelsOf(name) },
    spec: { selector: selectorOf(name), ports: [{ name: "metrics", port: 8080, targetPort: "metrics" }] },
  } as KubernetesObject;
}
