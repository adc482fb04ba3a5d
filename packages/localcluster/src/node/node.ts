import type { Component } from "../process/component.ts";
import type { Progress } from "../progress.ts";
import type { ClusterDirectory } from "../state/directory.ts";
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
  readonly progress?: Progress;
  readonly signal?: AbortSignal;
}

export interface RealNode {
  readonly name: string;
  readonly address: string;
  /** containerd, kubelet, kube-proxy: for stop/start in fault tests. */
  readonly components: readonly Component[];
}

/** Resolves when kubelet and kube-proxy answer. That the Node object says Ready is for the caller to wait for: it has a client. */
export async function startNode(_options: NodeOptions): Promise<RealNode> {
  throw new Error("helper C is writing this");
}

/**
 * Removes what a node leaves outside of its namespaces: the cgroups, and whoever is still in them. Works from the cluster
 * directory alone, so also after a kill -9 of the owner. Call it when the processes of the cluster are gone, and before its
 * directory is removed. Harmless for a cluster that never had a node.
 */
export async function reapNode(_directory: ClusterDirectory): Promise<void> {
  throw new Error("helper C is writing this");
}
