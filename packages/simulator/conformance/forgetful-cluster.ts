// A cluster that can be made to forget its past. It is not the one that the other files share: they may be in the middle of a
// list, or of a watch.
import { type Client, connect, systemEnvironment } from "@memhog/runtime";
import { inject } from "vitest";
import { startSimulator } from "../src/simulator.ts";

export interface ForgetfulCluster extends AsyncDisposable {
  readonly client: Client;
  /** Nobody can ask any more how things were before this version. */
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
  const client = await connect({ environment: systemEnvironment(), kubeconfig: cluster.kubeconfig, env: {} });
  const close = async () => {
    await client.close();
    await cluster.down();
  };
  const forgetBefore = async (resourceVersion: string) => {
    await compactEtcd(cluster, resourceVersion);
    // It has the latest events in memory, too. Those of a new one begin with what it finds.
    await cluster.stop("kube-apiserver");
    await cluster.start("kube-apiserver");
  };
  return { client, forgetBefore, [Symbol.asyncDispose]: close };
}
