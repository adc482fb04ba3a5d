// Separate from cluster-world.ts, which is published; the simulator's test helpers are not.
import { testCluster } from "@memhog/simulator/testing";
import { clientOf } from "./cluster-world.ts";

/** A client of a test cluster, and a namespace of the test's own. */
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
