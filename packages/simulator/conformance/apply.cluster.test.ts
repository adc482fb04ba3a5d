// Server-side apply and managedFields: field ownership and conflicts.
import { describe, expect, it } from "vitest";
import { ConfigMap, container, Deployment, deployment, Pod, pod, Service } from "./kinds.ts";
import { at, type Loose, merge, refusal, world } from "./world.ts";

const here = world();

interface ManagedFields {
  readonly manager: string;
  readonly operation: string;
  readonly subresource?: string;
  readonly fieldsV1: Record<string, unknown>;
}

const managersOf = (object: Loose) => (object.metadata?.managedFields ?? []) as readonly ManagedFields[];
const ownedBy = (object: Loose, manager: string) => managersOf(object).find((entry) => entry.manager === manager)?.fieldsV1;
const map = (name: string, data: Record<string, string>, metadata: object = {}): Loose => ({
  metadata: { namespace: here.namespace, name, ...metadata },
  data,
});
const apply = (object: Loose, fieldManager = "mine", more: object = {}) =>
  here.client.apply(ConfigMap, object, { fieldManager, ...more });

describe("server-side apply", () => {
  it("creates an object that does not exist and returns 201", async () => {
    const made = await apply(map(here.name(), { a: "1" }));
    expect(here.status).toBe(201);
    expect(made.data).toEqual({ a: "1" });
  });

  it("changes an object that exists and returns 200", async () => {
    const name = here.name();
    await apply(map(name, { a: "1" }));
    const changed = await apply(map(name, { a: "2" }));
    expect(here.status).toBe(200);
    expect(changed.data).toEqual({ a: "2" });
  });

  it("writes nothing if nothing changes", async () => {
    const name = here.name();
    const first = await apply(map(name, { a: "1" }));
    const again = await apply(map(name, { a: "1" }));
    expect(again.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });

  it("removes fields that it applied before and no longer applies", async () => {
    const name = here.name();
    await apply(map(name, { a: "1", b: "1" }));
    expect((await apply(map(name, { b: "1" }))).data).toEqual({ b: "1" });
  });

  it("leaves fields of other managers unchanged", async () => {
    const name = here.name();
    await apply(map(name, { theirs: "1" }), "theirs");
    await apply(map(name, { mine: "1" }));
    expect((await apply(map(name, {}))).data).toEqual({ theirs: "1" });
  });

  it("keeps a field with two owners until both have released it", async () => {
    const name = here.name();
    await apply(map(name, { both: "1" }), "theirs");
    await apply(map(name, { both: "1" }));
    expect((await apply(map(name, {}))).data).toEqual({ both: "1" });
    expect((await apply(map(name, {}), "theirs")).data).toBeUndefined();
  });

  it("requires a field manager", async () => {
    const path = `/api/v1/namespaces/${here.namespace}/configmaps/x`;
    const headers = { "content-type": "application/apply-patch+yaml" };
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" } };
    const refused = await refusal(here.ask("PATCH", path, { headers, body }));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.causes).toMatchObject([{ reason: "FieldValueRequired", field: "fieldManager" }]);
  });

  it("requires apiVersion and kind", async () => {
    const path = `/api/v1/namespaces/${here.namespace}/configmaps/x`;
    const headers = { "content-type": "application/apply-patch+yaml" };
    const refused = await refusal(
      here.ask("PATCH", path, { headers, query: { fieldManager: "mine" }, body: { metadata: { name: "x" } } }),
    );
    expect(refused.status).toBe(400);
  });

  it("rejects managedFields in the body", async () => {
    const name = here.name();
    const first = await apply(map(name, { a: "1" }));
    const refused = await refusal(apply(map(name, { a: "2" }, { managedFields: first.metadata.managedFields })));
    expect(refused).toMatchObject({ status: 400, reason: "BadRequest" });
    expect(refused.said).toBe("metadata.managedFields must be nil");
  });

  it("rejects an outdated resourceVersion with a conflict", async () => {
    const name = here.name();
    const first = await apply(map(name, { a: "1" }));
    await apply(map(name, { a: "2" }));
    const refused = await refusal(apply(map(name, { a: "3" }, { resourceVersion: first.metadata.resourceVersion })));
    expect(refused).toMatchObject({ status: 409, reason: "Conflict" });
  });

  it("creates an object that does not exist even if a resourceVersion is given", async () => {
    expect((await apply(map(here.name(), { a: "1" }, { resourceVersion: "1" }))).data).toEqual({ a: "1" });
  });

  it("stores nothing in a dry run", async () => {
    const name = here.name();
    expect((await apply(map(name, { a: "1" }), "mine", { dryRun: true })).data).toEqual({ a: "1" });
    expect(await here.client.find(ConfigMap, { namespace: here.namespace, name })).toBeUndefined();
  });
});

