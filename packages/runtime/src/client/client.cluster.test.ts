import { testCluster } from "@memhog/localcluster/testing";
import { describe, expect, it } from "vitest";
import { CustomResourceDefinition } from "../objects/kinds/apiextensions.ts";
import { Deployment } from "../objects/kinds/apps.ts";
import { ConfigMap } from "../objects/kinds/core/config.ts";
import { Namespace } from "../objects/kinds/core/namespace.ts";
import { Pod } from "../objects/kinds/core/pod.ts";
import { dynamicKind } from "../objects/kinds/kind.ts";
import { PodDisruptionBudget } from "../objects/kinds/policy.ts";
import { clientOf } from "../testing/cluster-client.ts";
import { eventually } from "../testing/eventually.ts";
import * as errors from "./errors.ts";
import { evict } from "./evict.ts";

/** A namespace of one's own and a client. */
async function world() {
  const cluster = await testCluster();
  const client = await clientOf(cluster);
  const namespace = cluster.defaultNamespace;
  const close = async () => {
    await client[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  };
  return { client, namespace, ref: { namespace, name: "a" }, [Symbol.asyncDispose]: close };
}

const configMap = (namespace: string, name: string, data: Record<string, string> = {}): ConfigMap => ({
  metadata: { namespace, name },
  data,
});
const pod = (namespace: string, name: string): Pod => ({
  metadata: { namespace, name, labels: { app: "x" } },
  spec: {
    containers: [{ name: "main", image: "none", resources: { requests: { memory: "64Mi" }, limits: { memory: "128Mi" } } }],
  },
});
const deployment = (namespace: string, name: string): Deployment => ({
  metadata: { namespace, name },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "main", image: "none" }] } },
  },
});
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe("reading and writing objects", () => {
  it("creates, reads, finds, replaces and deletes", async () => {
    await using it = await world();
    const { client, namespace, ref } = it;
    const created = await client.create(ConfigMap, configMap(namespace, "a", { x: "1" }));
    expect(await client.get(ConfigMap, ref)).toEqual(created);
    const replaced = await client.update(ConfigMap, { ...created, data: { x: "2" } });
    expect(replaced.data).toEqual({ x: "2" });
    expect(await client.delete(ConfigMap, ref)).toBeUndefined();
    expect(await client.find(ConfigMap, ref)).toBeUndefined();
    expect(await failure(client.get(ConfigMap, ref))).toBeInstanceOf(errors.NotFoundError);
  });

  it("tells the refusals apart", async () => {
    await using it = await world();
    const { client, namespace, ref } = it;
    const created = await client.create(ConfigMap, configMap(namespace, "a"));
    expect(await failure(client.create(ConfigMap, configMap(namespace, "a")))).toBeInstanceOf(errors.AlreadyExistsError);
    await client.update(ConfigMap, { ...created, data: { x: "2" } });
    expect(await failure(client.update(ConfigMap, { ...created, data: { x: "3" } }))).toBeInstanceOf(errors.ConflictError);
    const invalid = await failure(client.create(ConfigMap, configMap(namespace, "Not_A_Name")));
    expect(invalid).toBeInstanceOf(errors.InvalidError);
    expect(invalid).toMatchObject({
      status: 422,
      causes: [{ field: "metadata.name" }],
      message: expect.stringContaining(`create ConfigMap ${namespace}/Not_A_Name`),
    });
    expect(await failure(client.delete(ConfigMap, ref, { uid: "00000000-0000-0000-0000-000000000000" }))).toBeInstanceOf(
      errors.ConflictError,
    );
    expect(await failure(client.delete(ConfigMap, ref, { resourceVersion: "1" }))).toBeInstanceOf(errors.ConflictError);
    expect(
      await failure(client.get(dynamicKind({ group: "no.such", version: "v1", kind: "X", plural: "xs", namespaced: true }), ref)),
    ).toBeInstanceOf(errors.NotFoundError);
  });

  it("pages through a list, and all pages are one list", async () => {
    await using it = await world();
    const { client, namespace } = it;
    const names = Array.from({ length: 7 }, (_, index) => `n${index}`);
    await Promise.all(names.map((name) => client.create(ConfigMap, configMap(namespace, name))));
    const labelled = { namespace, fieldSelector: "metadata.name!=kube-root-ca.crt" };
    const page = await client.list(ConfigMap, { namespace, limit: 3 });
    expect(page.items.length).toBe(3);
    expect(page.metadata).toMatchObject({ continue: expect.any(String), remainingItemCount: expect.any(Number) });
    expect(page.items[0]).toMatchObject({ apiVersion: "v1", kind: "ConfigMap" });
    const all = await Array.fromAsync(client.listAll(ConfigMap, { ...labelled, limit: 2 }), ({ metadata }) => metadata.name);
    expect(all).toEqual(names);
  });

  it("selects by label and by field", async () => {
    await using it = await world();
    const { client, namespace } = it;
    await client.create(ConfigMap, { metadata: { namespace, name: "a", labels: { tier: "x" } } });
    await client.create(ConfigMap, { metadata: { namespace, name: "b", labels: { tier: "y" } } });
    const names = async (options: object) =>
      (await client.list(ConfigMap, { namespace, ...options })).items.map(({ metadata }) => metadata.name);
    expect(await names({ labelSelector: "tier in (x, z)" })).toEqual(["a"]);
    expect(await names({ fieldSelector: "metadata.name=b" })).toEqual(["b"]);
  });

  it("stores nothing in a dry run", async () => {
    await using it = await world();
    const { client, namespace, ref } = it;
    const tried = await client.create(ConfigMap, configMap(namespace, "a"), { dryRun: true });
    expect(tried.metadata.uid).toBeTruthy();
    expect(await client.find(ConfigMap, ref)).toBeUndefined();
    await client.create(ConfigMap, configMap(namespace, "a"));
    await client.delete(ConfigMap, ref, { dryRun: true });
    expect(await client.find(ConfigMap, ref)).toBeDefined();
  });

  it("lets a finalizer keep what was deleted, and says so", async () => {
    await using it = await world();
    const { client, namespace, ref } = it;
    await client.create(ConfigMap, { metadata: { namespace, name: "a", finalizers: ["example.test/keep"] } });
    expect((await client.delete(ConfigMap, ref))?.metadata.deletionTimestamp).toBeTruthy();
    await client.patch(ConfigMap, ref, { type: "merge", body: { metadata: { finalizers: null } } });
    expect(await client.find(ConfigMap, ref)).toBeUndefined();
  });

  it("reaches cluster-scoped objects", async () => {
    await using it = await world();
    expect((await it.client.get(Namespace, { name: it.namespace })).metadata.name).toBe(it.namespace);
  });
});

