// Deletion: preconditions, finalizers, grace, collections, and what becomes of what an object owns.
import { ownerReferenceTo } from "@memhog/runtime";
import { describe, expect, it } from "vitest";
import { ConfigMap, Deployment, deployment, Pod, pod, ReplicaSet, Secret } from "./kinds.ts";
import { at, json, type Loose, merge, refusal, world } from "./world.ts";

const here = world();
const keep = { finalizers: ["example.test/keep"] };
const find = (object: Loose) => here.client.find(ConfigMap, at(object));
const gone = (object: Loose) =>
  here.cluster.eventually(
    () => find(object),
    (found) => found === undefined,
  );
const owned = (owner: Loose, more: object = {}) => ({
  metadata: {
    ownerReferences: [
      { apiVersion: "v1", kind: "ConfigMap", name: owner.metadata?.name ?? "", uid: owner.metadata?.uid ?? "", ...more },
    ],
  },
});
const path = () => `/api/v1/namespaces/${here.namespace}/configmaps`;

describe("deleting", () => {
  it("answers with a Status that names what is gone", async () => {
    const made = await here.make(ConfigMap);
    const answer = await here.ask("DELETE", `${path()}/${made.metadata.name}`);
    expect(answer).toEqual({
      ...{ kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" },
      details: { name: made.metadata.name, kind: "configmaps", uid: made.metadata.uid },
    });
    expect(here.status).toBe(200);
    expect(await find(made)).toBeUndefined();
  });

  it("says what is not there", async () => {
    const refused = await refusal(here.client.delete(ConfigMap, { namespace: here.namespace, name: "missing" }));
    expect(refused).toMatchObject({ status: 404, said: 'configmaps "missing" not found' });
  });

  it("with the uid of another object is refused", async () => {
    const made = await here.make(ConfigMap);
    const uid = "00000000-0000-4000-8000-000000000000";
    const refused = await refusal(here.client.delete(ConfigMap, at(made), { uid }));
    expect(refused).toMatchObject({ status: 409, reason: "Conflict" });
    expect(refused.said).toBe(
      `Operation cannot be fulfilled on ConfigMap "${made.metadata.name}": the UID in the precondition (${uid}) does not match the UID in record (${made.metadata.uid}). The object might have been deleted and then recreated`,
    );
  });

  it("with the version of another state is refused", async () => {
    const made = await here.make(ConfigMap);
    const refused = await refusal(here.client.delete(ConfigMap, at(made), { resourceVersion: "1" }));
    expect(refused).toMatchObject({ status: 409, reason: "Conflict" });
    expect(refused.said).toContain(
      `the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${made.metadata.resourceVersion}). The object might have been modified`,
    );
  });

  it("with the right uid and version is done", async () => {
    const made = await here.make(ConfigMap);
    await here.client.delete(ConfigMap, at(made), { uid: made.metadata.uid, resourceVersion: made.metadata.resourceVersion });
    expect(await find(made)).toBeUndefined();
  });

  it("and creating again makes another object", async () => {
    const made = await here.make(ConfigMap);
    await here.client.delete(ConfigMap, at(made));
    const again = await here.make(ConfigMap, { metadata: { name: made.metadata.name } });
    expect(again.metadata.uid).not.toBe(made.metadata.uid);
  });
});

describe("a finalizer", () => {
  it("keeps a deleted object, with the time of its deletion", async () => {
    const made = await here.make(ConfigMap, { metadata: keep });
    const kept = await here.client.delete(ConfigMap, at(made));
    expect(kept?.metadata).toMatchObject({ ...keep, deletionTimestamp: expect.any(String), deletionGracePeriodSeconds: 0 });
    expect(await find(made)).toEqual(kept);
  });

  it("that goes lets the object go", async () => {
    const made = await here.make(ConfigMap, { metadata: keep });
    await here.client.delete(ConfigMap, at(made));
    await here.client.patch(ConfigMap, at(made), merge({ metadata: { finalizers: null } }));
    expect(await find(made)).toBeUndefined();
  });

  it("that is not the last one keeps the object", async () => {
    const made = await here.make(ConfigMap, { metadata: { finalizers: ["example.test/a", "example.test/b"] } });
    await here.client.delete(ConfigMap, at(made));
    await here.client.patch(ConfigMap, at(made), json({ op: "remove", path: "/metadata/finalizers/0" }));
    expect((await find(made))?.metadata.finalizers).toEqual(["example.test/b"]);
  });

  it("cannot be added to an object that is being deleted", async () => {
    const made = await here.make(ConfigMap, { metadata: keep });
    await here.client.delete(ConfigMap, at(made));
    const more = [...keep.finalizers, "example.test/late"];
    const refused = await refusal(here.client.patch(ConfigMap, at(made), merge({ metadata: { finalizers: more } })));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.causes).toMatchObject([{ reason: "FieldValueForbidden", field: "metadata.finalizers" }]);
    expect(refused.said).toContain("no new finalizers can be added if the object is being deleted, found new finalizers");
  });

  it("that goes before any deletion deletes nothing", async () => {
    const made = await here.make(ConfigMap, { metadata: keep });
    await here.client.patch(ConfigMap, at(made), merge({ metadata: { finalizers: null } }));
    expect(await find(made)).toBeDefined();
  });

  it("makes a second deletion change nothing", async () => {
    const made = await here.make(ConfigMap, { metadata: keep });
    const first = await here.client.delete(ConfigMap, at(made));
    const second = await here.client.delete(ConfigMap, at(made));
    expect(second?.metadata.resourceVersion).toBe(first?.metadata.resourceVersion);
  });

  it("lets an object be written to while it waits", async () => {
    const made = await here.make(ConfigMap, { metadata: keep });
    await here.client.delete(ConfigMap, at(made));
    const changed = await here.client.patch(ConfigMap, at(made), merge({ data: { a: "1" } }));
    expect(changed.data).toEqual({ a: "1" });
  });

  it("makes a new object of the name impossible until it is gone", async () => {
    const made = await here.make(ConfigMap, { metadata: keep });
    await here.client.delete(ConfigMap, at(made));
    const refused = await refusal(here.make(ConfigMap, { metadata: { name: made.metadata.name } }));
    expect(refused.reason).toBe("AlreadyExists");
    expect(refused.said).toContain("object is being deleted");
  });

  it("raises the generation of a kind that has one when the object is deleted", async () => {
    const made = await here.make(Deployment, deployment({ metadata: keep }));
    const kept = await here.client.delete(Deployment, at(made));
    expect(kept?.metadata.generation).toBe(2);
    await here.client.patch(Deployment, at(made), merge({ metadata: { finalizers: null } }));
  });
});

describe("the grace of a pod", () => {
  it("is nothing while it runs nowhere", async () => {
    const made = await here.make(Pod, pod());
    await here.client.delete(Pod, at(made));
    expect(await here.client.find(Pod, at(made))).toBeUndefined();
  });

  it("is its terminationGracePeriodSeconds once it has a node", async () => {
    const made = await here.make(Pod, pod({ spec: { nodeName: "nowhere", terminationGracePeriodSeconds: 7 } }));
    const kept = await here.client.delete(Pod, at(made));
    expect(kept?.metadata).toMatchObject({ deletionGracePeriodSeconds: 7, deletionTimestamp: expect.any(String) });
    await here.client.delete(Pod, at(made), { gracePeriodSeconds: 0 });
    expect(await here.client.find(Pod, at(made))).toBeUndefined();
  });

  it("may be given with the deletion", async () => {
    const made = await here.make(Pod, pod({ spec: { nodeName: "nowhere" } }));
    const kept = await here.client.delete(Pod, at(made), { gracePeriodSeconds: 3 });
    expect(kept?.metadata.deletionGracePeriodSeconds).toBe(3);
    await here.client.delete(Pod, at(made), { gracePeriodSeconds: 0 });
  });

  it("can be made shorter, not longer", async () => {
    const made = await here.make(Pod, pod({ spec: { nodeName: "nowhere" } }));
    await here.client.delete(Pod, at(made), { gracePeriodSeconds: 20 });
    await here.client.delete(Pod, at(made), { gracePeriodSeconds: 40 });
    expect((await here.client.get(Pod, at(made))).metadata.deletionGracePeriodSeconds).toBe(20);
    await here.client.delete(Pod, at(made), { gracePeriodSeconds: 5 });
    expect((await here.client.get(Pod, at(made))).metadata.deletionGracePeriodSeconds).toBe(5);
    await here.client.delete(Pod, at(made), { gracePeriodSeconds: 0 });
  });

  it("cannot be negative", async () => {
    const made = await here.make(Pod, pod({ spec: { nodeName: "nowhere" } }));
    const kept = await here.client.delete(Pod, at(made), { gracePeriodSeconds: -1 });
    expect(kept?.metadata.deletionGracePeriodSeconds).toBe(1);
    await here.client.delete(Pod, at(made), { gracePeriodSeconds: 0 });
  });
});

describe("deleting a collection", () => {
  it("takes what the selector says, and answers with the list of it", async () => {
    const labels = { batch: here.name() };
    const in1 = await here.make(ConfigMap, { metadata: { labels } });
    const in2 = await here.make(ConfigMap, { metadata: { labels } });
    const out = await here.make(ConfigMap);
    const answer = await here.ask("DELETE", path(), { query: { labelSelector: `batch=${labels.batch}` } });
    expect(answer.kind).toBe("ConfigMapList");
    expect(answer.items.map((one: Loose) => one.metadata?.name)).toEqual([in1.metadata.name, in2.metadata.name]);
    expect(await find(in1)).toBeUndefined();
    expect(await find(out)).toBeDefined();
  });

  it("of nothing is fine", async () => {
    const answer = await here.ask("DELETE", path(), { query: { labelSelector: "batch=none" } });
    expect(answer.items).toEqual([]);
  });

  it("leaves what finalizers keep", async () => {
    const labels = { batch: here.name() };
    const made = await here.make(ConfigMap, { metadata: { labels, ...keep } });
    await here.ask("DELETE", path(), { query: { labelSelector: `batch=${labels.batch}` } });
    expect((await find(made))?.metadata.deletionTimestamp).toBeTruthy();
  });
});

