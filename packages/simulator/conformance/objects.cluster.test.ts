// What the server makes of an object that is written: identity, versions, names, and what a client may not say.
import { describe, expect, it } from "vitest";
import { ConfigMap, Deployment, deployment, Pod, pod, Secret, Service } from "./kinds.ts";
import { at, refusal, world } from "./world.ts";

const here = world();
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("creating", () => {
  it("answers 201 with an identity, a version and a time", async () => {
    const made = await here.make(ConfigMap, { data: { a: "1" } });
    expect(here.status).toBe(201);
    expect(made).toMatchObject({ apiVersion: "v1", kind: "ConfigMap", data: { a: "1" } });
    expect(made.metadata.uid).toMatch(uuid);
    expect(made.metadata.resourceVersion).toMatch(/^[1-9]\d*$/);
    expect(made.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  });

  it("gives the next write of any kind a greater version", async () => {
    const first = await here.make(ConfigMap);
    const second = await here.make(Secret);
    expect(BigInt(second.metadata.resourceVersion)).toBeGreaterThan(BigInt(first.metadata.resourceVersion));
  });

  it("does not believe a uid, a creation time or a deletion time of the client", async () => {
    const claimed = { uid: "mine", creationTimestamp: "2001-01-01T00:00:00Z", deletionTimestamp: "2001-01-01T00:00:00Z" };
    const made = await here.make(ConfigMap, { metadata: claimed });
    expect(made.metadata.uid).toMatch(uuid);
    expect(made.metadata.creationTimestamp).not.toBe(claimed.creationTimestamp);
    expect(made.metadata.deletionTimestamp).toBeUndefined();
  });

  it("does not believe a generation of the client", async () => {
    const made = await here.make(Deployment, deployment({ metadata: { generation: 7 } }));
    expect(made.metadata.generation).toBe(1);
  });

  it("refuses a resourceVersion: the object cannot exist yet", async () => {
    const refused = await refusal(here.make(ConfigMap, { metadata: { resourceVersion: "1" } }));
    expect(refused.status).toBe(500);
    expect(refused.said).toBe("resourceVersion should not be set on objects to be created");
  });

  it("refuses a second object of the same name", async () => {
    const made = await here.make(ConfigMap);
    const refused = await refusal(here.make(ConfigMap, { metadata: { name: made.metadata.name } }));
    expect(refused).toMatchObject({ status: 409, reason: "AlreadyExists" });
    expect(refused.details).toEqual({ name: made.metadata.name, kind: "configmaps" });
    expect(refused.said).toBe(`configmaps "${made.metadata.name}" already exists`);
  });

  it("makes up the rest of a generateName: five letters without vowels", async () => {
    const made = await here.make(ConfigMap, { metadata: { generateName: "made-up-" } });
    expect(made.metadata.name).toMatch(/^made-up-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect(made.metadata.generateName).toBe("made-up-");
  });

  it("cuts a generateName that would make the name too long", async () => {
    const made = await here.make(ConfigMap, { metadata: { generateName: "x".repeat(70) } });
    expect(made.metadata.name).toHaveLength(63);
  });

  it("prefers a name to a generateName", async () => {
    const made = await here.make(ConfigMap, { metadata: { generateName: "made-up-", name: here.name() } });
    expect(made.metadata.name).not.toContain("made-up");
  });

  it("refuses an object without any name", async () => {
    const refused = await refusal(here.client.create(ConfigMap, { metadata: { namespace: here.namespace } }));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.causes).toEqual([
      { reason: "FieldValueRequired", message: "Required value: name or generateName is required", field: "metadata.name" },
    ]);
  });

  it("puts an object that names no namespace into that of the path", async () => {
    const path = `/api/v1/namespaces/${here.namespace}/configmaps`;
    const made = await here.ask("POST", path, { body: { metadata: { name: here.name() } } });
    expect(made.metadata?.namespace).toBe(here.namespace);
  });

  it("refuses an object that names another namespace than the path", async () => {
    const path = `/api/v1/namespaces/${here.namespace}/configmaps`;
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: here.name(), namespace: "other" } };
    const refused = await refusal(here.ask("POST", path, { body }));
    expect(refused).toMatchObject({ status: 400, reason: "BadRequest" });
    expect(refused.said).toBe("the namespace of the provided object does not match the namespace sent on the request");
  });

  it("refuses an object of another kind than the path", async () => {
    const path = `/api/v1/namespaces/${here.namespace}/configmaps`;
    const refused = await refusal(
      here.ask("POST", path, { body: { apiVersion: "v1", kind: "Secret", metadata: { name: "x" } } }),
    );
    expect(refused.status).toBe(400);
    expect(refused.said).toContain("Secret in version");
  });

  it("has nothing to do with objects of a namespace that does not exist", async () => {
    const refused = await refusal(here.make(ConfigMap, { metadata: { namespace: "nowhere" } }));
    expect(refused).toMatchObject({ status: 404, reason: "NotFound" });
    expect(refused.said).toBe('namespaces "nowhere" not found');
  });

  it.each(["Upper", "under_score", "-dash", "dot.", "a..b", "x".repeat(254)])("refuses the name %s", async (name) => {
    const refused = await refusal(here.make(ConfigMap, { metadata: { name } }));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.causes).toMatchObject([{ reason: "FieldValueInvalid", field: "metadata.name" }]);
  });

  it("allows a service only names that are labels", async () => {
    const spec = { ports: [{ port: 80 }] };
    const refused = await refusal(here.make(Service, { metadata: { name: "1.2" }, spec }));
    expect(refused.causes[0]).toMatchObject({ field: "metadata.name" });
  });

  it.each([
    { what: "a label with spaces", metadata: { labels: { "a b": "c" } }, field: "metadata.labels" },
    { what: "a label value that is too long", metadata: { labels: { a: "x".repeat(64) } }, field: "metadata.labels" },
    {
      what: "an annotation key in capitals with a slash too many",
      metadata: { annotations: { "a/b/c": "" } },
      field: "metadata.annotations",
    },
    { what: "a finalizer without a domain", metadata: { finalizers: ["keep"] }, field: "metadata.finalizers[0]" },
    {
      what: "an owner without a uid",
      metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "x" }] },
      field: "metadata.ownerReferences[0].uid",
    },
    {
      what: "two owners who are both the controller",
      metadata: {
        ownerReferences: ["a", "b"].map((uid) => ({ apiVersion: "v1", kind: "Pod", name: uid, uid, controller: true })),
      },
      field: "metadata.ownerReferences",
    },
  ])("refuses $what", async ({ metadata, field }) => {
    const refused = await refusal(here.make(ConfigMap, { metadata: metadata as never }));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.causes.map((cause) => cause.field)).toContain(field);
  });
});