describe("apply conflict", () => {
  it("names the manager and the field", async () => {
    const name = here.name();
    await apply(map(name, { a: "1" }), "theirs");
    const refused = await refusal(apply(map(name, { a: "2" })));
    expect(refused).toMatchObject({ status: 409, reason: "Conflict" });
    expect(refused.causes).toEqual([{ reason: "FieldManagerConflict", message: 'conflict with "theirs"', field: ".data.a" }]);
    expect(refused.said).toBe('Apply failed with 1 conflict: conflict with "theirs": .data.a');
  });

  it("reports the number of fields", async () => {
    const name = here.name();
    await apply(map(name, { a: "1", b: "1" }), "theirs");
    const refused = await refusal(apply(map(name, { a: "2", b: "2" })));
    expect(refused.said).toBe('Apply failed with 2 conflicts: conflicts with "theirs": - .data.a - .data.b');
  });

  it("does not occur if both managers apply the same value", async () => {
    const name = here.name();
    await apply(map(name, { a: "1" }), "theirs");
    const both = await apply(map(name, { a: "1" }));
    expect(ownedBy(both, "theirs")).toMatchObject({ "f:data": { "f:a": {} } });
    expect(ownedBy(both, "mine")).toMatchObject({ "f:data": { "f:a": {} } });
  });

  it("is overridden by force, and the other manager loses the field", async () => {
    const name = here.name();
    await apply(map(name, { a: "1", b: "1" }), "theirs");
    const forced = await apply(map(name, { a: "2" }), "mine", { force: true });
    expect(forced.data).toEqual({ a: "2", b: "1" });
    expect(ownedBy(forced, "theirs")).toEqual({ "f:data": { "f:b": {} } });
  });

  it("with a manager that updated the field names the operation", async () => {
    const name = here.name();
    await apply(map(name, { a: "1" }));
    await here.client.patch(ConfigMap, { namespace: here.namespace, name }, merge({ data: { a: "2" } }), {
      fieldManager: "hand",
    });
    const refused = await refusal(apply(map(name, { a: "3" })));
    expect(refused.causes).toMatchObject([{ message: expect.stringMatching(/^conflict with "hand" using v1( at .*)?$/) }]);
  });
});

