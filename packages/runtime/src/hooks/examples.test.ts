// The example hooks on the simulator, with nodes that run pods.
import { simulate } from "@memhog/simulator/simulate";
import { describe, expect, it } from "vitest";
import type { Controller } from "../controller/controller.ts";
import { PersistentVolumeClaim, Service } from "../objects/kinds/core.ts";
import { Pod } from "../objects/kinds/pod.ts";
import { ReplicaSet, StatefulSet } from "../objects/kinds/workloads.ts";
import { type Kind, type KubernetesObject, ownerReferenceTo } from "../objects/object.ts";
import { seconds } from "../objects/time.ts";
import { anObject } from "../testing/builders.ts";
import { BlueGreen, blueGreens, CatSet, catSets, IndexedJob, indexedJobs, servicePerPod } from "./examples.fixture.ts";
import { ControllerRevision } from "./rollout.ts";

const namespace = "default";
const meta = (name: string) => ({ namespace, name });

async function world(controllers: readonly Controller[], objects: readonly KubernetesObject[], nodes = 2) {
  const running = await simulate({ controllers, objects, ...(nodes > 0 && { cluster: { nodes: { count: nodes } } }) });
  const { client, clock } = running;
  const turn = async (turns = 30) => {
    for (let at = 0; at < turns; at += 1) await clock.advance(seconds(1));
  };
  const names = async <T extends KubernetesObject>(kind: Kind<T>) =>
    (await client.list(kind, { namespace })).items
      .map(({ metadata }) => metadata.name)
      .filter((name) => name !== "kubernetes")
      .sort();
  const patch = (kind: Kind, name: string, body: object) => client.patch(kind, meta(name), { type: "merge", body });
  await turn();
  return { ...running, turn, names, patch, [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() };
}

const app = { matchLabels: { app: "web" } };

describe("blue-green", () => {
  const web = anObject(BlueGreen, { metadata: meta("web"), spec: { replicas: 2, image: "web:1", selector: app } });

  it("switches the Service when the new ReplicaSet is ready, and scales the old one down", async () => {
    await using on = await world([blueGreens], [web]);
    const colorOf = async () => (await on.client.get(Service, meta("web"))).spec?.selector?.color;
    expect([await colorOf(), await on.names(ReplicaSet)]).toEqual(["blue", ["web-blue", "web-green"]]);
    await on.patch(BlueGreen, "web", { spec: { image: "web:2" } });
    await on.turn();
    expect(await colorOf()).toBe("green");
    const { items } = await on.client.list(ReplicaSet, { namespace });
    const sizes = Object.fromEntries(items.map(({ metadata, spec }) => [metadata.name, spec.replicas]));
    expect(sizes).toEqual({ "web-blue": 0, "web-green": 2 });
    expect((await on.client.get(BlueGreen, meta("web"))).status).toMatchObject({ active: "green", observedGeneration: 2 });
    expect(on.errors).toEqual([]);
  });

  it("E1: a steady state costs no writes, and no dry runs", async () => {
    await using on = await world([blueGreens], [web]);
    await on.patch(BlueGreen, "web", { metadata: { labels: { once: "more" } } });
    await on.turn(5);
    on.journal.clear();
    for (let at = 0; at < 5; at += 1) {
      await on.patch(BlueGreen, "web", { metadata: { labels: { at: String(at) } } });
      await on.turn(2);
    }
    expect(on.journal.calls.filter(({ method, path }) => method !== "GET" && !path.includes("events"))).toEqual([]);
  });
});

describe("catset", () => {
  const template = (image: string) => ({ metadata: { labels: { app: "cat" } }, spec: { containers: [{ name: "main", image }] } });
  const cats = anObject(CatSet, {
    metadata: meta("cats"),
    spec: { replicas: 3, selector: { matchLabels: { app: "cat" } }, template: template("cat:1") },
  });
  const imagesIn = (pods: readonly Pod[]) => pods.map(({ spec }) => spec?.containers[0]?.image).sort();

  it("makes pods in order, rolls a new template out one by one, keeps the claims, and tears down in order", async () => {
    await using on = await world([catSets], [cats]);
    await on.turn();
    expect(await on.names(Pod)).toEqual(["cats-0", "cats-1", "cats-2"]);
    const before = (await on.client.list(PersistentVolumeClaim, { namespace })).items.map(({ metadata }) => metadata.uid);

    await on.patch(CatSet, "cats", { spec: { template: template("cat:2") } });
    const seen = new Set<string>();
    for (let at = 0; at < 120; at += 1) {
      await on.turn(1);
      const { items } = await on.client.list(Pod, { namespace });
      const ready = items.filter(({ status }) =>
        status?.conditions?.some((one) => one.type === "Ready" && one.status === "True"),
      );
      expect(ready.length).toBeGreaterThanOrEqual(2); // never two at the same time
      seen.add(imagesIn(items).join());
    }
    const { items } = await on.client.list(Pod, { namespace });
    expect(imagesIn(items)).toEqual(["cat:2", "cat:2", "cat:2"]);
    expect(seen.size).toBeGreaterThan(2); // old, new, and something between
    const after = (await on.client.list(PersistentVolumeClaim, { namespace })).items.map(({ metadata }) => metadata.uid);
    expect(after).toEqual(before);
    const status = (await on.client.get(CatSet, meta("cats"))).status as { conditions?: unknown };
    expect(status.conditions).toMatchObject([{ type: "Updated", status: "True", reason: "OnLatestRevision" }]);
    expect(await on.names(ControllerRevision)).toHaveLength(1);

    await on.client.delete(CatSet, meta("cats"));
    await on.turn(120);
    expect([await on.client.find(CatSet, meta("cats")), await on.names(Pod)]).toEqual([undefined, []]);
  });

  it("stops a rollout at the first pod that does not get ready, and says for what it waits", async () => {
    await using on = await world([catSets], [cats]);
    await on.turn();
    const broken = { ...template("cat:2"), spec: { ...template("cat:2").spec, nodeSelector: { no: "where" } } };
    await on.patch(CatSet, "cats", { spec: { template: broken } });
    await on.turn(60);
    const { items } = await on.client.list(Pod, { namespace });
    expect(imagesIn(items)).toEqual(["cat:1", "cat:1", "cat:2"]);
    const status = (await on.client.get(CatSet, meta("cats"))).status as { conditions?: readonly { message?: string }[] };
    expect(status.conditions).toMatchObject([{ type: "Updated", status: "False", reason: "RolloutWaiting" }]);
    expect(await on.names(ControllerRevision)).toHaveLength(2);

    // A pod of the old revision that is lost comes back as it was, not as the broken one.
    await on.client.delete(Pod, meta("cats-0"));
    await on.turn(60);
    expect(imagesIn((await on.client.list(Pod, { namespace })).items)).toEqual(["cat:1", "cat:1", "cat:2"]);
  });

  it("fields of other managers do not cause a recreation", async () => {
    await using on = await world([catSets], [cats]);
    await on.turn();
    const uids = async () => (await on.client.list(Pod, { namespace })).items.map(({ metadata }) => metadata.uid);
    const before = await uids();
    await on.patch(Pod, "cats-1", { metadata: { labels: { sidecar: "injected" }, annotations: { by: "another" } } });
    await on.turn();
    expect(await uids()).toEqual(before);
  });

  it("adopts a pod that its selector selects, and releases one that it no longer selects", async () => {
    await using on = await world([catSets], [cats]);
    await on.turn();
    await on.patch(Pod, "cats-2", { metadata: { labels: { app: "dog" } } });
    await on.turn(5);
    expect((await on.client.get(Pod, meta("cats-2"))).metadata.ownerReferences ?? []).toEqual([]);
    await on.patch(Pod, "cats-2", { metadata: { labels: { app: "cat" } } });
    await on.turn(5);
    const owner = await on.client.get(CatSet, meta("cats"));
    expect((await on.client.get(Pod, meta("cats-2"))).metadata.ownerReferences).toEqual([ownerReferenceTo(owner, CatSet)]);
  });
});

describe("indexed job", () => {
  it("runs as many pods as allowed, and finds its children without a selector", async () => {
    const job = anObject(IndexedJob, { metadata: meta("sum"), spec: { completions: 3, parallelism: 2, image: "sum" } });
    await using on = await world([indexedJobs], [job], 0); // the test reports what a node would
    expect(await on.names(Pod)).toEqual(["sum-0", "sum-1"]);
    const finish = (name: string) =>
      on.client.patch(Pod, meta(name), { type: "merge", body: { status: { phase: "Succeeded" } } }, { subresource: "status" });
    await finish("sum-0");
    await on.turn(5);
    expect(await on.names(Pod)).toEqual(["sum-0", "sum-1", "sum-2"]);
    expect((await on.client.get(IndexedJob, meta("sum"))).status).toMatchObject({ succeeded: 1, active: 2 });
  });
});

describe("service per pod", () => {
  const template = { metadata: { labels: { app: "db" } }, spec: { containers: [{ name: "main", image: "db" }] } };
  const set = (name: string, annotations: Record<string, string>) =>
    anObject(StatefulSet, {
      metadata: { ...meta(name), annotations },
      spec: { replicas: 2, selector: { matchLabels: { app: "db" } }, serviceName: name, template },
    });

  it("attaches Services to objects that ask for it, and removes them when they no longer do", async () => {
    await using on = await world(servicePerPod, [set("db", { "service-per-pod": "5432" }), set("other", {})]);
    expect(await on.names(Service)).toEqual(["db-0", "db-1"]);
    expect((await on.client.get(StatefulSet, meta("db"))).metadata.annotations).toMatchObject({ "services-made": "2" });
    expect((await on.client.get(StatefulSet, meta("other"))).metadata.finalizers).toBeUndefined();
    await on.patch(StatefulSet, "db", { spec: { replicas: 1 } });
    await on.turn(5);
    expect(await on.names(Service)).toEqual(["db-0"]);

    await on.patch(StatefulSet, "db", { metadata: { annotations: { "service-per-pod": null } } });
    await on.turn(5);
    const { metadata } = await on.client.get(StatefulSet, meta("db"));
    expect([await on.names(Service), metadata.finalizers, metadata.annotations?.["services-made"]]).toEqual([
      [],
      undefined,
      undefined,
    ]);
    expect(on.errors).toEqual([]);
  });
});
