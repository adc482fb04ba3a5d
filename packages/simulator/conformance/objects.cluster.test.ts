// Create, read and update: identity, versions, names, and the fields that a client cannot set.
import { describe, expect, it } from "vitest";
import { ConfigMap, Deployment, deployment, Pod, pod, Secret, Service } from "./kinds.ts";
import { at, refusal, world } from "./world.ts";

const here = world();
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("creating an object", () => {
  it("returns 201 with a uid, a resourceVersion and a creationTimestamp", async () => {
    const made = await here.make(ConfigMap, { data: { a: "1" } });
    expect(here.status).toBe(201);
    expect(made).toMatchObject({ apiVersion: "v1", kind: "ConfigMap", data: { a: "1" } });
    expect(made.metadata.uid).toMatch(uuid);
    expect(made.metadata.resourceVersion).toMatch(/^[1-9]\d*$/);
    expect(made.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  });

  it("gives the next write of any kind a greater resourceVersion", async () => {
    const first = await here.make(ConfigMap);
    const second = await here.make(Secret);
    expect(BigInt(second.metadata.resourceVersion)).toBeGreaterThan(BigInt(first.metadata.resourceVersion));
  });

  it("ignores a uid, creationTimestamp or deletionTimestamp from the client", async () => {
    const claimed = { uid: "mine", creationTimestamp: "2001-01-01T00:00:00Z", deletionTimestamp: "2001-01-01T00:00:00Z" };
    const made = await here.make(ConfigMap, { metadata: claimed });
    expect(made.metadata.uid).toMatch(uuid);
    expect(made.metadata.creationTimestamp).not.toBe(claimed.creationTimestamp);
    expect(made.metadata.deletionTimestamp).toBeUndefined();
  });

  it("ignores a generation from the client", async () => {
    const made = await here.make(Deployment, deployment({ metadata: { generation: 7 } }));
    expect(made.metadata.generation).toBe(1);
  });

  it("rejects a resourceVersion", async () => {
    const refused = await refusal(here.make(ConfigMap, { metadata: { resourceVersion: "1" } }));
    expect(refused.status).toBe(500);
    expect(refused.said).toBe("resourceVersion should not be set on objects to be created");
  });

  it("rejects a second object with the same name", async () => {
    const made = await here.make(ConfigMap);
    const refused = await refusal(here.make(ConfigMap, { metadata: { name: made.metadata.name } }));
    expect(refused).toMatchObject({ status: 409, reason: "AlreadyExists" });
    expect(refused.details).toEqual({ name: made.metadata.name, kind: "configmaps" });
    expect(refused.said).toBe(`configmaps "${made.metadata.name}" already exists`);
  });

  it("appends five characters without vowels to a generateName", async () => {
    const made = await here.make(ConfigMap, { metadata: { generateName: "made-up-" } });
    expect(made.metadata.name).toMatch(/^made-up-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect(made.metadata.generateName).toBe("made-up-");
  });

  it("truncates a generateName that would make the name too long", async () => {
    const made = await here.make(ConfigMap, { metadata: { generateName: "x".repeat(70) } });
    expect(made.metadata.name).toHaveLength(63);
  });

  it("prefers a name to a generateName", async () => {
    const made = await here.make(ConfigMap, { metadata: { generateName: "made-up-", name: here.name() } });
    expect(made.metadata.name).not.toContain("made-up");
  });

  it("rejects an object without a name", async () => {
    const refused = await refusal(here.client.create(ConfigMap, { metadata: { namespace: here.namespace } }));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.causes).toEqual([
      { reason: "FieldValueRequired", message: "Required value: name or generateName is required", field: "metadata.name" },
    ]);
  });

  it("uses the namespace of the path if the object has none", async () => {
    const path = `/api/v1/namespaces/${here.namespace}/configmaps`;
    const made = await here.ask("POST", path, { body: { metadata: { name: here.name() } } });
    expect(made.metadata?.namespace).toBe(here.namespace);
  });

  it("rejects an object whose namespace differs from the path", async () => {
    const path = `/api/v1/namespaces/${here.namespace}/configmaps`;
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: here.name(), namespace: "other" } };
    const refused = await refusal(here.ask("POST", path, { body }));
    expect(refused).toMatchObject({ status: 400, reason: "BadRequest" });
    expect(refused.said).toBe("the namespace of the provided object does not match the namespace sent on the request");
  });

  it("rejects an object whose kind differs from the path", async () => {
    const path = `/api/v1/namespaces/${here.namespace}/configmaps`;
    const refused = await refusal(
      here.ask("POST", path, { body: { apiVersion: "v1", kind: "Secret", metadata: { name: "x" } } }),
    );
    expect(refused.status).toBe(400);
    expect(refused.said).toContain("Secret in version");
  });

  it("returns NotFound if the namespace does not exist", async () => {
    const refused = await refusal(here.make(ConfigMap, { metadata: { namespace: "nowhere" } }));
    expect(refused).toMatchObject({ status: 404, reason: "NotFound" });
    expect(refused.said).toBe('namespaces "nowhere" not found');
  });

  it.each(["Upper", "under_score", "-dash", "dot.", "a..b", "x".repeat(254)])("rejects the name %s", async (name) => {
    const refused = await refusal(here.make(ConfigMap, { metadata: { name } }));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.causes).toMatchObject([{ reason: "FieldValueInvalid", field: "metadata.name" }]);
  });

  it("rejects a Service whose name is not a DNS label", async () => {
    const spec = { ports: [{ port: 80 }] };
    const refused = await refusal(here.make(Service, { metadata: { name: "1.2" }, spec }));
    expect(refused.causes[0]).toMatchObject({ field: "metadata.name" });
  });

  it.each([
    { what: "a label with spaces", metadata: { labels: { "a b": "c" } }, field: "metadata.labels" },
    { what: "a label value that is too long", metadata: { labels: { a: "x".repeat(64) } }, field: "metadata.labels" },
    {
      what: "an annotation key with two slashes",
      metadata: { annotations: { "a/b/c": "" } },
      field: "metadata.annotations",
    },
    { what: "a finalizer without a domain", metadata: { finalizers: ["keep"] }, field: "metadata.finalizers[0]" },
    {
      what: "an owner reference without a uid",
      metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "x" }] },
      field: "metadata.ownerReferences[0].uid",
    },
    {
      what: "two owner references that are both the controller",
      metadata: {
        ownerReferences: ["a", "b"].map((uid) => ({ apiVersion: "v1", kind: "Pod", name: uid, uid, controller: true })),
      },
      field: "metadata.ownerReferences",
    },
  ])("rejects $what", async ({ metadata, field }) => {
    const refused = await refusal(here.make(ConfigMap, { metadata: metadata as never }));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.causes.map((cause) => cause.field)).toContain(field);
  });
});

