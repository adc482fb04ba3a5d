// Clusters for behavior tests: one suite, two clusters.
//
//     it("keeps three gordons running", async () => {
//       await using cluster = await testCluster(); // the simulator, or real Kubernetes under `npm run test:real`
//       await cluster.apply(gordon);
//       await cluster.eventually(() => cluster.list(pods, { namespace: cluster.defaultNamespace }), (pods) => pods.length === 3);
//     });
//
// The vitest project decides which one: "real" provides the socket of shared real clusters. localcluster is loaded only when it is
// needed, so `npm test` requires no binaries, no root and no network.
import { inject } from "vitest";
import type { Cluster, ClusterWithKubectl } from "./testing/cluster.ts";

export type { Cluster, ClusterWithKubectl } from "./testing/cluster.ts";

/** A cluster with its own namespace. Disposing of it stops the simulator, or deletes the namespace on the real cluster. */
export async function testCluster(): Promise<Cluster> {
  // Projects other than "real" provide no value, although the declaration says they do.
  const real = inject("localcluster") !== undefined;
  const { openCluster } = real ? await import("./testing/real-cluster.ts") : await import("./testing/simulated-cluster.ts");
  return openCluster();
}

/** Both clusters, for tests of output: `describe.each(bothClusters)("kubectl on a %s cluster", (which) => …)`. */
export const bothClusters = ["simulated", "real"] as const;

/** One of the two clusters, with the real kubectl. Only for *.real.test.ts, because `npm test` must not require kubectl. */
export async function clusterWithKubectl(which: (typeof bothClusters)[number]): Promise<ClusterWithKubectl> {
  const { openCluster, openSimulatedWithKubectl } = await import("./testing/real-cluster.ts");
  return which === "real" ? openCluster() : openSimulatedWithKubectl();
}