describe("what an object owns", () => {
  it("goes after it, by default", async () => {
    const owner = await here.make(ConfigMap);
    const child = await here.make(ConfigMap, owned(owner));
    await here.client.delete(ConfigMap, at(owner));
    await gone(child);
  });

  it("goes with all generations below it", async () => {
    const owner = await here.make(ConfigMap);
    const child = await here.make(ConfigMap, owned(owner));
    const grandchild = await here.make(ConfigMap, owned(child));
    await here.client.delete(ConfigMap, at(owner), { propagationPolicy: "Background" });
    await gone(grandchild);
  });

  it("goes first in a foreground deletion, which a finalizer shows", async () => {
    const owner = await here.make(ConfigMap);
    const child = await here.make(ConfigMap, { metadata: { ...owned(owner, { blockOwnerDeletion: true }).metadata, ...keep } });
    const kept = await here.client.delete(ConfigMap, at(owner), { propagationPolicy: "Foreground" });
    expect(kept?.metadata).toMatchObject({ finalizers: ["foregroundDeletion"], deletionTimestamp: expect.any(String) });
    await here.cluster.eventually(
      () => find(child),
      (found) => found?.metadata.deletionTimestamp !== undefined,
    );
    expect(await find(owner)).toBeDefined();
    await here.client.patch(ConfigMap, at(child), merge({ metadata: { finalizers: null } }));
    await gone(owner);
  });

  it("that does not block its owner's deletion is not waited for", async () => {
    const owner = await here.make(ConfigMap);
    const child = await here.make(ConfigMap, { metadata: { ...owned(owner).metadata, ...keep } });
    await here.client.delete(ConfigMap, at(owner), { propagationPolicy: "Foreground" });
    await gone(owner);
    await here.client.patch(ConfigMap, at(child), merge({ metadata: { finalizers: null } }));
  });

  it("loses the reference in an orphaning deletion, and stays", async () => {
    const owner = await here.make(ConfigMap);
    const child = await here.make(ConfigMap, owned(owner));
    await here.client.delete(ConfigMap, at(owner), { propagationPolicy: "Orphan" });
    await gone(owner);
    expect(await find(child)).toBeDefined();
    expect((await find(child))?.metadata.ownerReferences).toBeUndefined();
  });

  it("together with another stays until both owners are gone", async () => {
    const [a, b] = [await here.make(ConfigMap), await here.make(ConfigMap)];
    const references = [a, b].flatMap((owner) => owned(owner).metadata.ownerReferences);
    const child = await here.make(ConfigMap, { metadata: { ownerReferences: references } });
    await here.client.delete(ConfigMap, at(a));
    await here.cluster.eventually(
      () => find(child),
      (found) => found?.metadata.ownerReferences?.length === 1,
    );
    await here.client.delete(ConfigMap, at(b));
    await gone(child);
  });

  it("by name only, with the uid of a former owner, goes", async () => {
    const owner = await here.make(ConfigMap);
    const stranger = { ...owner, metadata: { ...owner.metadata, uid: "00000000-0000-4000-8000-000000000000" } };
    const child = await here.make(ConfigMap, owned(stranger));
    await gone(child);
    expect(await find(owner)).toBeDefined();
  });

  it("of another kind goes, too", async () => {
    const owner = await here.make(ReplicaSet, deployment());
    const child = await here.make(Secret, {
      metadata: { ownerReferences: [ownerReferenceTo(owner, ReplicaSet)] },
    });
    await here.client.delete(ReplicaSet, at(owner));
    await here.cluster.eventually(
      () => here.client.find(Secret, at(child)),
      (found) => found === undefined,
    );
  });

  it("cannot be told with two policies at once", async () => {
    const made = await here.make(ConfigMap);
    const body = { propagationPolicy: "Background", orphanDependents: true };
    const refused = await refusal(here.ask("DELETE", `${path()}/${made.metadata.name}`, { body }));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
  });

  it("cannot be told with a policy that does not exist", async () => {
    const made = await here.make(ConfigMap);
    const refused = await refusal(
      here.ask("DELETE", `${path()}/${made.metadata.name}`, { body: { propagationPolicy: "Perhaps" } }),
    );
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.causes).toMatchObject([{ field: "propagationPolicy" }]);
  });
});