describe("reading an object", () => {
  it("returns what was created", async () => {
    const made = await here.make(ConfigMap, { data: { a: "1" } });
    expect(await here.client.get(ConfigMap, at(made))).toEqual(made);
  });

  it("returns NotFound if it does not exist", async () => {
    const refused = await refusal(here.client.get(Deployment, { namespace: here.namespace, name: "missing" }));
    expect(refused).toMatchObject({ status: 404, reason: "NotFound" });
    expect(refused.said).toBe('deployments.apps "missing" not found');
    expect(refused.details).toEqual({ name: "missing", group: "apps", kind: "deployments" });
  });

  it("returns the stringData of a Secret as data only", async () => {
    const made = await here.make(Secret, { stringData: { a: "secret" } });
    expect(made).toMatchObject({ type: "Opaque", data: { a: "c2VjcmV0" } });
    expect(made).not.toHaveProperty("stringData");
  });
});

describe("updating an object", () => {
  it("replaces it and changes its resourceVersion", async () => {
    const made = await here.make(ConfigMap, { data: { a: "1", b: "1" } });
    const changed = await here.client.update(ConfigMap, { ...made, data: { a: "2" } });
    expect(changed.data).toEqual({ a: "2" });
    expect(BigInt(changed.metadata.resourceVersion)).toBeGreaterThan(BigInt(made.metadata.resourceVersion));
    expect(changed.metadata.uid).toBe(made.metadata.uid);
  });

  it("writes nothing if nothing changes", async () => {
    const made = await here.make(ConfigMap, { data: { a: "1" } });
    const same = await here.client.update(ConfigMap, made);
    expect(same.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
  });

  it("rejects an outdated resourceVersion with a conflict", async () => {
    const made = await here.make(ConfigMap);
    await here.client.update(ConfigMap, { ...made, data: { a: "1" } });
    const refused = await refusal(here.client.update(ConfigMap, { ...made, data: { a: "2" } }));
    expect(refused).toMatchObject({ status: 409, reason: "Conflict" });
    expect(refused.details).toEqual({ name: made.metadata.name, kind: "configmaps" });
    expect(refused.said).toBe(
      `Operation cannot be fulfilled on configmaps "${made.metadata.name}": the object has been modified; please apply your changes to the latest version and try again`,
    );
  });

  it("replaces any version if no resourceVersion is given", async () => {
    const made = await here.make(ConfigMap, { data: { a: "1" } });
    const { resourceVersion: _, ...metadata } = made.metadata;
    const changed = await here.client.update(ConfigMap, { metadata, data: { a: "2" } });
    expect(changed.data).toEqual({ a: "2" });
  });

  it("rejects a uid that differs from the object's", async () => {
    const made = await here.make(ConfigMap);
    const metadata = { ...made.metadata, uid: "00000000-0000-4000-8000-000000000000" };
    const refused = await refusal(here.client.update(ConfigMap, { metadata }));
    expect(refused).toMatchObject({ status: 409, reason: "Conflict" });
    expect(refused.said).toContain("Precondition failed: UID in precondition");
  });

  it("rejects a name that differs from the path", async () => {
    const made = await here.make(ConfigMap);
    const path = `/api/v1/namespaces/${here.namespace}/configmaps/${made.metadata.name}`;
    const body = { ...made, metadata: { ...made.metadata, name: "other" } };
    const refused = await refusal(here.ask("PUT", path, { body }));
    expect(refused.status).toBe(400);
    expect(refused.said).toBe(`the name of the object (other) does not match the name on the URL (${made.metadata.name})`);
  });

  it("returns NotFound if it does not exist", async () => {
    const refused = await refusal(here.client.update(ConfigMap, { metadata: { namespace: here.namespace, name: "missing" } }));
    expect(refused).toMatchObject({ status: 404, said: 'configmaps "missing" not found' });
  });

  it("keeps the creationTimestamp whatever the client sends", async () => {
    const made = await here.make(ConfigMap);
    const metadata = { ...made.metadata, creationTimestamp: "2001-01-01T00:00:00Z" };
    const changed = await here.client.update(ConfigMap, { metadata, data: { a: "1" } });
    expect(changed.metadata.creationTimestamp).toBe(made.metadata.creationTimestamp);
  });

  it("rejects changes of an immutable ConfigMap", async () => {
    const made = await here.make(ConfigMap, { data: { a: "1" }, immutable: true });
    const refused = await refusal(here.client.update(ConfigMap, { ...made, data: { a: "2" } }));
    expect(refused.causes).toMatchObject([{ reason: "FieldValueForbidden", field: "data" }]);
  });

  it("rejects changes of the selector of a Deployment", async () => {
    const made = await here.make(Deployment, deployment());
    const labels = { app: "y" };
    const spec = { ...made.spec, selector: { matchLabels: labels }, template: { ...made.spec.template, metadata: { labels } } };
    // Without a resourceVersion: its controller may have changed the object in the meantime.
    const { resourceVersion: _, ...metadata } = made.metadata;
    const refused = await refusal(here.client.update(Deployment, { ...made, metadata, spec }));
    expect(refused.causes).toMatchObject([{ reason: "FieldValueInvalid", field: "spec.selector" }]);
    expect(refused.said).toContain("field is immutable");
  });

  it("rejects changes of the resources of a Pod outside the resize subresource", async () => {
    const made = await here.make(Pod, pod());
    const [first] = made.spec.containers;
    const containers = [{ ...first, resources: { limits: { memory: "1Gi" } } }];
    const refused = await refusal(here.client.update(Pod, { ...made, spec: { ...made.spec, containers } }));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.causes).toMatchObject([{ reason: "FieldValueForbidden", field: "spec" }]);
  });
});

