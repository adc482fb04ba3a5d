// The API server validates Events strictly.
import { testCluster } from "@memhog/simulator/testing";
import { describe, expect, it } from "vitest";
import { silentLogger } from "../concurrency/environment.ts";
import { systemEnvironment } from "../concurrency/system-environment.ts";
import { referenceTo } from "../controller/reconcile.ts";
import { Event } from "../objects/kinds/access.ts";
import { ConfigMap, Namespace } from "../objects/kinds/core.ts";
import { clientOf } from "../testing/cluster-world.ts";
import { type EventOutcome, EventRecorder } from "./events.ts";

describe("events on an API server", () => {
  it("are accepted, and aggregated into one series", async () => {
    await using cluster = await testCluster();
    await using client = await clientOf(cluster);
    const namespace = cluster.defaultNamespace;
    const outcomes: EventOutcome[] = [];
    const recorder = new EventRecorder({
      ...{ client, environment: systemEnvironment(), log: silentLogger, controller: "gordon-operator", instance: "gordon-1" },
      onOutcome: (outcome) => outcomes.push(outcome),
    });
    const about = await client.create(ConfigMap, { metadata: { namespace, name: "a" } });
    const event = {
      regarding: referenceTo(ConfigMap, about),
      type: "Warning",
      reason: "ThresholdCrossed",
      message: "ü".repeat(2_000),
    } as const;
    recorder.record(event);
    await cluster.eventually(
      () => outcomes,
      (seen) => seen.includes("created"),
    );
    recorder.record(event);
    const seen = async () =>
      (await client.list(Event, { namespace })).items.filter(({ reason }) => reason === "ThresholdCrossed");
    const [only, ...others] = await cluster.eventually(seen, ([first]) => first?.series?.count === 2);
    expect(others).toEqual([]);
    expect(only).toMatchObject({ reportingController: "gordon-operator", regarding: { name: "a", uid: about.metadata.uid } });
    expect(outcomes).toEqual(["created", "updated"]);
  });

  it("about cluster-scoped objects are accepted", async () => {
    await using cluster = await testCluster();
    await using client = await clientOf(cluster);
    const outcomes: EventOutcome[] = [];
    const recorder = new EventRecorder({
      ...{ client, environment: systemEnvironment(), log: silentLogger, controller: "gordon-operator", instance: "gordon-1" },
      onOutcome: (outcome) => outcomes.push(outcome),
    });
    const about = await client.get(Namespace, { name: cluster.defaultNamespace });
    recorder.record({ regarding: referenceTo(Namespace, about), reason: "Looked", message: "at a namespace" });
    await cluster.eventually(
      () => outcomes,
      (all) => all.length > 0,
    );
    expect(outcomes).toEqual(["created"]);
  });
});
