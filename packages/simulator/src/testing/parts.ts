// What stands around the API server in a cluster for tests: the same as around the real one in localcluster.
import { silentLogger } from "@memhog/runtime";
import { startControllers } from "../controllers/controllers.ts";
import { customResources } from "../custom-resources/custom-resources.ts";
import type { SimulatorPart } from "../simulator.ts";

export function wholeCluster(): readonly SimulatorPart[] {
  return [customResources(), controllers];
}

const controllers: SimulatorPart = {
  name: "controllers",
  start: async (simulator) => {
    const client = simulator.client({ userAgent: "kube-controller-manager" });
    const running = await startControllers({ client, environment: simulator.environment, log: silentLogger });
    return () => running.stop();
  },
};
