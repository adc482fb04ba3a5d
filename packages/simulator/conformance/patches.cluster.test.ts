// JSON, merge and strategic-merge patches.
import { describe, expect, it } from "vitest";
import { ConfigMap, container, Deployment, deployment, Pod, pod, Service } from "./kinds.ts";
import { at, json, merge, refusal, strategic, world } from "./world.ts";

const here = world();

describe("JSON patch", () => {
  const data = { a: "1", b: "2" };
  it.each([
    { name: "adds a value", operations: [{ op: "add", path: "/data/c", value: "3" }], leaves: { a: "1", b: "2", c: "3" } },
    {
      name: "replaces an existing value with add",
      operations: [{ op: "add", path: "/data/a", value: "3" }],
      leaves: { a: "3", b: "2" },
    },
    { name: "replaces a value", operations: [{ op: "replace", path: "/data/a", value: "3" }], leaves: { a: "3", b: "2" } },
    { name: "removes a value", operations: [{ op: "remove", path: "/data/a" }], leaves: { b: "2" } },
    { name: "moves a value", operations: [{ op: "move", from: "/data/a", path: "/data/c" }], leaves: { b: "2", c: "1" } },
    {
      name: "copies a value",
      operations: [{ op: "copy", from: "/data/a", path: "/data/c" }],
      leaves: { a: "1", b: "2", c: "1" },
    },
    {
      name: "continues after a successful test",
      operations: [
        { op: "test", path: "/data/a", value: "1" },
        { op: "remove", path: "/data/b" },
      ],
      leaves: { a: "1" },
    },
    { name: "decodes ~1 as a slash", operations: [{ op: "add", path: "/data/x~1y", value: "3" }], invalid: true },
  ])("$name", async ({ operations, leaves, invalid }) => {
    const made = await here.make(ConfigMap, { data });
    const patched = here.client.patch(ConfigMap, at(made), json(...operations));
    if (invalid) expect((await refusal(patched)).causes).toMatchObject([{ field: "data[x/y]" }]);
    else expect((await patched).data).toEqual(leaves);
  });

  it("changes nothing if a test fails", async () => {
    const made = await here.make(ConfigMap, { data });
    const operations = [
      { op: "replace", path: "/data/a", value: "3" },
      { op: "test", path: "/data/b", value: "no" },
    ];
    const refused = await refusal(here.client.patch(ConfigMap, at(made), json(...operations)));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.said).toBe("the server rejected our request due to an error in our request");
    expect(await here.client.get(ConfigMap, at(made))).toEqual(made);
  });

  it("is rejected if it removes a value that does not exist", async () => {
    const made = await here.make(ConfigMap, { data });
    const refused = await refusal(here.client.patch(ConfigMap, at(made), json({ op: "remove", path: "/data/none" })));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
  });

  it("appends to a list with - and inserts at an index", async () => {
    const made = await here.make(Pod, pod({ spec: { tolerations: [{ key: "b", operator: "Exists" }] } }));
    const toleration = (key: string) => ({ key, operator: "Exists" });
    const operations = [{ op: "add", path: "/spec/tolerations/-", value: toleration("c") }];
    const patched = await here.client.patch(Pod, at(made), json(...operations));
    expect(patched.spec.tolerations.map(({ key }: { key: string }) => key)).toEqual(expect.arrayContaining(["b", "c"]));
    expect(patched.spec.tolerations.at(-1)).toEqual(toleration("c"));
  });

  it("is rejected if it is not a list of operations", async () => {
    const made = await here.make(ConfigMap);
    const path = `/api/v1/namespaces/${here.namespace}/configmaps/${made.metadata.name}`;
    const headers = { "content-type": "application/json-patch+json" };
    const refused = await refusal(here.ask("PATCH", path, { headers, body: { a: 1 } }));
    expect(refused).toMatchObject({ status: 400, reason: "BadRequest" });
  });

  it("with a test of the resourceVersion is a compare-and-swap", async () => {
    const made = await here.make(ConfigMap, { data });
    const swap = json(
      { op: "test", path: "/metadata/resourceVersion", value: made.metadata.resourceVersion },
      { op: "replace", path: "/data/a", value: "9" },
    );
    await here.client.patch(ConfigMap, at(made), swap);
    expect((await refusal(here.client.patch(ConfigMap, at(made), swap))).status).toBe(422);
  });
});

