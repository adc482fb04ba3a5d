// kubectl has its own idea of how to show Events. It is not there on a machine that has only Node, so this is for real clusters.
import { testCluster } from "@memhog/localcluster/testing";
import { expect, it } from "vitest";
import { silentLogger } from "../concurrency/logger.ts";
import { systemEnvironment } from "../concurrency/system-environment.ts";
import { referenceTo } from "../controller/object-events.ts";
import { ConfigMap } from "../objects/kinds/core/config.ts";
import { clientOf } from "../testing/cluster-client.ts";
import { EventRecorder } from "./events.ts";

it("the real kubectl shows events with what they are about", async () => {
  await using cluster = await testCluster();
  await using client = await clientOf(cluster);
  const who = { controller: "gordon-operator", instance: "gordon-1" };
  const recorder = new EventRecorder({ client, environment: systemEnvironment(), log: silentLogger, ...who });
  const about = await client.create(ConfigMap, { metadata: { namespace: cluster.defaultNamespace, name: "a" } });
  recorder.record({
    regarding: referenceTo(ConfigMap, about),
    type: "Warning",
    reason: "ThresholdCrossed",
    note: "288Mi of 384Mi",
  });
  const shown = () => cluster.kubectl("events", "--for", "configmap/a");
  const table = await cluster.eventually(shown, (text) => text.includes("ThresholdCrossed"));
  expect(table).toMatch(/Warning +ThresholdCrossed +ConfigMap\/a +288Mi of 384Mi/);
});
