// What stands around the API server in a cluster for tests: the same as around the real one in localcluster.
import { makePatching } from "../patch/patching.ts";
import type { SimulatorPart } from "../simulator.ts";

export function wholeCluster(): readonly SimulatorPart[] {
  return [patches];
}

const patches: SimulatorPart = {
  name: "patches",
  prepare: (core) => Object.assign(core, { patching: makePatching() }),
};
