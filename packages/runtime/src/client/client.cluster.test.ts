import { describe, expect, it } from "vitest";
import { ConfigMap, Namespace } from "../objects/kinds/core.ts";
import { CustomResourceDefinition } from "../objects/kinds/extension.ts";
import { dynamicKind } from "../objects/kinds/kind.ts";
import { clusterWorld } from "../testing/cluster-world.fixture.ts";
import { failure } from "../testing/cluster-world.ts";
import { eventually } from "../testing/eventually.ts";
import * as errors from "./errors.ts";

const configMap = (namespace: string, name: string, data: Record<string, string> = {}): ConfigMap => ({
  metadata: { namespace, name },
  data,
});

describe("reading and writing objects", () => {
  it("creates, reads, finds, replaces and deletes", async () => {
    await using it = await clusterWorld();
    const { client, namespace, ref } = it;
    const created = await client.create(ConfigMap, configMap(namespace, "a", { x: "1" }));
    expect(await client.get(ConfigMap, ref)).toEqual(created);
    const replaced = await client.update(ConfigMap, { ...created, data: { x: "2" } });
    expect(replaced.data).toEqual({ x: "2" });
    expect(await client.delete(ConfigMap, ref)).toBeUndefined();
    expect(await client.find(ConfigMap, ref)).toBeUndefined();
    expect(await failure(client.get(ConfigMap, ref))).toBeInstanceOf(errors.NotFoundError);
  });

  it("throws a separate error class for each rejection", async () => {
    await using it = await clusterWorld();
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

  it("reads a list in pages, which together are the whole list", async () => {
    await using it = await clusterWorld();
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
    await using it = await clusterWorld();
    const { client, namespace } = it;
    await client.create(ConfigMap, { metadata: { namespace, name: "a", labels: { tier: "x" } } });
    await client.create(ConfigMap, { metadata: { namespace, name: "b", labels: { tier: "y" } } });
    const names = async (options: object) =>
      (await client.list(ConfigMap, { namespace, ...options })).items.map(({ metadata }) => metadata.name);
    expect(await names({ labelSelector: "tier in (x, z)" })).toEqual(["a"]);
    expect(await names({ fieldSelector: "metadata.name=b" })).toEqual(["b"]);
  });

  it("stores nothing in a dry run", async () => {
    await using it = await clusterWorld();
    const { client, namespace, ref } = it;
    const tried = await client.create(ConfigMap, configMap(namespace, "a"), { dryRun: true });
    expect(tried.metadata.uid).toBeTruthy();
    expect(await client.find(ConfigMap, ref)).toBeUndefined();
    await client.create(ConfigMap, configMap(namespace, "a"));
    await client.delete(ConfigMap, ref, { dryRun: true });
    expect(await client.find(ConfigMap, ref)).toBeDefined();
  });

  it("reports that a finalizer keeps a deleted object", async () => {
    await using it = await clusterWorld();
    const { client, namespace, ref } = it;
    await client.create(ConfigMap, { metadata: { namespace, name: "a", finalizers: ["example.test/keep"] } });
    expect((await client.delete(ConfigMap, ref))?.metadata.deletionTimestamp).toBeTruthy();
    await client.patch(ConfigMap, ref, { type: "merge", body: { metadata: { finalizers: null } } });
    expect(await client.find(ConfigMap, ref)).toBeUndefined();
  });

  it("reaches cluster-scoped objects", async () => {
    await using it = await clusterWorld();
    expect((await it.client.get(Namespace, { name: it.namespace })).metadata.name).toBe(it.namespace);
  });
});

describe("kinds without a type", () => {
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

  it("are created, watched and updated without losing fields", async () => {
    await using it = await clusterWorld();
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
