// The cluster of the demo: simulated, which takes a moment, or real, which shows what it is doing meanwhile.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemEnvironment } from "@memhog/runtime";
import { startSimulator, wholeCluster } from "@memhog/simulator";
import type { Screen } from "./screen.ts";

export interface DemoCluster extends AsyncDisposable {
  /** For the closing line, and for honesty: what all of this happened on. */
  readonly what: string;
  readonly kubeconfig: string;
  readonly operatorFlags: readonly string[];
}

export async function openDemoCluster(real: boolean, screen: Screen): Promise<DemoCluster> {
  const cluster = real ? await openReal() : await openSimulated();
  screen.say(`a cluster is up: ${cluster.what}\n`);
  return cluster;
}

async function openSimulated(): Promise<DemoCluster> {
  const parts = wholeCluster({ nodes: { count: 3 } });
  const simulator = await startSimulator({ environment: systemEnvironment(), http: true, parts });
  const folder = await mkdtemp(join(tmpdir(), "memhog-demo-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, simulator.kubeconfig ?? "");
  const close = async () => {
    await simulator.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return {
    what: "simulated Kubernetes, three nodes, in this process",
    kubeconfig,
    operatorFlags: [],
    [Symbol.asyncDispose]: close,
  };
}

async function openReal(): Promise<DemoCluster> {
  const { busyboxImage, startCluster } = await import("@memhog/localcluster");
  const cluster = await startCluster({ nodes: "real" });
  const image = "memhog/demo-gordon:1";
  const folder = await mkdtemp(join(tmpdir(), "memhog-demo-"));
  const output = join(folder, "image.tar");
  await busyboxImage({ name: image, command: ["/bin/sleep", "100000"], output });
  await cluster.load(output);
  await rm(folder, { recursive: true, force: true });
  const what = `real Kubernetes ${cluster.version}, a real node with real containers`;
  return { what, kubeconfig: cluster.kubeconfig, operatorFlags: ["--image", image], [Symbol.asyncDispose]: () => cluster.down() };
}
