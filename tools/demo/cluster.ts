// The cluster of the demo: the simulator, or a real Kubernetes on this machine. Both use the same manifests and the same
// operator.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadHog } from "@memhog/hog";
import { httpTransport, overTransport, type PrometheusTransport } from "@memhog/memhog-operator";
import { type Client, createClient, type Environment, loadConfig, systemEnvironment } from "@memhog/runtime";
import { accelerated, fullCluster, startSimulator } from "@memhog/simulator";
import type { Terminal } from "./terminal.ts";

export interface DemoCluster extends AsyncDisposable {
  /** What kind of cluster it is, for people. */
  readonly name: string;
  readonly details: string;
  readonly kubeconfig: string;
  readonly prometheusUrl: string;
  readonly client: Client;
  readonly environment: Environment;
  readonly prometheus: PrometheusTransport;
}

const scrapeIntervalMs = 5_000;

export interface DemoClusterOptions {
  readonly real: boolean;
  /** How many times faster than real time the simulator runs; ignored with `real`. */
  readonly speed: number;
}

export function openDemoCluster({ real, speed }: DemoClusterOptions, terminal: Terminal): Promise<DemoCluster> {
  return real ? openReal(terminal) : openSimulated(speed);
}

async function openSimulated(speed: number): Promise<DemoCluster> {
  const environment = accelerated(systemEnvironment(), speed);
  const cluster = fullCluster({ nodes: { count: 1 }, prometheus: { intervalMs: scrapeIntervalMs, port: 0 } });
  const simulator = await startSimulator({ environment, http: true, components: cluster });
  const folder = await mkdtemp(join(tmpdir(), "memhog-demo-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, simulator.kubeconfig ?? "");
  return {
    name: "simulated Kubernetes in this process",
    details: `one node, ${speed} × real time; --real runs on a real cluster`,
    kubeconfig,
    prometheusUrl: cluster.prometheusUrl ?? "",
    client: simulator.client(),
    environment,
    prometheus: overTransport(cluster.prometheus),
    async [Symbol.asyncDispose]() {
      await simulator.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function openReal(terminal: Terminal): Promise<DemoCluster> {
  const { startCluster } = await import("@memhog/localcluster");
  const starting = startCluster({ nodes: "real", prometheus: { scrapeInterval: "5s" } });
  const cluster = await terminal.step("starting a real Kubernetes (minutes on the first run, while it is built)", starting);
  await terminal.step("loading the memhog image into the node", loadHog(cluster));
  const environment = systemEnvironment();
  const { kubeconfig, version } = cluster;
  const client = createClient({ config: await loadConfig({ kubeconfig }), environment });
  const prometheusUrl = cluster.prometheus ?? "";
  const prometheus = httpTransport({ address: prometheusUrl });
  return {
    ...{ kubeconfig, prometheusUrl, client, environment, prometheus },
    name: `real Kubernetes ${version} on this machine`,
    details: "a kubelet, containers and a Prometheus",
    async [Symbol.asyncDispose]() {
      await prometheus.close?.();
      await client.close();
      await cluster.down();
    },
  };
}