describe("merge patch", () => {
  it.each([
    { name: "merges fields", patch: { data: { b: "3", c: "4" } }, leaves: { a: "1", b: "3", c: "4" } },
    { name: "removes fields that are null", patch: { data: { a: null } }, leaves: { b: "2" } },
    { name: "ignores null for a field that does not exist", patch: { data: { z: null } }, leaves: { a: "1", b: "2" } },
    { name: "removes a whole map", patch: { data: null }, leaves: undefined },
    { name: "changes nothing if it is empty", patch: {}, leaves: { a: "1", b: "2" } },
  ])("$name", async ({ patch, leaves }) => {
    const made = await here.make(ConfigMap, { data: { a: "1", b: "2" } });
    expect((await here.client.patch(ConfigMap, at(made), merge(patch))).data).toEqual(leaves);
  });

  it("replaces lists", async () => {
    const made = await here.make(Deployment, deployment());
    const containers = [container({ name: "other" })];
    const patched = await here.client.patch(Deployment, at(made), merge({ spec: { template: { spec: { containers } } } }));
    expect(patched.spec.template.spec.containers.map(({ name }: { name: string }) => name)).toEqual(["other"]);
  });

  it("with a resourceVersion is a compare-and-swap", async () => {
    const made = await here.make(ConfigMap);
    const swap = merge({ metadata: { resourceVersion: made.metadata.resourceVersion }, data: { a: "1" } });
    await here.client.patch(ConfigMap, at(made), swap);
    const refused = await refusal(here.client.patch(ConfigMap, at(made), swap));
    expect(refused).toMatchObject({ status: 409, reason: "Conflict" });
  });

  it("is rejected if the uid differs from the object's", async () => {
    const made = await here.make(ConfigMap);
    const uid = "00000000-0000-4000-8000-000000000000";
    const refused = await refusal(here.client.patch(ConfigMap, at(made), merge({ metadata: { uid }, data: { a: "1" } })));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.causes).toMatchObject([{ field: "metadata.uid" }]);
  });

  it("writes nothing if nothing changes", async () => {
    const made = await here.make(ConfigMap, { data: { a: "1" } });
    const patched = await here.client.patch(ConfigMap, at(made), merge({ data: { a: "1" } }));
    expect(patched.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
  });

  it("cannot change the name", async () => {
    const made = await here.make(ConfigMap);
    const refused = await refusal(here.client.patch(ConfigMap, at(made), merge({ metadata: { name: "other" } })));
    expect(refused.status).toBe(400);
  });

  it("returns NotFound if the object does not exist", async () => {
    const refused = await refusal(here.client.patch(ConfigMap, { namespace: here.namespace, name: "missing" }, merge({})));
    expect(refused).toMatchObject({ status: 404, reason: "NotFound" });
  });

  it("is rejected with the cause if the result is invalid", async () => {
    const made = await here.make(Deployment, deployment());
    const refused = await refusal(here.client.patch(Deployment, at(made), merge({ spec: { replicas: -1 } })));
    expect(refused.causes).toMatchObject([{ reason: "FieldValueInvalid", field: "spec.replicas" }]);
  });
});

