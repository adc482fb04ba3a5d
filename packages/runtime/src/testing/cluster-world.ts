// What a cluster test of the client starts from.
import { testCluster } from "@memhog/simulator/testing";
import { clientOf } from "./cluster-client.ts";

/** A namespace of one's own and a client. */
export async function clusterWorld() {
  const cluster = await testCluster();
  const client = await clientOf(cluster);
  const namespace = cluster.defaultNamespace;
  const close = async () => {
    await client[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  };
  return { client, namespace, ref: { namespace, name: "a" }, [Symbol.asyncDispose]: close };
}

/** What a promise fails with; undefined if it does not. */
export const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );
