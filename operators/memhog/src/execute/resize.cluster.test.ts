import { ConflictError, Node, Pod, type Stored } from "@memhog/runtime";
import { LimitRange, PodDisruptionBudget, ReplicaSet, ResourceQuota } from "@memhog/runtime/kinds";
import { describe, expect, it } from "vitest";
import { monitorAnnotation } from "../api/names.ts";
import { mib } from "../model/bytes.ts";
import { aRecord } from "../model/observed-app.fixture.ts";
import { aPlan } from "../model/plan.fixture.ts";
import type { Command, Intent, Shrink } from "../model/plan.ts";
import { executeShrink } from "./execute.ts";
import { doubled, intentOn, memory, ready, resourcesIn, stage } from "./stage.fixture.ts";

type Step = Extract<Command, { readonly do: "resize" }>["step"];
const resizeOf = (pod: Stored<Pod>, step: Step, different: Partial<Intent> = {}): Command => ({
  do: "resize",
  intent: intentOn(pod, different),
  resourceVersion: pod.metadata.resourceVersion,
  step,
});

/** With the error that makes the loop look again at once. */
const again = { outcome: "changed", error: expect.any(ConflictError) };

describe("a shrink in place", () => {
  const shrinkOf = ({ metadata: { name, uid } }: Stored<Pod>, state: Shrink["state"] = "Pending"): Shrink => ({
    ...{ pod: { name, uid }, container: "main", atMs: 0, state },
    from: { limit: mib(384), request: mib(256) },
    to: { limit: mib(300), request: mib(200) },
  });
  const run = (at: Awaited<ReturnType<typeof stage>>, shrink: Shrink, { metadata }: Stored<Pod>) => {
    const plan = aPlan({ record: aRecord({ shrinks: [shrink] }) });
    const shrinks = { verdicts: [], command: { shrink, resourceVersion: metadata.resourceVersion } };
    return executeShrink({ client: at.client }, { kind: "Pod", namespace: at.namespace, name: "modest" }, { ...plan, shrinks });
  };

  it("lowers request and limit, may be repeated (C2), and sets them back if the kubelet cannot apply them", async () => {
    await using at = await stage();
    const pod = await at.make("modest");
    expect(await run(at, shrinkOf(pod), pod)).toMatchObject({ outcome: "done" });
    expect(await run(at, shrinkOf(pod), pod), "with the old version").toMatchObject({ outcome: "done" });
    const lowered = await at.client.get(Pod, { namespace: at.namespace, name: "modest" });
    expect(resourcesIn(lowered.spec)).toEqual({ main: memory("200Mi", "300Mi") });
    expect(await run(at, shrinkOf(pod, "Reverting"), lowered)).toMatchObject({ outcome: "done" });
    expect(resourcesIn((await at.get("modest"))?.spec)).toEqual({ main: memory("256Mi", "384Mi") });
  });

  it("W1: changes nothing if the pod is not the one that was decided on", async () => {
    await using at = await stage();
    const pod = await at.make("modest");
    await at.client.patch(
      Pod,
      { namespace: at.namespace, name: "modest" },
      { type: "merge", body: { metadata: { labels: { a: "b" } } } },
    );
    expect(await run(at, shrinkOf(pod), pod)).toMatchObject(again);
    expect(resourcesIn((await at.get("modest"))?.spec)).toEqual({ main: memory("256Mi", "384Mi") });
  });

  it("is Refused if the API server rejects it, and tried again after a day", async () => {
    await using at = await stage();
    await at.client.create(LimitRange, {
      metadata: { namespace: at.namespace, name: "least" },
      spec: { limits: [{ type: "Container", min: { memory: "250Mi" } }] },
    });
    const pod = await at.make("modest");
    const outcome = await run(at, shrinkOf(pod), pod);
    expect(outcome?.record.shrinks).toMatchObject([{ state: "Refused" }]);
  });
});

describe("a resize in place", () => {
  it("raises the limits first and the requests in a second step, and may be repeated (C2)", async () => {
    await using at = await stage();
    const pod = await at.make("hungry");
    expect(await at.act(resizeOf(pod, "limits"))).toMatchObject({ outcome: "done" });
    const raised = await at.client.get(Pod, { namespace: at.namespace, name: "hungry" });
    expect(resourcesIn(raised.spec)).toEqual({ main: memory("256Mi", "768Mi") });

    // The answer of the first was lost: the same command again, about a version that is old by now.
    expect(await at.act(resizeOf(pod, "limits"))).toMatchObject({ outcome: "done" });
    expect((await at.get("hungry"))?.metadata.resourceVersion).toBe(raised.metadata.resourceVersion);

    expect(await at.act(resizeOf(raised, "requests"))).toMatchObject({ outcome: "done" });
    expect(resourcesIn((await at.get("hungry"))?.spec)).toEqual({ main: memory("512Mi", "768Mi") });
  });

  it("raises both at once where they must stay equal, sidecars too, and CPU not at all", async () => {
    await using at = await stage();
    const equal = (size: string) => ({ requests: { cpu: "1", memory: size }, limits: { cpu: "1", memory: size } });
    const pod = await at.make("hungry", {
      spec: {
        containers: [{ name: "main", image: "example.com/none", resources: equal("384Mi") }],
        initContainers: [{ name: "proxy", image: "example.com/none", restartPolicy: "Always", resources: equal("64Mi") }],
      },
    });
    const to = (container: string, size: number) => ({ ...doubled(container), to: { limit: mib(size), request: mib(size) } });
    const outcome = await at.act(resizeOf(pod, "both", { changes: [to("main", 768), to("proxy", 128)] }));
    expect(outcome).toMatchObject({ outcome: "done" });
    expect(resourcesIn((await at.get("hungry"))?.spec)).toEqual({ main: equal("768Mi"), proxy: equal("128Mi") });
  });

  it("takes back a request that the node has no room for, and never a limit", async () => {
    await using at = await stage();
    const pod = await at.make("hungry", {
      spec: { containers: [{ name: "main", image: "example.com/none", resources: memory("512Mi", "768Mi") }] },
    });
    const changes = [{ ...doubled("main"), to: { limit: mib(384), request: mib(256) } }];
    expect(await at.act(resizeOf(pod, "limits", { changes }))).toMatchObject({ message: expect.stringContaining("already") });
    expect(await at.act(resizeOf(pod, "requests", { changes }))).toMatchObject({ outcome: "done" });
    expect(resourcesIn((await at.get("hungry"))?.spec)).toEqual({ main: memory("256Mi", "768Mi") });
  });

  it("never lowers what somebody else has raised further", async () => {
    await using at = await stage();
    const pod = await at.make("hungry", {
      spec: { containers: [{ name: "main", image: "example.com/none", resources: memory("256Mi", "2Gi") }] },
    });
    expect(await at.act(resizeOf(pod, "both"))).toMatchObject({ outcome: "done" });
    expect(resourcesIn((await at.get("hungry"))?.spec)).toEqual({ main: memory("512Mi", "2Gi") });
  });

  it("of a pod that changed since the decision is not done (W1)", async () => {
    await using at = await stage();
    const pod = await at.make("hungry");
    await at.client.patch(
      Pod,
      { namespace: at.namespace, name: "hungry" },
      { type: "merge", body: { metadata: { labels: { a: "b" } } } },
    );
    expect(await at.act(resizeOf(pod, "limits"))).toMatchObject(again);
    expect(resourcesIn((await at.get("hungry"))?.spec)).toEqual({ main: memory("256Mi", "384Mi") });
  });

  it("of a pod that changes between the last look and the write is refused by the server (W1)", async () => {
    await using at = await stage();
    const pod = await at.make("hungry");
    const late: typeof at.client = {
      ...at.client,
      patch: async (...call) => {
        await at.say("hungry", { phase: "Running" });
        return at.client.patch(...call);
      },
    };
    expect(await at.act(resizeOf(pod, "limits"), { as: late })).toMatchObject(again);
    expect(resourcesIn((await at.get("hungry"))?.spec)).toEqual({ main: memory("256Mi", "384Mi") });
  });

  it("of a namesake is not done (W4)", async () => {
    await using at = await stage();
    const first = await at.make("hungry");
    await at.client.delete(Pod, { namespace: at.namespace, name: "hungry" });
    const second = await at.cluster.eventually(
      () => at.make("hungry"),
      () => true,
    );
    expect(await at.act({ ...resizeOf(second, "limits"), intent: intentOn(first) } as Command)).toMatchObject({
      outcome: "gone",
    });
    expect(resourcesIn((await at.get("hungry"))?.spec)).toEqual({ main: memory("256Mi", "384Mi") });
  });

  it.each([
    { name: 'the annotation "false"', value: "false" },
    { name: "the removal of the annotation", value: null },
    { name: "an annotation of any other value", value: "yes" },
  ])("is stopped by $name, even where the cache has not seen it yet (E4)", async ({ value }) => {
    await using at = await stage();
    await at.make("hungry");
    const off = await at.annotate("hungry", value);
    expect(await at.act(resizeOf(off, "limits"))).toMatchObject({ outcome: "stopped" });
    expect(resourcesIn((await at.get("hungry"))?.spec)).toEqual({ main: memory("256Mi", "384Mi") });
  });

  it("beyond a LimitRange or a quota is refused, by name (D5)", async () => {
    await using at = await stage();
    const pod = await at.make("hungry");
    const { client, namespace } = at;
    await client.create(ResourceQuota, { metadata: { namespace, name: "team" }, spec: { hard: { "limits.memory": "500Mi" } } });
    await at.cluster.eventually(
      () => client.get(ResourceQuota, { namespace, name: "team" }),
      ({ status }) => status?.used?.["limits.memory"] === "384Mi",
    );
    const outcome = await at.act(resizeOf(pod, "limits"));
    expect(outcome).toMatchObject({ outcome: "refused" });
    expect(outcome.message).toContain("exceeded quota: team");
    await client.delete(ResourceQuota, { namespace, name: "team" });
    const max = { memory: "400Mi" };
    await client.create(LimitRange, { metadata: { namespace, name: "small" }, spec: { limits: [{ type: "Container", max }] } });
    const ranged = await at.cluster.eventually(
      () => at.act(resizeOf(pod, "limits")),
      ({ message }) => message.includes("maximum memory usage per Container is 400Mi"),
    );
    expect(ranged.outcome).toBe("refused");
  });

  it("beyond the node is infeasible", async () => {
    await using at = await stage();
    const { client, namespace } = at;
    const name = `small-${namespace}`;
    const room = { cpu: "1", memory: "400Mi", pods: "10" };
    await client.create(Node, { metadata: { name } });
    await client.patch(
      Node,
      { name },
      { type: "merge", body: { status: { capacity: room, allocatable: room } } },
      { subresource: "status" },
    );
    const pod = await at.make("hungry", {
      spec: {
        nodeName: name,
        terminationGracePeriodSeconds: 0,
        containers: [{ name: "main", image: "example.com/none", resources: memory("256Mi", "384Mi") }],
      },
    });
    const outcome = await at.cluster.eventually(
      () => at.act(resizeOf(pod, "both")),
      ({ outcome }) => outcome !== "changed",
    );
    expect(outcome).toMatchObject({ outcome: "infeasible" });
    expect(outcome.message).toContain("node didn't have enough allocatable resources");
    await client.delete(Pod, { namespace, name: "hungry" }, { gracePeriodSeconds: 0 });
    await client.delete(Node, { name });
  });
});

