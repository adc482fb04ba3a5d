// A separate cluster whose history can be compacted. Compacting the shared cluster would break lists and watches of other tests.
import { type Client, createClient, loadConfig, systemEnvironment } from "@memhog/runtime";
import { inject } from "vitest";
import { startSimulator } from "../src/simulator.ts";

export interface ForgetfulCluster extends AsyncDisposable {
  readonly client: Client;
  /** Compacts the history before this version. */
  forgetBefore(resourceVersion: string): Promise<void>;
}

export function forgetfulCluster(): Promise<ForgetfulCluster> {
  return inject("localcluster") === undefined ? simulated() : real();
}

async function simulated(): Promise<ForgetfulCluster> {
  const simulator = await startSimulator({ environment: systemEnvironment() });
  return {
    client: simulator.client(),
    forgetBefore: async (resourceVersion) => simulator.core.storage.compact(BigInt(resourceVersion)),
    [Symbol.asyncDispose]: () => simulator.stop(),
  };
}

async function real(): Promise<ForgetfulCluster> {
  const { startCluster } = await import("@memhog/localcluster");
  const { compactEtcd } = await import("@memhog/localcluster/testing");
  const cluster = await startCluster({ controllers: [] });
  const client = createClient({
    config: await loadConfig({ kubeconfig: cluster.kubeconfig, env: {} }),
    environment: systemEnvironment(),
  });
  const close = async () => {
    await client.close();
    await cluster.down();
  };
  const forgetBefore = async (resourceVersion: string) => {
    await compactEtcd(cluster, resourceVersion);
    // The API server also caches recent events. A new process starts with an empty cache.
    await cluster.stop("kube-apiserver");
    await cluster.start("kube-apiserver");
  };
  return { client, forgetBefore, [Symbol.asyncDispose]: close };
}
