// Creates pods in a real API server without nodes, so they never run.
import type { Cluster } from "@memhog/localcluster";
import { AlreadyExistsError, createClient, loadConfig, Pod, systemEnvironment } from "@memhog/runtime";
import { podOf } from "./pods.ts";

/** The server stays busy after so many writes, which would slow down the contender that is measured first. */
const restMs = 20_000;

/** Makes sure that pods 0 … count-1 exist. */
export async function seedPods(cluster: Cluster, count: number): Promise<void> {
  await using client = createClient({
    config: await loadConfig({ kubeconfig: cluster.kubeconfig }),
    environment: systemEnvironment(),
    rateLimit: { qps: 5_000, burst: 5_000 },
  });
  let next = 0;
  const since = performance.now();
  const worker = async () => {
    while (next < count) {
      const index = next++;
      const { metadata, ...rest } = podOf(index);
      const { uid: _uid, resourceVersion: _version, ...wanted } = metadata;
      await client.create(Pod, { ...rest, metadata: wanted } as never).catch((error: unknown) => {
        if (!(error instanceof AlreadyExistsError)) throw error;
      });
      if (index % 2_000 === 1_999)
        console.error(`seeded ${index + 1} of ${count} pods, ${Math.round((performance.now() - since) / 1000)} s`);
    }
  };
  await Promise.all(Array.from({ length: 20 }, worker));
  console.error(`the server comes to rest: ${restMs / 1000} s`);
  await new Promise((done) => setTimeout(done, restMs));
}
