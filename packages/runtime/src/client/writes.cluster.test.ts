import { describe, expect, it } from "vitest";
import { Deployment } from "../objects/kinds/apps.ts";
import { ConfigMap } from "../objects/kinds/core/config.ts";
import { clusterWorld, failure } from "../testing/cluster-world.ts";
import * as errors from "./errors.ts";

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
  it("come in three kinds", async () => {
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

  it("are a compare-and-swap with a test of the version", async () => {
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
  it("creates, changes, is the same twice, and owns only its fields", async () => {
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

  it("is a conflict that names the other manager, unless forced", async () => {
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
