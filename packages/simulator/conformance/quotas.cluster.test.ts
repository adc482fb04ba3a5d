// Workloads whose pods a ResourceQuota rejects: the controller reports it once and keeps trying without writing in a loop.
import { describe, expect, it } from "vitest";
import { container, Deployment, deployment, Event, memory, ReplicaSet, ResourceQuota, StatefulSet } from "./kinds.ts";
import { at, type Loose, merge, world } from "./world.ts";

const here = world();

/** A namespace whose quota allows two pods of 64Mi. */
async function quotaNamespace(): Promise<string> {
  const namespace = await here.cluster.namespace();
  const quota = await here.make(ResourceQuota, {
    metadata: { namespace, name: "quota" },
    spec: { hard: { "requests.memory": "128Mi" } },
  });
  await here.cluster.eventually(
    () => here.client.get(ResourceQuota, at(quota)),
    ({ status }) => status?.hard !== undefined,
  );
  return namespace;
}

const template = { metadata: { labels: { app: "x" } }, spec: { containers: [container({ resources: memory("64Mi", "64Mi") })] } };
const selector = { matchLabels: { app: "x" } };
const failureOf = ({ status }: Loose) => status?.conditions?.find(({ type }: Loose) => type === "ReplicaFailure");

const refusalsIn = async (namespace: string) =>
  (await here.client.list(Event, { namespace })).items.filter(({ reason }) => reason === "FailedCreate");

describe("a Deployment whose pods a quota rejects", () => {
  it("reports the first rejection in a condition and does not rewrite it on later attempts", async () => {
    const namespace = await quotaNamespace();
    await here.make(Deployment, deployment({ metadata: { namespace, name: "web" }, spec: { replicas: 3, selector, template } }));
    const replicaSet = async () => {
      const { items } = await here.client.list(ReplicaSet, { namespace });
      if (items[0] === undefined) throw new Error("expected a ReplicaSet, found none");
      return items[0];
    };
    const first = await here.cluster.eventually(replicaSet, (set) => set.status?.replicas === 2 && failureOf(set) !== undefined);
    expect(failureOf(first)).toMatchObject({ status: "True", reason: "FailedCreate" });
    expect(failureOf(first).message).toContain(
      "exceeded quota: quota, requested: requests.memory=64Mi, used: requests.memory=128Mi, limited: requests.memory=128Mi",
    );
    const reported = await here.cluster.eventually(
      () => here.client.get(Deployment, { namespace, name: "web" }),
      (found) => failureOf(found) !== undefined,
    );
    expect(failureOf(reported)).toMatchObject({ reason: "FailedCreate", message: failureOf(first).message });

    const before = (await refusalsIn(namespace)).length;
    await here.client.patch(ReplicaSet, at(first), merge({ metadata: { annotations: { touched: "true" } } }));
    await here.cluster.eventually(
      () => refusalsIn(namespace),
      (events) => events.length > before,
    );
    expect(failureOf(await replicaSet())).toEqual(failureOf(first));
  });
});

describe("a StatefulSet whose pods a quota rejects", () => {
  it("reports the pods it has and records an event", async () => {
    const namespace = await quotaNamespace();
    const spec = { replicas: 3, podManagementPolicy: "Parallel", serviceName: "x", selector, template };
    const made = await here.make(StatefulSet, { metadata: { namespace, name: "db" }, spec });
    await here.cluster.eventually(
      () => here.client.get(StatefulSet, at(made)),
      ({ status }) => status?.replicas === 2 && status.observedGeneration === 1,
    );
    await here.cluster.eventually(
      () => refusalsIn(namespace),
      (events) => events.length > 0,
    );
  });
});
