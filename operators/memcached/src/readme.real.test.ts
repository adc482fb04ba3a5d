// The README is true: the program is started as it says, its commands are run, and they say what it shows.
import { join } from "node:path";
import { comparable, startProgram, stepsIn } from "@memhog/localcluster/testing";
import { bothClusters, clusterWithKubectl } from "@memhog/simulator/testing";
import { expect, it } from "vitest";
import { stageOn } from "./stage.fixture.ts";

const main = join(import.meta.dirname, "main.ts");
const nowhere = ["--metrics-bind-address=0", "--health-probe-bind-address=0"];

it.each(bothClusters)("the commands of the README print what it shows, with the real kubectl on a %s cluster", async (which) => {
  await using on = await stageOn(await clusterWithKubectl(which));
  const here = ["--kubeconfig", on.cluster.kubeconfig, "--namespace", on.namespace];
  await using _program = startProgram(main, ...here, "--install-crds", ...nowhere);
  for (const { command, says } of await stepsIn(join(import.meta.dirname, "../README.md"))) {
    const [program, ...args] = command.split(" ");
    expect(program).toBe("kubectl");
    const said = await on.cluster
      .kubectl(...args)
      .catch((error: { stderr?: string; message: string }) => error.stderr ?? error.message);
    expect(comparable(said), command).toContain(says);
  }
});
