// An API server alone is no cluster. These are the parts that make it one, in the order in which they start: what the API server
// itself is made of, then the controllers, then nodes if there are to be any.
//
//     await using simulator = await startSimulator({ environment, parts: wholeCluster({ nodes: { count: 3 } }) });
import { silentLogger } from "@memhog/runtime";
import { admission } from "./admission/admission.ts";
import { startControllers } from "./controllers/controllers.ts";
import { customResources } from "./custom-resources/custom-resources.ts";
import { startHollowNodes } from "./nodes/hollow-nodes.ts";
import type { HollowNodesOptions } from "./nodes/options.ts";
import { openapi } from "./openapi/openapi.ts";
import type { SimulatorPart } from "./simulator.ts";

export interface WholeClusterOptions {
  /** Nodes that start with the cluster. Whoever wants to hold them in hand starts them later: startHollowNodes(). @default none */
  readonly nodes?: Omit<HollowNodesOptions, "client" | "environment">;
}

export function wholeCluster({ nodes }: WholeClusterOptions = {}): readonly SimulatorPart[] {
  return [customResources(), admission(), openapi(), controllers, ...(nodes === undefined ? [] : [hollowNodes(nodes)])];
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

const hollowNodes = (options: NonNullable<WholeClusterOptions["nodes"]>): SimulatorPart => ({
  name: "nodes",
  start: async (simulator) => {
    const client = simulator.client({ userAgent: "kubelet" });
    const running = await startHollowNodes({ ...options, client, environment: simulator.environment });
    return () => running.stop();
  },
});
