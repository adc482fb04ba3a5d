// The program of an operator as Kubernetes runs it: a Deployment whose pods may run where only restricted ones may, and what
// goes with it when there are several of them.
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
  /** Where it runs, and in the namespaced variant works. @default "default" */
  readonly namespace?: string;
  /** Of several one leads; they are spread over nodes, and drained one at a time. @default 1 */
  readonly replicas?: number;
  /** Flags of every variant, beside --leader-elect. */
  readonly args?: readonly string[];
  /** Variables, beside POD_NAMESPACE. A flag may be $(NAME): kustomize patches variables by name, and flags only by position. */
  readonly env?: Container["env"];
  /** @default 96Mi of memory requested, 192Mi allowed */
  readonly memory?: { readonly request: string; readonly limit: string };
}

/** What one variant adds. */
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

/** On a cluster of one node they run all the same. */
function spreadOverNodes(name: string): object {
  return {
    maxSkew: 1,
    topologyKey: "kubernetes.io/hostname",
    whenUnsatisfiable: "ScheduleAnyway",
    labelSelector: { matchLabels: selectorOf(name) },
  };
}

/** Not minAvailable: with a single replica that would forbid to drain its node. */
export function disruptionBudgetOf(name: string, namespace: string): KubernetesObject {
  return {
    apiVersion: apiVersionOf(PodDisruptionBudget),
    kind: PodDisruptionBudget.kind,
    metadata: { name, namespace, labels: labelsOf(name) },
    spec: { maxUnavailable: 1, selector: { matchLabels: selectorOf(name) } },
  } as KubernetesObject;
}

/**
 * The way to the webhooks. Where a kind is converted it leads to pods that are not ready, too: they are ready when their caches
 * are synced, and to list the kind takes a conversion, so otherwise nobody would ever be. Admission alone can wait, and fares
 * better with those that are ready.
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