describe("strategic merge patch", () => {
  const names = (patched: { spec: { template: { spec: { containers: readonly { name: string }[] } } } }) =>
    patched.spec.template.spec.containers.map(({ name }) => name);
  const template = (spec: object) => strategic({ spec: { template: { spec } } });

  it("merges containers by name", async () => {
    const made = await here.make(Deployment, deployment());
    const patched = await here.client.patch(
      Deployment,
      at(made),
      template({ containers: [{ name: "main", image: "example.com/new" }] }),
    );
    expect(patched.spec.template.spec.containers).toMatchObject([{ name: "main", image: "example.com/new" }]);
  });

  it("inserts a new container before the others", async () => {
    const made = await here.make(Deployment, deployment());
    const patched = await here.client.patch(Deployment, at(made), template({ containers: [container({ name: "second" })] }));
    expect(names(patched as never)).toEqual(["second", "main"]);
  });

  it("removes an item with $patch: delete", async () => {
    const made = await here.make(Deployment, deployment());
    await here.client.patch(Deployment, at(made), template({ containers: [container({ name: "second" })] }));
    const patched = await here.client.patch(Deployment, at(made), template({ containers: [{ name: "main", $patch: "delete" }] }));
    expect(names(patched as never)).toEqual(["second"]);
  });

  it("replaces a list with $patch: replace", async () => {
    const made = await here.make(Deployment, deployment());
    const containers = [container({ name: "only" }), { $patch: "replace" }];
    expect(names((await here.client.patch(Deployment, at(made), template({ containers }))) as never)).toEqual(["only"]);
  });

  it("replaces a map with $patch: replace", async () => {
    const made = await here.make(ConfigMap, { data: { a: "1", b: "2" } });
    const patched = await here.client.patch(ConfigMap, at(made), strategic({ data: { $patch: "replace", c: "3" } }));
    expect(patched.data).toEqual({ c: "3" });
  });

  it("sorts a list by $setElementOrder", async () => {
    const made = await here.make(Deployment, deployment());
    const order = { "$setElementOrder/containers": [{ name: "main" }, { name: "second" }] };
    const patched = await here.client.patch(
      Deployment,
      at(made),
      template({ ...order, containers: [container({ name: "second" })] }),
    );
    expect(names(patched as never)).toEqual(["main", "second"]);
  });

  it("keeps only the fields in $retainKeys", async () => {
    const made = await here.make(Deployment, deployment());
    const patched = await here.client.patch(
      Deployment,
      at(made),
      strategic({ spec: { strategy: { $retainKeys: ["type"], type: "Recreate" } } }),
    );
    expect(patched.spec.strategy).toEqual({ type: "Recreate" });
  });

  it("merges environment variables by name and ports by containerPort", async () => {
    const made = await here.make(
      Deployment,
      deployment({
        spec: {
          template: {
            metadata: { labels: { app: "x" } },
            spec: { containers: [container({ env: [{ name: "a", value: "1" }], ports: [{ containerPort: 80 }] })] },
          },
        },
      }),
    );
    const more = { name: "main", env: [{ name: "b", value: "2" }], ports: [{ containerPort: 80, name: "web" }] };
    const [main] = (await here.client.patch(Deployment, at(made), template({ containers: [more] }))).spec.template.spec
      .containers;
    expect(main.env).toEqual([
      { name: "b", value: "2" },
      { name: "a", value: "1" },
    ]);
    expect(main.ports).toEqual([{ containerPort: 80, name: "web", protocol: "TCP" }]);
  });

  it("merges the ports of a Service by port", async () => {
    const made = await here.make(Service, { spec: { ports: [{ port: 80, name: "a" }] } });
    const patched = await here.client.patch(Service, at(made), strategic({ spec: { ports: [{ port: 81, name: "b" }] } }));
    expect(patched.spec.ports.map(({ port }: { port: number }) => port)).toEqual([81, 80]);
  });

  it("merges finalizers as a set", async () => {
    const made = await here.make(ConfigMap, { metadata: { finalizers: ["example.test/a"] } });
    const patched = await here.client.patch(ConfigMap, at(made), strategic({ metadata: { finalizers: ["example.test/b"] } }));
    expect(patched.metadata.finalizers).toEqual(["example.test/b", "example.test/a"]);
    const removal = strategic({ metadata: { "$deleteFromPrimitiveList/finalizers": ["example.test/a", "example.test/b"] } });
    expect((await here.client.patch(ConfigMap, at(made), removal)).metadata.finalizers).toBeUndefined();
  });

  it("replaces a list without a merge key", async () => {
    const made = await here.make(Deployment, deployment());
    await here.client.patch(Deployment, at(made), template({ containers: [{ name: "main", args: ["a", "b"] }] }));
    const patched = await here.client.patch(Deployment, at(made), template({ containers: [{ name: "main", args: ["c"] }] }));
    expect(patched.spec.template.spec.containers[0].args).toEqual(["c"]);
  });

  it("is rejected if an item has no merge key", async () => {
    const made = await here.make(Deployment, deployment());
    const refused = await refusal(here.client.patch(Deployment, at(made), template({ containers: [{ image: "x" }] })));
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect(refused.said).toContain("does not contain declared merge key: name");
  });
});

describe("a patch of an unknown type", () => {
  it("is rejected", async () => {
    const made = await here.make(ConfigMap);
    const path = `/api/v1/namespaces/${here.namespace}/configmaps/${made.metadata.name}`;
    const refused = await refusal(here.ask("PATCH", path, { headers: { "content-type": "application/json" }, body: {} }));
    expect(refused).toMatchObject({ status: 415, reason: "UnsupportedMediaType" });
    expect(refused.said).toBe("415: Unsupported Media Type");
  });
});
