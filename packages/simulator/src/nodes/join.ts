// Hollow nodes that join a cluster of somebody else, such as a real API server: for tests of scale, and for looking at.
//
// Their addresses are loopback ones. A real API server connects to the address of a node when somebody asks for logs or metrics;
// nothing answers there for a hollow one, and no question shall leave this machine in search of it.
import type { Client, Environment } from "@memhog/runtime";
import { serve } from "../prometheus/http.ts";
import { startPrometheus } from "../prometheus/prometheus.ts";
import { cadvisorTarget } from "./cadvisor/serve.ts";
import { type HollowNodes, startHollowNodes } from "./hollow-nodes.ts";
import { someNodes } from "./node-spec.ts";

export interface JoinOptions {
  /** Of the cluster. Give it a generous rate limit: every node and pod goes through it. */
  readonly client: Client;
  readonly environment: Environment;
  /** node-1, node-2 … */
  readonly count: number;
  /** A Prometheus that scrapes them, at this port of 127.0.0.1. @default none */
  readonly prometheus?: { readonly port: number; readonly intervalMs?: number } | undefined;
}

export async function joinHollowNodes({ client, environment, count, prometheus }: JoinOptions): Promise<HollowNodes> {
  const specs = someNodes(count).map((spec, at) => ({ ...spec, address: `127.32.${Math.floor(at / 250)}.${(at % 250) + 1}` }));
  const nodes = await startHollowNodes({ client, environment, specs });
  if (prometheus === undefined) return nodes;
  const { port, ...interval } = prometheus;
  const scraping = startPrometheus({ environment, targets: () => nodes.all.map(cadvisorTarget), ...interval });
  const endpoint = await serve((request) => scraping.request(request), port);
  const stop = async () => {
    scraping.stop();
    await endpoint[Symbol.asyncDispose]();
    await nodes.stop();
  };
  return { ...nodes, stop, [Symbol.asyncDispose]: stop };
}
