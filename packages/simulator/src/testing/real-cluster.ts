// Real clusters for tests: localcluster's shared cluster, with a client of @memhog/runtime.
import { execFile } from "node:child_process";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { testCluster } from "@memhog/localcluster/testing";
import { type Client, createClient, loadConfig, systemEnvironment } from "@memhog/runtime";
import type { Cluster, ClusterWithKubectl } from "./cluster.ts";
import { openCluster as openSimulated } from "./simulated-cluster.ts";

/** Short intervals for tests; everything else is as in production. */
const quick = { qps: 1000, burst: 1000 };

export async function openCluster(): Promise<ClusterWithKubectl> {
  const real = await testCluster();
  const clients: Client[] = [];
  const client: Cluster["client"] = async (options) => {
    const environment = systemEnvironment();
    const made = createClient({
      config: await loadConfig({ kubeconfig: real.kubeconfig, env: {} }),
      environment,
      rateLimit: quick,
      ...options,
    });
    clients.push(made);
    return made;
  };
  const close = async () => {
    await Promise.all(clients.map((made) => made.close()));
    await real[Symbol.asyncDispose]();
  };
  const { name, server, version, kubeconfig, defaultNamespace } = real;
  return {
    is: "real",
    ...{ name, server, version, kubeconfig, defaultNamespace, client },
    request: (...rest) => real.request(...rest),
    apply: (...manifests) => real.apply(...manifests),
    get: (reference) => real.get(reference),
    list: (kind, options) => real.list(kind, options),
    delete: (reference) => real.delete(reference),
    pod: (pod, namespace) => real.pod(pod, namespace),
    eventually: (read, holds, options) => real.eventually(read, holds, options),
    namespace: () => real.namespace(),
    expose: (port) => real.expose(port),
    kubectl: (...args) => real.kubectl(...args),
    [Symbol.asyncDispose]: close,
  };
}

/** The simulator with the real kubectl. */
export async function openSimulatedWithKubectl(): Promise<ClusterWithKubectl> {
  const program = await pathOfKubectl();
  const simulated = await openSimulated();
  const { kubeconfig, defaultNamespace } = simulated;
  // kubectl keeps its cache in this directory, which is removed with the cluster.
  const env = { PATH: process.env.PATH, HOME: dirname(kubeconfig) };
  const kubectl = async (...args: readonly string[]) => {
    const whole = [`--kubeconfig=${kubeconfig}`, `--namespace=${defaultNamespace}`, ...args];
    const running = promisify(execFile)(program, whole, { env });
    running.child.stdin?.end(); // kubectl must not wait for input
    return (await running).stdout;
  };
  return { ...simulated, kubectl };
}

async function pathOfKubectl(): Promise<string> {
  await using real = await testCluster();
  return real.kubectlPath();
}
