import { describe, expect, it } from "vitest";
import { CustomResourceDefinition } from "../objects/kinds/apiextensions.ts";
import { dynamicKind } from "../objects/kinds/kind.ts";
import { clusterWorld } from "../testing/cluster-world.ts";
import { eventually } from "../testing/eventually.ts";

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