describe("patches", () => {
  it("come in three kinds", async () => {
    await using it = await world();
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

  it("are a compare-and-swap with a test of the version", async () => {
    await using it = await world();
    const { client, namespace, ref } = it;
    const { metadata } = await client.create(ConfigMap, configMap(namespace, "a"));
    const swap = (resourceVersion: string) =>
      client.patch(ConfigMap, ref, { type: "merge", body: { metadata: { resourceVersion }, data: { x: resourceVersion } } });
    await swap(metadata.resourceVersion);
    expect(await failure(swap(metadata.resourceVersion))).toBeInstanceOf(errors.ConflictError);
  });
});

describe("server-side apply", () => {
  it("creates, changes, is the same twice, and owns only its fields", async () => {
    await using it = await world();
    const { client, namespace, ref } = it;
    const mine = { fieldManager: "mine" };
    const first = await client.apply(ConfigMap, configMap(namespace, "a", { x: "1", y: "1" }), mine);
    const again = await client.apply(ConfigMap, configMap(namespace, "a", { x: "1", y: "1" }), mine);
    expect(again.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    await client.apply(ConfigMap, configMap(namespace, "a", { z: "theirs" }), { fieldManager: "theirs" });
    await client.apply(ConfigMap, configMap(namespace, "a", { x: "2" }), mine);
    expect((await client.get(ConfigMap, ref)).data).toEqual({ x: "2", z: "theirs" });
  });

  it("is a conflict that names the other manager, unless forced", async () => {
    await using it = await world();
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

describe("subresources", () => {
  it("status changes only the status", async () => {
    await using it = await world();
    const { client, namespace } = it;
    const created = await client.create(Deployment, deployment(namespace, "web"));
    const status = { ...created, spec: { ...created.spec, replicas: 5 }, status: { observedGeneration: 1, replicas: 3 } };
    const updated = await client.update(Deployment, status as typeof created, { subresource: "status" });
    expect(updated).toMatchObject({ spec: { replicas: 0 }, status: { replicas: 3 } });
  });

  it("scale is read and written as a Scale", async () => {
    await using it = await world();
    const { client, namespace } = it;
    const ref = { namespace, name: "web" };
    await client.create(Deployment, deployment(namespace, "web"));
    const scale = await client.get(Deployment, ref, { subresource: "scale" });
    expect(scale).toMatchObject({ kind: "Scale", spec: {} });
    await client.update(Deployment, { ...scale, spec: { replicas: 2 } }, { subresource: "scale" });
    expect((await client.get(Deployment, ref)).spec.replicas).toBe(2);
  });

  it("eviction removes a pod that nobody protects, and not one that somebody does", async () => {
    await using it = await world();
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

  it("discovery says which there are", async () => {
    await using it = await world();
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

describe("kinds that nobody wrote down", () => {
  const Widget = dynamicKind({ group: "client.memhog.test", version: "v1", kind: "Widget", plural: "widgets", namespaced: true });
  const schema = {
    type: "object",
    properties: { spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
  } as const;
  const crd = {
    metadata: { name: "widgets.client.memhog.test" },
    spec: {
      group: Widget.group,
      scope: "Namespaced",
      names: { kind: "Widget", plural: "widgets" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  } as const;

  it("are created, watched and written back with every field they came with", async () => {
    await using it = await world();
    const { client, namespace, ref } = it;
    await client.apply(CustomResourceDefinition, crd as never, { fieldManager: "test" });
    await eventually(
      () => client.list(Widget, { namespace }),
      () => true,
    );
    const spec = { nested: { list: [1, "two", { three: null }] }, "odd key": "žluťoučký 🐎" };
    await client.create(Widget, { metadata: { namespace, name: "a" }, spec });
    const read = await client.get(Widget, ref);
    expect(read.spec).toEqual({ nested: { list: [1, "two", { three: null }] }, "odd key": "žluťoučký 🐎" });
    const written = await client.update(Widget, { ...read, metadata: { ...read.metadata, labels: { seen: "yes" } } });
    expect(written.spec).toEqual(read.spec);
    for await (const event of client.watch(Widget, { namespace })) {
      expect(event).toMatchObject({ type: "ADDED", object: { spec: read.spec } });
      break;
    }
  });
});