describe("a dry run", () => {
  it("of a create returns the object and stores nothing", async () => {
    const name = here.name();
    const tried = await here.client.create(ConfigMap, { metadata: { namespace: here.namespace, name } }, { dryRun: true });
    expect(tried.metadata.uid).toMatch(uuid);
    expect(tried.metadata.resourceVersion).toBeUndefined();
    expect(await here.client.find(ConfigMap, { namespace: here.namespace, name })).toBeUndefined();
  });

  it("of a create is rejected where a real create would be", async () => {
    const made = await here.make(ConfigMap);
    const refused = await refusal(
      here.client.create(ConfigMap, { metadata: { namespace: here.namespace, name: made.metadata.name } }, { dryRun: true }),
    );
    expect(refused.reason).toBe("AlreadyExists");
  });

  it("of an update changes nothing", async () => {
    const made = await here.make(ConfigMap, { data: { a: "1" } });
    const tried = await here.client.update(ConfigMap, { ...made, data: { a: "2" } }, { dryRun: true });
    expect(tried).toMatchObject({ data: { a: "2" }, metadata: { resourceVersion: made.metadata.resourceVersion } });
    expect(await here.client.get(ConfigMap, at(made))).toEqual(made);
  });

  it("of a delete deletes nothing", async () => {
    const made = await here.make(ConfigMap);
    await here.client.delete(ConfigMap, at(made), { dryRun: true });
    expect(await here.client.get(ConfigMap, at(made))).toEqual(made);
  });

  it("rejects a dryRun value other than All", async () => {
    const path = `/api/v1/namespaces/${here.namespace}/configmaps`;
    const refused = await refusal(
      here.ask("POST", path, { query: { dryRun: "Some" }, body: { metadata: { name: here.name() } } }),
    );
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
  });
});
