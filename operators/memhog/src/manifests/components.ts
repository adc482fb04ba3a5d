// What not every cluster can use: kinds of the Prometheus Operator, and a policy that only some networks enforce.
import { identityLabels, type KubernetesObject, recommendedLabels } from "@memhog/runtime";
import { operatorName } from "../api/names.ts";
import { alertGroups } from "./alerts.ts";

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

/**
 * In: whoever scrapes. (The kubelet's probes come from the node, which no policy keeps out.) Out: names, the API server, which is
 * at 443 before and often at 6443 behind its Service, and Prometheus. To which addresses, only who installs it can know.
 */
const networkPolicy: KubernetesObject & { readonly spec: object } = {
  ...{ apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata },
  spec: {
    podSelector: { matchLabels },
    policyTypes: ["Ingress", "Egress"],
    ingress: [{ ports: [{ protocol: "TCP", port: "metrics" }] }],
    egress: [
      {
        ports: [
          { protocol: "UDP", port: 53 },
          { protocol: "TCP", port: 53 },
        ],
      },
      { ports: [443, 6443, 9090].map((port) => ({ protocol: "TCP", port })) },
    ],
  },
};

/** By the folder below components/. */
export const components = {
  "service-monitor": [serviceMonitor],
  "prometheus-rule": [prometheusRule],
  "network-policy": [networkPolicy],
} as const;
