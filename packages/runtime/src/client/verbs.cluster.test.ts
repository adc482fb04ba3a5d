import { describe, expect, it } from "vitest";
import { ConfigMap } from "../objects/kinds/core.ts";
import { dynamicKind } from "../objects/kinds/kind.ts";
import { Pod } from "../objects/kinds/pod.ts";
import { PodDisruptionBudget } from "../objects/kinds/scaling.ts";
import { Deployment } from "../objects/kinds/workloads.ts";
import { clusterWorld } from "../testing/cluster-world.fixture.ts";
import { failure } from "../testing/cluster-world.ts";
import { eventually } from "../testing/eventually.ts";
import * as errors from "./errors.ts";
import { evict } from "./verbs.ts";

const configMap = (namespace: string, name: string, data: Record<string, string> = {}): ConfigMap => ({
  metadata: { namespace, name },
  data,
});
const deployment = (namespace: string, name: string): Deployment => ({
  metadata: { namespace, name },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "main", image: "none" }] } },
  },
});

describe("patches", () => {
  it("work in three formats", async () => {
    await using it = await clusterWorld();
    const { client, namespace } = it;
    const ref = { namespace, name: "web" };
    await client.create(Deployment, deployment(namespace, "web"));
    const merged = await client.patch(Deployment, ref, { type: "merge", body: { metadata: { labels: { a: "1" } } } });
    expect(merged.metadata.labels).toEqual({ a: "1" });
    // A strategic patch merges the list of containers by name; a merge patch would have replaced it.
    const body = { spec: { template: { spec: { containers: [{ name: "second", image: "none" }] } } } };
    const strategic = await client.patch(Deployment, ref, { type: "strategic", body });
    expect(strategic.spec.template.spec?.containers.map(({ name }) => name).toSorted()).toEqual(["main", "second"]);
    const json = await client.patch(Deployment, ref, {
      type: "json",
      body: [{ op: "replace", path: "/metadata/labels/a", value: "2" }],
    });
    expect(json.metadata.labels).toEqual({ a: "2" });
  });

  it("are a compare-and-swap with a test operation on resourceVersion", async () => {
    await using it = await clusterWorld();
    const { client, namespace, ref } = it;
    const { metadata } = await client.create(ConfigMap, configMap(namespace, "a"));
    const swap = (resourceVersion: string) =>
      client.patch(ConfigMap, ref, { type: "merge", body: { metadata: { resourceVersion }, data: { x: resourceVersion } } });
    await swap(metadata.resourceVersion);
    expect(await failure(swap(metadata.resourceVersion))).toBeInstanceOf(errors.ConflictError);
  });
});

describe("server-side apply", () => {
  it("creates, changes, is idempotent, and owns only its fields", async () => {
    await using it = await clusterWorld();
    const { client, namespace, ref } = it;
    const mine = { fieldManager: "mine" };
    const first = await client.apply(ConfigMap, configMap(namespace, "a", { x: "1", y: "1" }), mine);
    const again = await client.apply(ConfigMap, configMap(namespace, "a", { x: "1", y: "1" }), mine);
    expect(again.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    await client.apply(ConfigMap, configMap(namespace, "a", { z: "theirs" }), { fieldManager: "theirs" });
    await client.apply(ConfigMap, configMap(namespace, "a", { x: "2" }), mine);
    expect((await client.get(ConfigMap, ref)).data).toEqual({ x: "2", z: "theirs" });
  });

  it("conflicts with an error that names the other field manager, unless forced", async () => {
    await using it = await clusterWorld();
    const { client, namespace } = it;
    await client.apply(ConfigMap, configMap(namespace, "a", { x: "1" }), { fieldManager: "theirs" });
    const conflict = await failure(client.apply(ConfigMap, configMap(namespace, "a", { x: "2" }), { fieldManager: "mine" }));
    expect(conflict).toBeInstanceOf(errors.ConflictError);
    expect(conflict).toMatchObject({
      causes: [{ reason: "FieldManagerConflict", field: ".data.x", message: expect.stringContaining("theirs") }],
    });
    const forced = await client.apply(ConfigMap, configMap(namespace, "a", { x: "2" }), { fieldManager: "mine", force: true });
    expect(forced.data).toEqual({ x: "2" });
  });
});

const pod = (namespace: string, name: string): Pod => ({
  metadata: { namespace, name, labels: { app: "x" } },
  spec: {
    containers: [{ name: "main", image: "none", resources: { requests: { memory: "64Mi" }, limits: { memory: "128Mi" } } }],
  },
});
const webDeployment = (namespace: string, name: string): Deployment => ({
  metadata: { namespace, name },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "main", image: "none" }] } },
  },
});

