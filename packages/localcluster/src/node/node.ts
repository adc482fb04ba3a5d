// A real node: containerd, kubelet and kube-proxy in a sandbox, so that pods are processes with cgroups that kill for real.
//
//     sandbox.ts      the namespaces in which all of it lives, and why        requirements.ts   what must hold on this machine
//     gateway.ts      single ports in and out                                 packages.ts       programs from Debian, not installed
//     cgroups.ts      what limits the containers, and what outlives a sandbox
//     containerd.ts   kubelet.ts   kube-proxy.ts                              settings, and how each is started
//
// What it has not: cluster DNS. Pods find Services by address or by the variables that the kubelet sets; the API server is at
// KUBERNETES_SERVICE_HOST, as client libraries expect.
import type { Component } from "../process/component.ts";
import type { Progress } from "../progress.ts";
import type { ClusterDirectory } from "../state/directory.ts";
import { createCgroups, removeCgroups } from "./cgroups.ts";
import { startContainerd } from "./containerd.ts";
import { startKubeProxy } from "./kube-proxy.ts";
import { startKubelet } from "./kubelet.ts";
import { nodeAddress } from "./network.ts";
import { loadPauseImage } from "./pause.ts";
import type { Sandbox } from "./sandbox.ts";

export interface NodeOptions {
  readonly directory: ClusterDirectory;
  readonly sandbox: Sandbox;
  /** The name of the Node object; the kubelet's credentials are for system:node:NAME. */
  readonly name: string;
  readonly binaries: Readonly<Record<"kubelet" | "kube-proxy", string>>;
  readonly kubelet: {
    /** Names the API server as it is seen inside: https://10.32.0.1:6443. User system:node:NAME, group system:nodes. */
    readonly kubeconfig: string;
    /** Whoever shows a certificate of this authority is who it says (the API server's kubelet client, Prometheus). */
    readonly clientCa: string;
    /** For the node's address and name, so that API server and Prometheus can check whom they talk to. */
    readonly servingCertificate: string;
    readonly servingKey: string;
  };
  /** Likewise; user system:kube-proxy. */
  readonly kubeProxy: { readonly kubeconfig: string };
  readonly progress?: Progress | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface RealNode {
  readonly name: string;
  readonly address: string;
  /** containerd, kubelet, kube-proxy: for stop/start in fault tests. */
  readonly components: readonly Component[];
}

/** Resolves when kubelet and kube-proxy answer. That the Node object says Ready is for the caller to wait for: it has a client. */
export async function startNode(options: NodeOptions): Promise<RealNode> {
  await createCgroups(options.directory);
  const containerd = await startContainerd(options);
  await loadPauseImage(options);
  const [kubelet, kubeProxy] = await Promise.all([startKubelet(options), startKubeProxy(options)]);
  return { name: options.name, address: nodeAddress, components: [containerd, kubelet, kubeProxy] };
}

/**
 * Removes what a node leaves outside of its namespaces: the cgroups, and whoever is still in them. Works from the cluster
 * directory alone, so also after a kill -9 of the owner. Call it when the processes of the cluster are gone, and before its
 * directory is removed. Harmless for a cluster that never had a node.
 */
export async function reapNode(directory: ClusterDirectory): Promise<void> {
  await removeCgroups(directory);
}
