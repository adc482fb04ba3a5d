import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { KubernetesObject } from "../api/objects.ts";
import { startCluster } from "../start.ts";
import { clusterDirectory } from "../state/directory.ts";
import { type TestCluster, testCluster } from "../testing.ts";
import { cgroupRoot, hierarchies } from "./cgroups.ts";
import { loadBusybox, memory, mib, pod, running, statusOf } from "./pods.fixture.ts";

beforeAll(loadBusybox);

describe("in-place resize (real Kubernetes: the limit is a cgroup file)", () => {
  const resize = (cluster: Pick<TestCluster, "request">, namespace: string, name: string, limit: string) => {
    const body = { spec: { containers: [{ name: "main", resources: { limits: { memory: limit } } }] } };
    const options = { contentType: "application/strategic-merge-patch+json" };
    return cluster.request("PATCH", `/api/v1/namespaces/${namespace}/pods/${name}/resize`, body, options);
  };
  it("raises the limit of the container's cgroup without a restart from 1.33 on, and is refused before", async () => {
    await using cluster = await testCluster({ nodes: "real" });
    const before = await running(cluster, pod("grows", memory("64Mi", "32Mi")));
    const file = await limitFileOf(cluster, before);
    expect(Number(await readFile(file, "utf8"))).toBe(64 * mib);
    if (Number(cluster.version.split(".")[1]) < 33) {
      await expect(resize(cluster, cluster.defaultNamespace, "grows", "96Mi")).rejects.toMatchObject({ status: 404 });
      expect(Number(await readFile(file, "utf8"))).toBe(64 * mib);
      return;
    }
    await resize(cluster, cluster.defaultNamespace, "grows", "96Mi");
    await cluster.eventually(
      async () => Number(await readFile(file, "utf8")),
      (limit) => limit === 96 * mib,
    );
    const after = await cluster.eventually(
      () => cluster.pod("grows"),
      (found) => statusOf(found)?.resources?.limits.memory === "96Mi",
    );
    expect(statusOf(after)).toMatchObject({ restartCount: 0, containerID: statusOf(before).containerID });
  });

  it("is refused by an API server of 1.32, whatever version the run is about", async () => {
    await using cluster = await startCluster({ kubernetes: "1.32", controllers: [] });
    // No controller makes service accounts there, and the pod need not run to be refused.
    const stays = pod("stays", memory("64Mi", "32Mi"), { automountServiceAccountToken: false });
    await cluster.apply({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace: "default" } }, stays);
    await expect(resize(cluster, "default", "stays", "96Mi")).rejects.toMatchObject({ status: 404 });
  });

  /** On the host, whichever version of cgroups it has. */
  async function limitFileOf(cluster: TestCluster, found: KubernetesObject): Promise<string> {
    const id = statusOf(found).containerID.replace("containerd://", "");
    const roots = hierarchies().map(({ path }) => join(path, cgroupRoot(clusterDirectory(cluster.name))));
    for (const root of roots.filter((path) => existsSync(path))) {
      const folder = (await readdir(root, { recursive: true })).find((path) => path.endsWith(id));
      const files = ["memory.max", "memory.limit_in_bytes"].map((name) => join(root, folder ?? "", name));
      const file = folder && files.find((path) => existsSync(path));
      if (file) return file;
    }
    throw new Error(`no cgroup with a memory limit for container ${id}`);
  }
});
