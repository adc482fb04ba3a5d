// The cluster of the demo: simulated, which takes a moment, or real, which shows what it is doing meanwhile. What runs on it is the
// same: the same manifests, the same operator, the same command line.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadHog } from "@memhog/hog";
import { httpTransport, overTransport, type PrometheusTransport } from "@memhog/memhog-operator";
import { type Client, connect, type Environment, systemEnvironment } from "@memhog/runtime";
import { accelerated, startSimulator, wholeCluster } from "@memhog/simulator";
import type { Live } from "./live.ts";

export interface DemoCluster extends AsyncDisposable {
  /** For honesty: what all of this happens on. */
  readonly what: string;
  readonly kubeconfig: string;
  readonly prometheusUrl: string;
  readonly client: Client;
  readonly environment: Environment;
  readonly prometheus: PrometheusTransport;
  /** What to type to take it down, where it is kept. */
  readonly howToEnd: string;
}

const scrapeIntervalMs = 5_000;

export interface DemoClusterOptions {
  readonly real: boolean;
  /** How many times as fast as life; the real one has no such knob. */
  readonly speed: number;
}

export function openDemoCluster({ real, speed }: DemoClusterOptions, live: Live): Promise<DemoCluster> {
  return real ? openReal(live) : openSimulated(speed);
}

async function openSimulated(speed: number): Promise<DemoCluster> {
  const environment = accelerated(systemEnvironment(), speed);
  const cluster = wholeCluster({ nodes: { count: 1 }, prometheus: { intervalMs: scrapeIntervalMs, port: 0 } });
  const simulator = await startSimulator({ environment, http: true, parts: cluster });
  const folder = await mkdtemp(join(tmpdir(), "memhog-demo-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, simulator.kubeconfig ?? "");
  return {
    what: `simulated Kubernetes in this process, one node, time ${speed} × as fast (--real for a real one)`,
    kubeconfig,
    prometheusUrl: cluster.prometheusUrl ?? "",
    client: simulator.client(),
    environment,
    prometheus: overTransport(cluster.prometheus),
    howToEnd: "Ctrl-C",
    async [Symbol.asyncDispose]() {
      await simulator.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function openReal(live: Live): Promise<DemoCluster> {
  const { startCluster } = await import("@memhog/localcluster");
  const starting = startCluster({ nodes: "real", prometheus: { scrapeInterval: "5s" } });
  const cluster = await live.step("starting a real Kubernetes (the first time it is built: minutes)", starting);
  await live.step("loading the image of memhog into the node", loadHog(cluster));
  const environment = systemEnvironment();
  const { kubeconfig, version } = cluster;
  const client = await connect({ kubeconfig, environment });
  const prometheusUrl = cluster.prometheus ?? "";
  const prometheus = httpTransport({ address: prometheusUrl });
  return {
    ...{ kubeconfig, prometheusUrl, client, environment, prometheus },
    what: `real Kubernetes ${version} on this machine, a real node with real containers, a real Prometheus`,
    howToEnd: "Ctrl-C",
    async [Symbol.asyncDispose]() {
      await prometheus.close?.();
      await client.close();
      await cluster.down();
    },
  };
}
