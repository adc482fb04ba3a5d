// The objects of the static cluster: Deployments of twenty pods, a hundred pods per node, each pod using 60 of its 128
// MiB.
import type { Deployment, Node, Pod, Stored } from "@memhog/runtime";
import type { ReplicaSet } from "@memhog/runtime/kinds";
import { formatTime } from "@memhog/runtime/objects";

export const podsPerApp = 20;
export const podsPerNode = 100;

const container = "main";
const resources = { requests: { cpu: "10m", memory: "64Mi" }, limits: { memory: "128Mi" } };
const annotations = { "app-monitor.kubedemo.com/monitor": "true" };
const appOf = (pod: number) => Math.floor(pod / podsPerApp);
const nameOf = (pod: number) => `app-${appOf(pod)}-6f7c9d8b5-${pod.toString(36).padStart(5, "0")}`;
const containerIdOf = (pod: number) => pod.toString(16).padStart(64, "0");
const nodeName = (node: number) => `node-${node + 1}`;

interface Owner {
  readonly name: string;
  readonly uid: string;
}

function ownedBy(kind: "Deployment" | "ReplicaSet", { metadata: { name, uid } }: { readonly metadata: Owner }) {
  return [{ apiVersion: "apps/v1", kind, name, uid, controller: true, blockOwnerDeletion: true }];
}

function templateOf(app: number) {
  const labels = { app: `app-${app}` };
  const spec = { containers: [{ name: container, image: "example.com/main", resources }] };
  return { replicas: podsPerApp, selector: { matchLabels: labels }, template: { metadata: { labels, annotations }, spec } };
}

export function deploymentOf(app: number) {
  return { metadata: { namespace: "default", name: `app-${app}` }, spec: templateOf(app) };
}

export function replicaSetOf(app: number, deployment: Stored<Deployment>) {
  const ownerReferences = ownedBy("Deployment", deployment);
  return { metadata: { namespace: "default", name: `app-${app}-6f7c9d8b5`, ownerReferences }, spec: templateOf(app) };
}

export function podOf(at: number, replicaSet: Stored<ReplicaSet>) {
  const { metadata, spec } = templateOf(appOf(at)).template;
  const ownerReferences = ownedBy("ReplicaSet", replicaSet);
  return {
    metadata: { ...metadata, namespace: "default", name: nameOf(at), ownerReferences },
    spec: { ...spec, nodeName: nodeName(Math.floor(at / podsPerNode)) },
  };
}

/** The status that a kubelet reports for a pod that has run for an hour. */
export function statusOf(at: number, nowMs: number): NonNullable<Pod["status"]> {
  const since = formatTime(nowMs - 3_600_000);
  const conditions = ["PodScheduled", "Initialized", "ContainersReady", "Ready"].map((type) => {
    return { type, status: "True" as const, lastTransitionTime: since };
  });
  const main = {
    ...{ name: container, ready: true, started: true, restartCount: 0, resources, allocatedResources: resources.requests },
    ...{ image: "example.com/main", imageID: "example.com/main@sha256:0", containerID: `containerd://${containerIdOf(at)}` },
    state: { running: { startedAt: since } },
  };
  return { phase: "Running", startTime: since, podIP: "10.0.0.1", conditions, containerStatuses: [main] } as never;
}

export function crowdNode(at: number): Node {
  const amounts = { cpu: "16", memory: "64Gi", pods: "110" };
  const ready = { type: "Ready", status: "True" as const, lastTransitionTime: formatTime(0) };
  return { metadata: { name: nodeName(at) }, status: { capacity: amounts, allocatable: amounts, conditions: [ready] } } as never;
}

/** The samples that Prometheus has: scraped every five seconds for two minutes, measured every fifteen. */
export function seriesOf(at: number, nowMs: number) {
  const id = `/kubepods/burstable/pod${at}/${containerIdOf(at)}`;
  const metric = { __name__: "container_memory_working_set_bytes", namespace: "default", pod: nameOf(at), container, id };
  const values = Array.from({ length: 24 }, (_, ago) => {
    const seconds = Math.floor(nowMs / 5_000) * 5 - 5 * (23 - ago);
    return [seconds - (seconds % 15), `${(60 << 20) + ((seconds / 15) % 7) * 4_096}`] as const;
  });
  return { metric, values: values.filter(([seconds], n) => seconds !== values[n - 1]?.[0]) };
}