describe("subresources", () => {
  it("a write to status changes only the status", async () => {
    await using it = await clusterWorld();
    const { client, namespace } = it;
    const created = await client.create(Deployment, webDeployment(namespace, "web"));
    // Without a version: its controller writes the status too, and may come first.
    const { resourceVersion: _, ...metadata } = created.metadata;
    const status = {
      ...created,
      metadata,
      spec: { ...created.spec, replicas: 5 },
      status: { observedGeneration: 1, replicas: 3 },
    };
    const updated = await client.update(Deployment, status as typeof created, { subresource: "status" });
    expect(updated).toMatchObject({ spec: { replicas: 0 }, status: { replicas: 3 } });
  });

  it("scale reads and writes a Scale", async () => {
    await using it = await clusterWorld();
    const { client, namespace } = it;
    const ref = { namespace, name: "web" };
    await client.create(Deployment, webDeployment(namespace, "web"));
    const scale = await client.get(Deployment, ref, { subresource: "scale" });
    expect(scale).toMatchObject({ kind: "Scale", spec: {} });
    await client.update(Deployment, { ...scale, metadata: ref, spec: { replicas: 2 } }, { subresource: "scale" });
    expect((await client.get(Deployment, ref)).spec.replicas).toBe(2);
  });

  it("eviction removes an unprotected pod, and not one with a PodDisruptionBudget", async () => {
    await using it = await clusterWorld();
    const { client, namespace } = it;
    const protectedPod = await client.create(Pod, {
      ...pod(namespace, "protected"),
      metadata: { namespace, name: "protected", labels: { app: "y" } },
    });
    const running = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
    await client.patch(
      Pod,
      { namespace, name: "protected" },
      { type: "merge", body: { status: running } },
      { subresource: "status" },
    );
    await client.create(PodDisruptionBudget, {
      metadata: { namespace, name: "all" },
      spec: { minAvailable: 1, selector: { matchLabels: { app: "y" } } },
    });
    await client.create(Pod, pod(namespace, "free"));
    const namesake = { uid: "00000000-0000-0000-0000-000000000000" };
    expect(await failure(evict(client, { namespace, name: "free" }, namesake))).toBeInstanceOf(errors.ConflictError);
    await evict(client, { namespace, name: "free" });
    await eventually(
      () => client.find(Pod, { namespace, name: "free" }),
      (found) => found === undefined || found.metadata.deletionTimestamp !== undefined,
    );
    const refused = await failure(evict(client, { namespace, name: "protected" }, { uid: protectedPod.metadata.uid }));
    expect(refused).toBeInstanceOf(errors.TooManyRequestsError);
    expect(refused).toMatchObject({ causes: [{ reason: "DisruptionBudget" }] });
  });

  it("discovery lists them", async () => {
    await using it = await clusterWorld();
    const { discovery } = it.client;
    expect(await discovery.hasSubresource(Pod, "eviction")).toBe(true);
    expect(await discovery.hasSubresource(ConfigMap, "scale")).toBe(false);
    expect(await discovery.serves(Deployment)).toBe(true);
    expect(
      await discovery.serves(
        dynamicKind({ group: "apps", version: "v9", kind: "Deployment", plural: "deployments", namespaced: true }),
      ),
    ).toBe(false);
    expect(await discovery.kindOf({ apiVersion: "apps/v1", kind: "Deployment" })).toMatchObject({
      plural: "deployments",
      namespaced: true,
    });
    expect((await discovery.version()).minor).toBeGreaterThan(30);
  });
});
