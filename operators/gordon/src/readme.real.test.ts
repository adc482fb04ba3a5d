// The README is true: the program is started as it says, its commands are run, and they say what it shows.
import { join } from "node:path";
import { comparable, startProgram, stepsIn } from "@memhog/localcluster/testing";
import { Pod } from "@memhog/runtime";
import { eventually } from "@memhog/runtime/testing";
import { bothClusters, clusterWithKubectl } from "@memhog/simulator/testing";
import { expect, it } from "vitest";
import { stageOn } from "./stage.fixture.ts";

const main = join(import.meta.dirname, "main.ts");
const nowhere = ["--metrics-bind-address=0", "--health-probe-bind-address=0"];

it.each(bothClusters)("the commands of the README print what it shows, with the real kubectl on a %s cluster", async (which) => {
  await using on = await stageOn(await clusterWithKubectl(which));
  const here = ["--kubeconfig", on.cluster.kubeconfig, "--namespace", on.namespace];
  await using _program = startProgram(main, ...here, "--install-crds", ...nowhere);
  const playing = new AbortController();
  // Where there is no node: every pod is said to run.
  const kubelet = eventually(
    async () => {
      const { items } = await on.client.list(Pod, { namespace: on.namespace });
      for (const { metadata, status } of items)
        if (status?.phase === "Pending") await on.say(metadata.name, "Running").catch(() => {});
    },
    () => false,
    { signal: playing.signal, timeoutMs: Number.POSITIVE_INFINITY },
  ).catch(() => {});
  try {
    for (const { command, says } of await stepsIn(join(import.meta.dirname, "../README.md"))) {
      const [program, ...args] = command.split(" ");
      expect(program).toBe("kubectl");
      expect(comparable(await on.cluster.kubectl(...args)), command).toBe(says);
    }
  } finally {
    playing.abort(new Error("over"));
    await kubelet;
  }
});
