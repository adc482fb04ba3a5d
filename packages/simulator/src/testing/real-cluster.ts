// The real one: localcluster's shared cluster, with a client of ours.
import { testCluster } from "@memhog/localcluster/testing";
import { type Client, connect, systemEnvironment } from "@memhog/runtime";
import type { Cluster, ClusterWithKubectl } from "./cluster.ts";

/** Fast enough for tests; everything else as in production. */
const quick = { qps: 1000, burst: 1000 };

export async function openCluster(): Promise<ClusterWithKubectl> {
  const real = await testCluster();
  const clients: Client[] = [];
  const client: Cluster["client"] = async (options) => {
    const environment = systemEnvironment();
    const made = await connect({ environment, kubeconfig: real.kubeconfig, env: {}, rateLimit: quick, ...options });
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