describe("managedFields", () => {
  it("of a create list the manager and every field it set", async () => {
    const made = await here.client.create(ConfigMap, map(here.name(), { a: "1" }, { labels: { x: "y" } }), {
      fieldManager: "maker",
    });
    expect(managersOf(made)).toMatchObject([
      {
        ...{ manager: "maker", operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1", time: expect.any(String) },
        fieldsV1: { "f:data": { ".": {}, "f:a": {} }, "f:metadata": { "f:labels": { ".": {}, "f:x": {} } } },
      },
    ]);
  });

  it("of an update move a changed field to the manager that changed it", async () => {
    const made = await here.client.create(ConfigMap, map(here.name(), { a: "1", b: "1" }), { fieldManager: "maker" });
    const changed = await here.client.patch(ConfigMap, at(made), merge({ data: { b: "2" } }), { fieldManager: "changer" });
    expect(ownedBy(changed, "maker")).toEqual({ "f:data": { ".": {}, "f:a": {} } });
    expect(ownedBy(changed, "changer")).toEqual({ "f:data": { "f:b": {} } });
  });

  it("of an apply list the operation", async () => {
    const made = await apply(map(here.name(), { a: "1" }));
    expect(managersOf(made)).toMatchObject([{ manager: "mine", operation: "Apply", fieldsV1: { "f:data": { "f:a": {} } } }]);
  });

  it("list apply and update of one manager separately", async () => {
    const name = here.name();
    await apply(map(name, { a: "1" }));
    const changed = await here.client.patch(ConfigMap, { namespace: here.namespace, name }, merge({ data: { b: "1" } }), {
      fieldManager: "mine",
    });
    expect(managersOf(changed).map(({ manager, operation }) => [manager, operation])).toEqual([
      ["mine", "Apply"],
      ["mine", "Update"],
    ]);
  });

  it("of a status write list the subresource", async () => {
    const made = await here.make(Pod, pod());
    const changed = await here.client.patch(Pod, at(made), merge({ status: { message: "well" } }), {
      subresource: "status",
      fieldManager: "kubelet",
    });
    expect(managersOf(changed).find(({ manager }) => manager === "kubelet")).toMatchObject({
      subresource: "status",
      operation: "Update",
    });
  });

  it("identify items of keyed lists by their keys", async () => {
    const object = { ...deployment(), metadata: { namespace: here.namespace, name: here.name() } };
    const made = await here.client.apply(Deployment, object, { fieldManager: "mine" });
    expect(ownedBy(made, "mine")).toMatchObject({
      "f:spec": {
        "f:template": { "f:spec": { "f:containers": { 'k:{"name":"main"}': { ".": {}, "f:image": {}, "f:name": {} } } } },
      },
    });
  });

  it("identify items of sets by their values", async () => {
    const made = await apply(map(here.name(), {}, { finalizers: ["example.test/a"] }));
    expect(ownedBy(made, "mine")).toMatchObject({ "f:metadata": { "f:finalizers": { 'v:"example.test/a"': {} } } });
  });

  it("are removed when an update empties them", async () => {
    const made = await apply(map(here.name(), { a: "1" }));
    const cleared = await here.client.patch(ConfigMap, at(made), merge({ metadata: { managedFields: [{}] } }));
    expect(cleared.metadata.managedFields).toBeUndefined();
  });

  it("use the user agent if no field manager is given", async () => {
    const path = `/api/v1/namespaces/${here.namespace}/configmaps`;
    const headers = { "user-agent": "tester/1.0 (linux)" };
    const made = await here.ask("POST", path, { headers, body: { metadata: { name: here.name() }, data: { a: "1" } } });
    expect(managersOf(made).map(({ manager }) => manager)).toEqual(["tester"]);
  });
});

describe("server-side apply to lists", () => {
  const withContainers = (name: string, ...containers: readonly object[]) => ({
    ...deployment(),
    metadata: { namespace: here.namespace, name },
    spec: { ...deployment().spec, template: { metadata: { labels: { app: "x" } }, spec: { containers } } },
  });
  const applyAs = (object: Loose, fieldManager: string) => here.client.apply(Deployment, object, { fieldManager });
  const names = (object: Loose) => object.spec.template.spec.containers.map(({ name }: { name: string }) => name);

  it("merges items of two managers by key", async () => {
    const name = here.name();
    await applyAs(withContainers(name, container()), "mine");
    const both = await applyAs(withContainers(name, container({ name: "sidecar" })), "theirs");
    expect(names(both)).toEqual(["main", "sidecar"]);
  });

  it("removes an item that its only manager no longer applies", async () => {
    const name = here.name();
    await applyAs(withContainers(name, container(), container({ name: "sidecar" })), "mine");
    expect(names(await applyAs(withContainers(name, container()), "mine"))).toEqual(["main"]);
  });

  it("changes only memory if only memory is applied", async () => {
    const name = here.name();
    await applyAs(withContainers(name, container({ resources: { limits: { cpu: "1" } } })), "mine");
    const memory = { name: "main", resources: { limits: { memory: "64Mi" } } };
    const partial = {
      metadata: { namespace: here.namespace, name },
      spec: { template: { spec: { containers: [memory] } } },
    };
    const changed = await applyAs(partial, "autoscaler");
    expect(changed.spec.template.spec.containers[0].resources.limits).toEqual({ cpu: "1", memory: "64Mi" });
    expect(ownedBy(changed, "autoscaler")).toEqual({
      "f:spec": {
        "f:template": {
          "f:spec": {
            "f:containers": { 'k:{"name":"main"}': { ".": {}, "f:name": {}, "f:resources": { "f:limits": { "f:memory": {} } } } },
          },
        },
      },
    });
  });

  it("replaces an atomic list", async () => {
    const name = here.name();
    await applyAs(withContainers(name, container({ args: ["a", "b"] })), "mine");
    const changed = await applyAs(withContainers(name, container({ args: ["c"] })), "mine");
    expect(changed.spec.template.spec.containers[0].args).toEqual(["c"]);
  });

  it("rejects two items with the same key", async () => {
    const refused = await refusal(applyAs(withContainers(here.name(), container(), container()), "mine"));
    expect(refused.said).toContain("duplicate entries for key");
  });

  it("identifies the ports of a Service by port and protocol", async () => {
    const service = (port: number, manager: string, name: string) =>
      here.client.apply(
        Service,
        { metadata: { namespace: here.namespace, name }, spec: { ports: [{ port, name: `p${port}`, protocol: "TCP" }] } },
        { fieldManager: manager },
      );
    const name = here.name();
    await service(80, "mine", name);
    const both = await service(81, "theirs", name);
    expect(both.spec.ports.map(({ port }: { port: number }) => port)).toEqual([80, 81]);
  });
});
