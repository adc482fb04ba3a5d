// Hollow nodes as a part of the simulator: they start with it and stop with it, and the API server finds their metrics
// behind its proxy, as it does for real ones:
//
//     kubectl get --raw /api/v1/nodes/node-1/proxy/metrics/cadvisor
import { serviceUnavailable } from "../server/status-error.ts";
import type { SimulatorPart } from "../simulator.ts";
import { metricsOf } from "./cadvisor/serve.ts";
import { type HollowNodes, startHollowNodes } from "./hollow-nodes.ts";
import type { HollowNodesOptions } from "./options.ts";

export interface HollowNodesPart extends SimulatorPart {
  /** Once the simulator has started. */
  readonly nodes: HollowNodes;
}

export type HollowNodesPartOptions = Omit<HollowNodesOptions, "client" | "environment">;

export function hollowNodes(options: HollowNodesPartOptions = {}): HollowNodesPart {
  let started: HollowNodes | undefined;
  const nodes = () => {
    if (started === undefined) throw new TypeError("expected hollow nodes that were started with a simulator, found none");
    return started;
  };
  return {
    name: "hollow nodes",
    get nodes() {
      return nodes();
    },
    prepare(core) {
      core.connects.set("nodes/proxy", ({ object, rest }) => {
        const node = nodes().all.find(({ name }) => name === object.metadata.name);
        if (node?.hasPower !== true) throw serviceUnavailable(`dial tcp: ${object.metadata.name} does not answer`);
        if (rest !== "/metrics/cadvisor") return { status: 404, headers: {}, body: "404 page not found\n" };
        return metricsOf(node);
      });
    },
    async start(simulator) {
      const { environment } = simulator;
      started = await startHollowNodes({ ...options, environment, client: simulator.client({ userAgent: "kubelet" }) });
      return started.stop;
    },
  };
}
