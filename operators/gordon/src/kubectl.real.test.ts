// What people see of gordons through kubectl, which is not there on a machine that has only Node.
import { join } from "node:path";
import { bothClusters, clusterWithKubectl } from "@memhog/simulator/testing";
import { describe, expect, it } from "vitest";
import { namesOf, stageOn } from "./stage.fixture.ts";

describe.each(bothClusters)("the real kubectl on a %s cluster", (which) => {
  it("get, describe, explain, scale and wait work", async () => {
    await using on = await stageOn(await clusterWithKubectl(which));
    const { cluster } = on;
    await on.start();
    await on.ask("gordoncluster", 2);
    await on.settled("gordoncluster", 2);
    for (const pod of namesOf("gordoncluster", 2)) await on.say(pod, "Running");
    await cluster.kubectl("wait", "gn/gordoncluster", "--for=condition=Ready", "--timeout=60s");
    const [head, row] = (await cluster.kubectl("get", "gn")).split("\n");
    expect(head?.split(/ {2,}/)).toEqual(["NAME", "DESIRED", "READY", "STATUS", "AGE"]);
    expect(row).toMatch(/^gordoncluster +2 +2 +AllPodsReady +\d+s$/);
    expect(await cluster.kubectl("describe", "gn", "gordoncluster")).toMatch(
      /Pods:\n +gordon-gordoncluster-0\n +gordon-gordoncluster-1/,
    );
    expect(await cluster.kubectl("explain", "gordon.spec.gordon.replicas")).toContain("Number of gordons to keep running.");
    await cluster.kubectl("scale", "gn/gordoncluster", "--replicas=3");
    await on.settled("gordoncluster", 3);
    expect(await cluster.kubectl("get", "gn", "gordoncluster", "-o", "jsonpath={.status.selector}")).toBe(
      "app.kubernetes.io/name=gordon,app.kubernetes.io/instance=gordoncluster",
    );
  });

  it("the API server accepts every folder of deploy/ with kubectl apply -k, and the samples", async () => {
    await using on = await stageOn(await clusterWithKubectl(which));
    const deploy = join(import.meta.dirname, "../deploy");
    const dryRun = ["apply", "--dry-run=server", "--namespace=default"];
    for (const folder of ["", "crd", "operator", "cluster-wide"]) await on.cluster.kubectl(...dryRun, "-k", join(deploy, folder));
    await on.cluster.kubectl(...dryRun, "-f", join(deploy, "samples"));
  });
});
