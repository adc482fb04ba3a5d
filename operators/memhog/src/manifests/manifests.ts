// Generates the kustomize files of deploy/ from the program's own kinds, flags and permissions. The address of Prometheus is an
// environment variable, so that a kustomization can patch it by name (deploy/README.md).
import { type ManifestFiles, operatorManifests } from "@memhog/kit";
import { apiVersionOf, Deployment, type KubernetesObject, recommendedLabels } from "@memhog/runtime";
import { identityLabels } from "@memhog/runtime/objects";
import { AppMemory } from "../api/app-memory.ts";
import { AppMonitor } from "../api/app-monitor.ts";
import { monitorAnnotation, operatorName } from "../api/names.ts";
import { program } from "../cli/commands.ts";
import { alertGroups } from "./alerts.ts";

/** The image name that localcluster loads. Users replace it with their own. */
export const operatorImageName = "memhog/memhog-operator:dev";

/** The Service that the Prometheus Operator creates for a Prometheus in the namespace `monitoring`. */
const defaultPrometheus = "http://prometheus-operated.monitoring.svc:9090";

export function manifests(): ManifestFiles {
  return operatorManifests({
    program,
    image: operatorImageName,
    replicas: 2,
    // Measured on a real node with few pods: 35 MiB as standby, 52 MiB as leader. The limit allows for several thousand pods.
    memory: { request: "64Mi", limit: "256Mi" },
    args: ["-v2", "--prometheus-addr=$(PROMETHEUS_ADDR)", "--interval=$(INTERVAL)"],
    env: [
      { name: "PROMETHEUS_ADDR", value: defaultPrometheus },
      { name: "INTERVAL", value: "15s" },
    ],
    metricsService: true,
    samples,
    components,
    variants: {
      "operator-in-place": { namespaces: "own", args: ["--in-place-only"] },
      "cluster-wide": { args: ["--all-namespaces"], namespace: "memhog-system", objects: aggregatedRoles },
      "cluster-wide-in-place": {
        args: ["--all-namespaces", "--in-place-only"],
        namespace: "memhog-system",
        objects: aggregatedRoles,
      },
      // A webhook configuration belongs to the whole cluster.
      "with-webhooks": { args: ["--all-namespaces"], namespace: "memhog-system", webhooks: true, objects: aggregatedRoles },
    },
  });
}

// The samples: an AppMonitor, and a Deployment of the hog. A test compares the Deployment with the one in workloads/hog.

const johnnyCache = {
  apiVersion: apiVersionOf(AppMonitor),
  kind: AppMonitor.kind,
  metadata: { name: "johnny-cache" },
  spec: { memThresholdPercent: 75, memMultiplier: 2 },
};

const container = {
  name: "memhog",
  image: "memhog/hog:dev",
  imagePullPolicy: "IfNotPresent",
  args: ["--ramp", "1Mi/s", "--to", "500Mi"],
  resources: { limits: { memory: "384Mi" }, requests: { memory: "256Mi" } },
  securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
};

const memhog = {
  apiVersion: apiVersionOf(Deployment),
  kind: Deployment.kind,
  metadata: { name: "memhog" },
  spec: {
    replicas: 1,
    selector: { matchLabels: { name: "memhog" } },
    template: {
      metadata: { labels: { name: "memhog" }, annotations: { [monitorAnnotation]: "true" } },
      spec: { securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } }, containers: [container] },
    },
  },
};

/** The samples by file name. */
export const samples = { "app-monitor.yaml": johnnyCache, "memhog.yaml": memhog } as const;

// Optional components: kinds of the Prometheus Operator, and a NetworkPolicy, which not every network plugin enforces.

const metadata = { name: operatorName, labels: recommendedLabels({ name: operatorName, instance: operatorName }) };
const matchLabels = identityLabels({ name: operatorName, instance: operatorName });
const monitoring = "monitoring.coreos.com/v1";

const serviceMonitor: KubernetesObject & { readonly spec: object } = {
  ...{ apiVersion: monitoring, kind: "ServiceMonitor", metadata },
  spec: { selector: { matchLabels }, endpoints: [{ port: "metrics" }] },
};

const prometheusRule: KubernetesObject & { readonly spec: object } = {
  ...{ apiVersion: monitoring, kind: "PrometheusRule", metadata },
  spec: { groups: alertGroups },
};

const namespaceOf = (name: string) => ({ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": name } } });

/**
 * Ingress: scrapes. The kubelet's probes come from the node and are always allowed. Egress: DNS, Prometheus, and the API server,
 * whose Service listens on 443 and whose endpoints often listen on 6443. The API server runs outside of the pod network, so no selector
 * can name it and only its ports are limited; add an ipBlock with its address. Prometheus is expected in the namespace "monitoring".
 */
const networkPolicy: KubernetesObject & { readonly spec: object } = {
  ...{ apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata },
  spec: {
    podSelector: { matchLabels },
    policyTypes: ["Ingress", "Egress"],
    ingress: [{ from: [namespaceOf("monitoring")], ports: [{ protocol: "TCP", port: "metrics" }] }],
    egress: [
      {
        to: [namespaceOf("kube-system")],
        ports: [
          { protocol: "UDP", port: 53 },
          { protocol: "TCP", port: 53 },
        ],
      },
      { to: [namespaceOf("monitoring")], ports: [{ protocol: "TCP", port: 9090 }] },
      { ports: [443, 6443].map((port) => ({ protocol: "TCP", port })) },
    ],
  },
};

// For people: whoever may view or edit a namespace by Kubernetes' own roles may do the same with memhog's objects. Editors may delete
// an AppMemory, which makes memhog start over, but not write one: it is the memory of the operator.

const group = [AppMonitor.group];
const kinds = [AppMonitor.plural, AppMemory.plural];
export const viewRules = [{ apiGroups: group, resources: kinds, verbs: ["get", "list", "watch"] }];
export const editRules = [
  { apiGroups: group, resources: [AppMonitor.plural], verbs: ["create", "update", "patch", "delete", "deletecollection"] },
  { apiGroups: group, resources: [AppMemory.plural], verbs: ["delete", "deletecollection"] },
];

function aggregatedRole(
  name: string,
  to: readonly string[],
  rules: readonly object[],
): KubernetesObject & { readonly rules: object } {
  const aggregated = Object.fromEntries(to.map((role) => [`rbac.authorization.k8s.io/aggregate-to-${role}`, "true"]));
  const labels = { ...metadata.labels, ...aggregated };
  return { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name, labels }, rules };
}

const aggregatedRoles = [
  aggregatedRole(`${operatorName}-view`, ["view", "edit", "admin"], viewRules),
  aggregatedRole(`${operatorName}-edit`, ["edit", "admin"], editRules),
];

/** The components by folder. */
export const components = {
  "aggregated-roles": aggregatedRoles,
  "service-monitor": [serviceMonitor],
  "prometheus-rule": [prometheusRule],
  "network-policy": [networkPolicy],
} as const;
