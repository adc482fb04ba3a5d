// Adds a real node, and a Prometheus if one is asked for, to a control plane that runs in a sandbox.
import type { Api } from "./api/client.ts";
import { eventually } from "./api/eventually.ts";
import type { KubernetesObject } from "./api/objects.ts";
import type { BinaryName } from "./binaries/binaries.ts";
import type { ControlPlane } from "./control-plane/control-plane.ts";
import { startNode } from "./node/node.ts";
import type { Sandbox } from "./node/sandbox.ts";
import type { Plan } from "./options.ts";
import type { Component } from "./process/component.ts";
import { startPrometheus } from "./prometheus/prometheus.ts";

export interface NodeOf {
  readonly plan: Plan;
  readonly binaries: Readonly<Partial<Record<BinaryName, string>>>;
  readonly sandbox: Sandbox;
  readonly controlPlane: ControlPlane;
  readonly api: Api;
  readonly signal: AbortSignal;
}

export interface Started {
  readonly components: readonly Component[];
  /** For clients on the host. */
  readonly prometheus?: string;
}

const nodeName = "node-1";

/** Resolves when the node is Ready, and Prometheus answers. */
export async function startNodeOf(options: NodeOf): Promise<Started> {
  const node = await startKubelet(options);
  const prometheus = await startScraping(options);
  await untilReady(options);
  if (prometheus === undefined) return { components: node };
  return { components: [...node, prometheus.component], prometheus: prometheus.url };
}

async function startKubelet({ plan, binaries, sandbox, controlPlane, signal }: NodeOf): Promise<readonly Component[]> {
  const { pki } = controlPlane;
  const user = { commonName: `system:node:${nodeName}`, organizations: ["system:nodes"] };
  const serving = await pki.issue("kubelet-serving", { ...user, hosts: [nodeName, sandbox.nodeAddress] });
  const node = await startNode({
    ...{ directory: plan.directory, sandbox, name: nodeName, progress: plan.progress, signal },
    binaries: { kubelet: binaries.kubelet ?? "", "kube-proxy": binaries["kube-proxy"] ?? "" },
    kubelet: {
      kubeconfig: await controlPlane.kubeconfigInside("kubelet", user),
      clientCa: pki.authorityFiles.certificate,
      servingCertificate: serving.certificate,
      servingKey: serving.key,
    },
    kubeProxy: { kubeconfig: await controlPlane.kubeconfigInside("kube-proxy", { commonName: "system:kube-proxy" }) },
  });
  return node.components;
}

async function startScraping({ plan, sandbox, controlPlane, signal }: NodeOf) {
  if (plan.scrapeInterval === undefined) return undefined;
  const { pki } = controlPlane;
  const files = await pki.issue("prometheus", { commonName: "prometheus", organizations: ["system:masters"] });
  return startPrometheus({
    ...{ directory: plan.directory, sandbox, nodeName, scrapeInterval: plan.scrapeInterval, progress: plan.progress, signal },
    credentials: { ca: pki.authorityFiles.certificate, ...files },
  });
}

async function untilReady({ plan, api, signal }: NodeOf): Promise<void> {
  const isReady = ({ status }: KubernetesObject) =>
    status.conditions.some(({ type, status: value }: { type: string; status: string }) => type === "Ready" && value === "True");
  const read = () => api.request<KubernetesObject>("GET", `/api/v1/nodes/${nodeName}`);
  await eventually(read, isReady, { what: `${nodeName} is Ready`, logs: plan.directory.logs, timeoutMs: 120_000, signal });
}
