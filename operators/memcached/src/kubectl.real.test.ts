// What people see of Memcacheds through kubectl, which is not there on a machine that has only Node.
import { join } from "node:path";
import { bothClusters, clusterWithKubectl } from "@memhog/simulator/testing";
import { describe, expect, it } from "vitest";
import { stageOn } from "./stage.fixture.ts";

describe.each(bothClusters)("the real kubectl on a %s cluster", (which) => {
  it("get, describe, explain, scale and wait work", async () => {
    await using on = await stageOn(await clusterWithKubectl(which));
    const { cluster } = on;
    await on.start();
    await on.ask("cache", { size: 3, version: "1.6.9" });
    await cluster.kubectl("wait", "mc/cache", "--for=condition=Available", "--timeout=60s");
    await on.settled("cache", 3);
    const [head, row] = (await cluster.kubectl("get", "mc")).split("\n");
    expect(head?.split(/ {2,}/)).toEqual(["NAME", "SIZE", "READY", "VERSION", "AVAILABLE", "STATUS", "AGE"]);
    expect(row).toMatch(/^cache +3 +3 +1\.6\.9 +True +Settled +\d+s$/);
    expect(await cluster.kubectl("explain", "memcached.spec.size")).toContain("Number of servers. Must be odd.");
    await cluster.eventually(
      () => cluster.kubectl("describe", "mc", "cache"),
      (text) => /Created .*a Deployment of 3 servers of version 1\.6\.9/.test(text),
    );
    await cluster.kubectl("scale", "mc/cache", "--replicas=5");
    await on.settled("cache", 5);
    // No webhook hears of this: the rule in the CRD does.
    await expect(cluster.kubectl("scale", "mc/cache", "--replicas=4")).rejects.toThrow("Cluster size must be an odd number");
  });

  it("the API server accepts every folder of deploy/ with kubectl apply -k, and the samples", async () => {
    await using on = await stageOn(await clusterWithKubectl(which));
    const deploy = join(import.meta.dirname, "../deploy");
    const dryRun = ["apply", "--dry-run=server", "--namespace=default"];
    for (const folder of ["", "crd", "operator", "cluster-wide", "with-webhooks"])
      await on.cluster.kubectl(...dryRun, "-k", join(deploy, folder));
    await on.cluster.kubectl(...dryRun, "-f", join(deploy, "samples"));
  });
});
