import { Pod, PodDisruptionBudget, ReplicaSet, type Stored } from "@memhog/runtime";
import { describe, expect, it } from "vitest";
import { monitorAnnotation } from "../api/names.ts";
import type { Command } from "../model/plan.ts";
import { intentOn, memory, ready, stage } from "./stage.fixture.ts";

const evictOf = (pod: Stored<Pod>): Command => ({
  do: "evict",
  intent: intentOn(pod, { road: "Template" }),
  name: pod.metadata.name,
  uid: pod.metadata.uid,
  resourceVersion: pod.metadata.resourceVersion,
});

const labels = { app: "hungry" };
const spec = {
  schedulerName: "nobody",
  terminationGracePeriodSeconds: 0,
  containers: [{ name: "main", image: "example.com/none", resources: memory("256Mi", "384Mi") }],
};

describe("evicting a pod of an old template", () => {
  it("asks the disruption budget, waits as long as it says no, and goes on when it allows it (D1)", async () => {
    await using at = await stage();
    const { client, namespace, cluster } = at;
    const template = { metadata: { labels, annotations: { [monitorAnnotation]: "true" } }, spec };
    await client.create(ReplicaSet, {
      metadata: { namespace, name: "hungry" },
      spec: { replicas: 2, selector: { matchLabels: labels }, template },
    });
    await client.create(PodDisruptionBudget, {
      metadata: { namespace, name: "two" },
      spec: { minAvailable: 2, selector: { matchLabels: labels } },
    });
    const list = async () => (await client.list(Pod, { namespace })).items;
    const pods = await cluster.eventually(list, ({ length }) => length === 2);
    for (const { metadata } of pods) await at.say(metadata.name, ready);
    const budget = () => client.get(PodDisruptionBudget, { namespace, name: "two" });
    await cluster.eventually(budget, ({ status }) => status?.currentHealthy === 2);
    const first = await client.get(Pod, { namespace, name: pods[0]?.metadata.name ?? "" });

    const refused = await at.act(evictOf(first), { kind: "ReplicaSet" });
    expect(refused).toMatchObject({ ended: "waits", detail: expect.stringContaining("PodDisruptionBudget") });
    expect((await list()).every(({ metadata }) => metadata.deletionTimestamp === undefined)).toBe(true);

    await client.patch(PodDisruptionBudget, { namespace, name: "two" }, { type: "merge", body: { spec: { minAvailable: 1 } } });
    await cluster.eventually(budget, ({ status }) => status?.disruptionsAllowed === 1);
    expect(await at.act(evictOf(first), { kind: "ReplicaSet" })).toMatchObject({ ended: "done" });
    await cluster.eventually(list, (left) => left.every(({ metadata }) => metadata.uid !== first.metadata.uid));
  });

  it("evicts the very pod in the very state that was seen, or none (D1)", async () => {
    await using at = await stage();
    const pod = await at.make("hungry");
    await at.say("hungry", { phase: "Pending", message: "something happened" });
    expect(await at.act(evictOf(pod))).toMatchObject({ ended: "changed" });
    const other = { ...pod, metadata: { ...pod.metadata, uid: "00000000-0000-4000-8000-000000000000" } };
    expect(await at.act(evictOf(other))).toMatchObject({ ended: "gone" });
    expect((await at.get("hungry"))?.metadata.deletionTimestamp).toBeUndefined();
  });
});
