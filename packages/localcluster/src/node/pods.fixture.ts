// What tests on a real node have in common: a small image, a pod of it, and how to wait for that to run.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KubernetesObject } from "../api/objects.ts";
import { busyboxImage } from "../images/programs.ts";
import { type TestCluster, testCluster } from "../testing.ts";

export const mib = 1024 * 1024;
const busybox = "localcluster/busybox:test";

/** The image that `pod` uses, in the shared cluster. For beforeAll. */
export async function loadBusybox(): Promise<void> {
  await using cluster = await testCluster({ nodes: "real" });
  await loadBuilt(cluster, (output) => busyboxImage({ name: busybox, output }));
}

/** Loads what `build` writes to the path it is given. */
export async function loadBuilt(cluster: TestCluster, build: (output: string) => Promise<string>): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), "image-"));
  try {
    return await cluster.load(await build(join(folder, "image.tar")));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** A pod with one busybox that waits; tests show only what differs. */
export const pod = (name: string, container: object = {}, spec: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, labels: { app: name } },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [{ name: "main", image: busybox, imagePullPolicy: "Never", command: ["sleep", "100000"], ...container }],
    ...spec,
  },
});

export const memory = (limit: string, request = limit) => ({
  resources: { requests: { memory: request }, limits: { memory: limit } },
});

/** The status of its one container. */
export const statusOf = (found: KubernetesObject | undefined) => found?.status.containerStatuses?.[0];

/** Applies a pod and waits until its container runs. */
export async function running(cluster: TestCluster, manifest: ReturnType<typeof pod>): Promise<KubernetesObject> {
  await cluster.apply(manifest);
  const runs = (found: KubernetesObject | undefined) =>
    statusOf(found)?.state.running !== undefined && found?.status.podIP !== undefined;
  return (await cluster.eventually(() => cluster.pod(manifest.metadata.name), runs)) as KubernetesObject;
}
