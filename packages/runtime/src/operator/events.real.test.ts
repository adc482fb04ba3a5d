// Requires kubectl, so this runs only with the real clusters.
import { testCluster } from "@memhog/localcluster/testing";
import { expect, it } from "vitest";
import { silentLogger } from "../concurrency/environment.ts";
import { systemEnvironment } from "../concurrency/system-environment.ts";
import { referenceTo } from "../controller/reconcile.ts";
import { ConfigMap } from "../objects/kinds/core.ts";
import { clientOf } from "../testing/cluster-world.ts";
import { EventRecorder } from "./events.ts";

it("kubectl shows events with the object that they are about", async () => {
  await using cluster = await testCluster();
  await using client = await clientOf(cluster);
  const who = { controller: "gordon-operator", instance: "gordon-1" };
  const recorder = new EventRecorder({ client, environment: systemEnvironment(), log: silentLogger, ...who });
  const about = await client.create(ConfigMap, { metadata: { namespace: cluster.defaultNamespace, name: "a" } });
  recorder.record({
    regarding: referenceTo(ConfigMap, about),
    type: "Warning",
    reason: "ThresholdCrossed",
    message: "288Mi of 384Mi",
  });
  const shown = () => cluster.kubectl("events", "--for", "configmap/a");
  const table = await cluster.eventually(shown, (text) => text.includes("ThresholdCrossed"));
  expect(table).toMatch(/Warning +ThresholdCrossed +ConfigMap\/a +288Mi of 384Mi/);
});
