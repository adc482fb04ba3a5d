// The door for tests of behaviour: one suite, two clusters.
//
//     it("keeps three gordons running", async () => {
//       await using cluster = await testCluster(); // the simulator, or real Kubernetes under `npm run test:real`
//       await cluster.apply(gordon);
//       await cluster.eventually(() => cluster.list(pods, { namespace: cluster.defaultNamespace }), (pods) => pods.length === 3);
//     });
//
// Which one it is, vitest's project decides: the project "real" provides the socket of shared real clusters, any other does not.
// Nothing of localcluster is loaded unless it is needed, so `npm test` asks for no binaries, no root and no network.
import { inject } from "vitest";
import type { Cluster, ClusterWithKubectl } from "./testing/cluster.ts";

export type { Cluster, ClusterWithKubectl } from "./testing/cluster.ts";

/** A cluster with a namespace of one's own; disposing of it ends the simulator, or deletes the namespace of the real one. */
export async function testCluster(): Promise<Cluster> {
  // A project that provides no such thing has none to inject, whatever the declaration promises.
  const real = inject("localcluster") !== undefined;
  const { openCluster } = real ? await import("./testing/real-cluster.ts") : await import("./testing/simulated-cluster.ts");
  return openCluster();
}

/** Both, for tests of what people see: `describe.each(bothClusters)("kubectl on a %s cluster", (which) => …)`. */
export const bothClusters = ["simulated", "real"] as const;

/** One of the two, with the real kubectl. Only for *.real.test.ts: a machine that has only Node has no kubectl. */
export async function clusterWithKubectl(which: (typeof bothClusters)[number]): Promise<ClusterWithKubectl> {
  const { openCluster } =
    which === "real" ? await import("./testing/real-cluster.ts") : await import("./testing/with-kubectl.ts");
  return openCluster();
}
