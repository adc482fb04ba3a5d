import { beforeAll, describe, expect, it } from "vitest";
import { testCluster } from "../testing.ts";
import { loadBusybox, memory, mib, pod, running } from "./pods.fixture.ts";

beforeAll(loadBusybox);

describe("Prometheus (real Kubernetes: the kubelet measures)", () => {
  it("returns the working set of a container", async () => {
    await using cluster = await testCluster({ nodes: "real" });
    // Files in memory count, and stay: 20 MiB that the container really has.
    const fill = "dd if=/dev/zero of=/dev/shm/ballast bs=1M count=20; exec sleep 100000";
    await running(cluster, pod("measured", { command: ["sh", "-c", fill], ...memory("64Mi") }));
    const query = `container_memory_working_set_bytes{namespace="${cluster.defaultNamespace}",pod="measured",container="main"}`;
    const ask = async () => {
      const answer = await fetch(`${cluster.prometheus}/api/v1/query`, { method: "POST", body: new URLSearchParams({ query }) });
      const { data } = (await answer.json()) as { data: { result: readonly { value: readonly [number, string] }[] } };
      return data.result.map(({ value }) => Number(value[1]));
    };
    const [bytes] = await cluster.eventually(ask, (found) => found.length === 1 && (found[0] ?? 0) > 20 * mib);
    expect(bytes).toBeLessThan(64 * mib);
  });
});
