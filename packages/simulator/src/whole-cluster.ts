// An API server alone is no cluster. These are the parts that make it one, in the order in which they start: what the API server
// itself is made of, then the controllers, then nodes and a Prometheus if there are to be any.
//
//     const cluster = wholeCluster({ nodes: { count: 3 }, prometheus: true });
//     await using simulator = await startSimulator({ environment, parts: cluster });
//     await cluster.prometheus.request({ method: "GET", path: "/api/v1/query", query: { query: "up" } });
//     await cluster.nodes.node("node-1").losePower();
import { silentLogger } from "@memhog/runtime";
import { admission } from "./admission/admission.ts";
import { startControllers } from "./controllers/controllers.ts";
import { customResources } from "./custom-resources/custom-resources.ts";
import type { HollowNodes } from "./nodes/hollow-nodes.ts";
import { type HollowNodesPartOptions, hollowNodes } from "./nodes/part.ts";
import { openapi } from "./openapi/openapi.ts";
import { type PrometheusPartOptions, prometheus as prometheusPart } from "./prometheus/part.ts";
import type { SimulatedPrometheus } from "./prometheus/prometheus.ts";
import type { SimulatorPart } from "./simulator.ts";

export interface WholeClusterOptions {
  /** Nodes that start with the cluster. Others may join it later: startHollowNodes(). @default none */
  readonly nodes?: HollowNodesPartOptions | undefined;
  /** A Prometheus that scrapes those nodes; with a `port` also for others than this process. @default none */
  readonly prometheus?: boolean | Omit<PrometheusPartOptions, "nodes"> | undefined;
}

/** The parts, and by name those that one wants to hold in hand; these once the simulator has started. */
export interface WholeCluster extends Iterable<SimulatorPart> {
  /** @throws TypeError if neither nodes nor a Prometheus were asked for */
  readonly nodes: HollowNodes;
  /** Answers in memory, as a transport. @throws TypeError if none was asked for */
  readonly prometheus: SimulatedPrometheus;
  /** http://127.0.0.1:PORT of it, if a port was asked for. */
  readonly prometheusUrl: string | undefined;
}

export function wholeCluster({ nodes: given, prometheus: asked = false }: WholeClusterOptions = {}): WholeCluster {
  const nodes = hollowNodes(given ?? { specs: [] });
  const metrics = asked === false ? undefined : prometheusPart({ ...(asked === true ? {} : asked), nodes });
  const parts: SimulatorPart[] = [customResources(), admission(), openapi(), controllers];
  if (given !== undefined || metrics !== undefined) parts.push(nodes);
  if (metrics !== undefined) parts.push(metrics);
  return {
    [Symbol.iterator]: () => parts[Symbol.iterator](),
    get nodes() {
      return nodes.nodes;
    },
    get prometheus() {
      if (metrics === undefined) throw new TypeError("expected a cluster with a Prometheus, found one without");
      return metrics.prometheus;
    },
    get prometheusUrl() {
      return metrics?.url;
    },
  };
}

const controllers: SimulatorPart = {
  name: "controllers",
  start: async (simulator) => {
    const client = simulator.client({ userAgent: "kube-controller-manager" });
    const { environment, authority } = simulator;
    const running = await startControllers({ client, environment, authority, log: silentLogger });
    return () => running.stop();
  },
};