const evictOf = (pod: Stored<Pod>): Command => ({
  do: "evict",
  intent: intentOn(pod, { method: "Template" }),
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
    expect(refused).toMatchObject({ outcome: "waits", message: expect.stringContaining("PodDisruptionBudget") });
    expect((await list()).every(({ metadata }) => metadata.deletionTimestamp === undefined)).toBe(true);

    await client.patch(PodDisruptionBudget, { namespace, name: "two" }, { type: "merge", body: { spec: { minAvailable: 1 } } });
    await cluster.eventually(budget, ({ status }) => status?.disruptionsAllowed === 1);
    expect(await at.act(evictOf(first), { kind: "ReplicaSet" })).toMatchObject({ outcome: "done" });
    await cluster.eventually(list, (left) => left.every(({ metadata }) => metadata.uid !== first.metadata.uid));
  });

  it("says so where two budgets cover the pod: only a person can mend that", async () => {
    await using at = await stage();
    const { client, namespace, cluster } = at;
    const made = await at.make("hungry", { metadata: { labels } });
    await at.say("hungry", ready);
    for (const name of ["one", "two"]) {
      const budget = { metadata: { namespace, name }, spec: { minAvailable: 0, selector: { matchLabels: labels } } };
      await client.create(PodDisruptionBudget, budget);
      const seen = () => client.get(PodDisruptionBudget, { namespace, name });
      await cluster.eventually(seen, ({ status }) => status?.currentHealthy === 1);
    }
    const pod = await client.get(Pod, { namespace, name: made.metadata.name });
    const outcome = await at.act(evictOf(pod));
    expect(outcome).toMatchObject({ outcome: "refused", message: expect.stringContaining("more than one PodDisruptionBudget") });
  });

  it("evicts the very pod in the very state that was seen, or none (D1)", async () => {
    await using at = await stage();
    const pod = await at.make("hungry");
    await at.say("hungry", { phase: "Pending", message: "something happened" });
    expect(await at.act(evictOf(pod))).toMatchObject({ outcome: "changed" });
    const other = { ...pod, metadata: { ...pod.metadata, uid: "00000000-0000-4000-8000-000000000000" } };
    expect(await at.act(evictOf(other))).toMatchObject({ outcome: "gone" });
    expect((await at.get("hungry"))?.metadata.deletionTimestamp).toBeUndefined();
  });
});