describe("reading", () => {
  it("gives what was created", async () => {
    const made = await here.make(ConfigMap, { data: { a: "1" } });
    expect(await here.client.get(ConfigMap, at(made))).toEqual(made);
  });

  it("says what is not there", async () => {
    const refused = await refusal(here.client.get(Deployment, { namespace: here.namespace, name: "missing" }));
    expect(refused).toMatchObject({ status: 404, reason: "NotFound" });
    expect(refused.said).toBe('deployments.apps "missing" not found');
    expect(refused.details).toEqual({ name: "missing", group: "apps", kind: "deployments" });
  });

  it("turns stringData of a secret into data, and never gives it back", async () => {
    const made = await here.make(Secret, { stringData: { a: "secret" } });
    expect(made).toMatchObject({ type: "Opaque", data: { a: "c2VjcmV0" } });
    expect(made).not.toHaveProperty("stringData");
  });
});

describe("updating", () => {
  it("replaces the object and moves its version", async () => {
    const made = await here.make(ConfigMap, { data: { a: "1", b: "1" } });
    const changed = await here.client.update(ConfigMap, { ...made, data: { a: "2" } });
    expect(changed.data).toEqual({ a: "2" });
    expect(BigInt(changed.metadata.resourceVersion)).toBeGreaterThan(BigInt(made.metadata.resourceVersion));
    expect(changed.metadata.uid).toBe(made.metadata.uid);
  });

  it("writes nothing when nothing changes", async () => {
    const made = await here.make(ConfigMap, { data: { a: "1" } });
    const same = await here.client.update(ConfigMap, made);
    expect(same.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
  });

  it("refuses a state that is not the present one", async () => {
    const made = await here.make(ConfigMap);
    await here.client.update(ConfigMap, { ...made, data: { a: "1" } });
    const refused = await refusal(here.client.update(ConfigMap, { ...made, data: { a: "2" } }));
    expect(refused).toMatchObject({ status: 409, reason: "Conflict" });
    expect(refused.details).toEqual({ name: made.metadata.name, kind: "configmaps" });
    expect(refused.said).toBe(
      `Operation cannot be fulfilled on configmaps "${made.metadata.name}": the object has been modified; please apply your changes to the latest version and try again`,
    );
  });

  it("takes whatever is there if no version is given", async () => {
    const made = await here.make(ConfigMap, { data: { a: "1" } });
    const { resourceVersion: _, ...metadata } = made.metadata;
    const changed = await here.client.update(ConfigMap, { metadata, data: { a: "2" } });
    expect(changed.data).toEqual({ a: "2" });
  });

  it("refuses another uid than that of the object", async () => {
    const made = await here.make(ConfigMap);
    const metadata = { ...made.metadata, uid: "00000000-0000-4000-8000-000000000000" };
    const refused = await refusal(here.client.update(ConfigMap, { metadata }));
    expect(refused).toMatchObject({ status: 409, reason: "Conflict" });
    expect(refused.said).toContain("Precondition failed: UID in precondition");
  });

  it("refuses another name than that of the path", async () => {
    const made = await here.make(ConfigMap);
    const path = `/api/v1/namespaces/${here.namespace}/configmaps/${made.metadata.name}`;
    const body = { ...made, metadata: { ...made.metadata, name: "other" } };
    const refused = await refusal(here.ask("PUT", path, { body }));
    expect(refused.status).toBe(400);
    expect(refused.said).toBe(`the name of the object (other) does not match the name on the URL (${made.metadata.name})`);
  });

  it("creates no object that is not there", async () => {
    const refused = await refusal(here.client.update(ConfigMap, { metadata: { namespace: here.namespace, name: "missing" } }));
    expect(refused).toMatchObject({ status: 404, said: 'configmaps "missing" not found' });
  });

  it("keeps the time of creation whatever the client says", async () => {
    const made = await here.make(ConfigMap);
    const metadata = { ...made.metadata, creationTimestamp: "2001-01-01T00:00:00Z" };
    const changed = await here.client.update(ConfigMap, { metadata, data: { a: "1" } });
    expect(changed.metadata.creationTimestamp).toBe(made.metadata.creationTimestamp);
  });

  it("refuses to change an immutable config map", async () => {
    const made = await here.make(ConfigMap, { data: { a: "1" }, immutable: true });
    const refused = await refusal(here.client.update(ConfigMap, { ...made, data: { a: "2" } }));
    expect(refused.causes).toMatchObject([{ reason: "FieldValueForbidden", field: "data" }]);
  });

  it("refuses to change the selector of a deployment", async () => {
    const made = await here.make(Deployment, deployment());
    const labels = { app: "y" };
    const spec = { ...made.spec, selector: { matchLabels: labels }, template: { ...made.spec.template, metadata: { labels } } };
    // Of whatever version: its controller may have written to it in the meantime.
    const { resourceVersion: _, ...metadata } = made.metadata;
    const refused = await refusal(here.client.update(Deployment, { ...made, metadata, spec }));
    expect(refused.causes).toMatchObject([{ reason: "FieldValueInvalid", field: "spec.selector" }]);
    expect(refused.said).toContain("field is immutable");
  });

  it("refuses to change the resources of a pod by its main door", async () => {
    const made = await here.make(Pod, pod());
    const [first] = made.spec.containers;
    const containers = [{ ...first, resources: { limits: { memory: "1Gi" } } }];
    const refused = await refusal(here.client.update(Pod, { ...made, spec: { ...made.spec, containers } }));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.causes).toMatchObject([{ reason: "FieldValueForbidden", field: "spec" }]);
  });
});

describe("a dry run", () => {
  it("of a creation answers as if, and stores nothing", async () => {
    const name = here.name();
    const tried = await here.client.create(ConfigMap, { metadata: { namespace: here.namespace, name } }, { dryRun: true });
    expect(tried.metadata.uid).toMatch(uuid);
    expect(tried.metadata.resourceVersion).toBeUndefined();
    expect(await here.client.find(ConfigMap, { namespace: here.namespace, name })).toBeUndefined();
  });

  it("of a creation is refused where the real one would be", async () => {
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

  it("of a deletion deletes nothing", async () => {
    const made = await here.make(ConfigMap);
    await here.client.delete(ConfigMap, at(made), { dryRun: true });
    expect(await here.client.get(ConfigMap, at(made))).toEqual(made);
  });

  it("refuses a dryRun that is not All", async () => {
    const path = `/api/v1/namespaces/${here.namespace}/configmaps`;
    const refused = await refusal(
      here.ask("POST", path, { query: { dryRun: "Some" }, body: { metadata: { name: here.name() } } }),
    );
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
  });
});
