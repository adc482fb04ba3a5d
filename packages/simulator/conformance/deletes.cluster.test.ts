// Deletion: preconditions, finalizers, grace periods, collections and garbage collection.
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

describe("deleting an object", () => {
  it("returns a Status that identifies the object", async () => {
    const made = await here.make(ConfigMap);
    const answer = await here.ask("DELETE", `${path()}/${made.metadata.name}`);
    expect(answer).toEqual({
      ...{ kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" },
      details: { name: made.metadata.name, kind: "configmaps", uid: made.metadata.uid },
    });
    expect(here.status).toBe(200);
    expect(await find(made)).toBeUndefined();
  });

  it("returns NotFound if the object does not exist", async () => {
    const refused = await refusal(here.client.delete(ConfigMap, { namespace: here.namespace, name: "missing" }));
    expect(refused).toMatchObject({ status: 404, said: 'configmaps "missing" not found' });
  });

  it("is rejected if the uid precondition does not match", async () => {
    const made = await here.make(ConfigMap);
    const uid = "00000000-0000-4000-8000-000000000000";
    const refused = await refusal(here.client.delete(ConfigMap, at(made), { uid }));
    expect(refused).toMatchObject({ status: 409, reason: "Conflict" });
    expect(refused.said).toBe(
      `Operation cannot be fulfilled on ConfigMap "${made.metadata.name}": the UID in the precondition (${uid}) does not match the UID in record (${made.metadata.uid}). The object might have been deleted and then recreated`,
    );
  });

  it("is rejected if the resourceVersion precondition does not match", async () => {
    const made = await here.make(ConfigMap);
    const refused = await refusal(here.client.delete(ConfigMap, at(made), { resourceVersion: "1" }));
    expect(refused).toMatchObject({ status: 409, reason: "Conflict" });
    expect(refused.said).toContain(
      `the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${made.metadata.resourceVersion}). The object might have been modified`,
    );
  });

  it("succeeds if the uid and resourceVersion preconditions match", async () => {
    const made = await here.make(ConfigMap);
    await here.client.delete(ConfigMap, at(made), { uid: made.metadata.uid, resourceVersion: made.metadata.resourceVersion });
    expect(await find(made)).toBeUndefined();
  });

  it("and creating it again gives it a new uid", async () => {
    const made = await here.make(ConfigMap);
    await here.client.delete(ConfigMap, at(made));
    const again = await here.make(ConfigMap, { metadata: { name: made.metadata.name } });
    expect(again.metadata.uid).not.toBe(made.metadata.uid);
  });
});

describe("an object with a finalizer", () => {
  it("stays after a delete, with a deletionTimestamp", async () => {
    const made = await here.make(ConfigMap, { metadata: keep });
    const kept = await here.client.delete(ConfigMap, at(made));
    expect(kept?.metadata).toMatchObject({ ...keep, deletionTimestamp: expect.any(String), deletionGracePeriodSeconds: 0 });
    expect(await find(made)).toEqual(kept);
  });

  it("is removed when its last finalizer is removed", async () => {
    const made = await here.make(ConfigMap, { metadata: keep });
    await here.client.delete(ConfigMap, at(made));
    await here.client.patch(ConfigMap, at(made), merge({ metadata: { finalizers: null } }));
    expect(await find(made)).toBeUndefined();
  });

  it("stays while another finalizer remains", async () => {
    const made = await here.make(ConfigMap, { metadata: { finalizers: ["example.test/a", "example.test/b"] } });
    await here.client.delete(ConfigMap, at(made));
    await here.client.patch(ConfigMap, at(made), json({ op: "remove", path: "/metadata/finalizers/0" }));
    expect((await find(made))?.metadata.finalizers).toEqual(["example.test/b"]);
  });

  it("cannot get a new finalizer while it is being deleted", async () => {
    const made = await here.make(ConfigMap, { metadata: keep });
    await here.client.delete(ConfigMap, at(made));
    const more = [...keep.finalizers, "example.test/late"];
    const refused = await refusal(here.client.patch(ConfigMap, at(made), merge({ metadata: { finalizers: more } })));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.causes).toMatchObject([{ reason: "FieldValueForbidden", field: "metadata.finalizers" }]);
    expect(refused.said).toContain("no new finalizers can be added if the object is being deleted, found new finalizers");
  });

  it("is not deleted by removing the finalizer before a delete", async () => {
    const made = await here.make(ConfigMap, { metadata: keep });
    await here.client.patch(ConfigMap, at(made), merge({ metadata: { finalizers: null } }));
    expect(await find(made)).toBeDefined();
  });

  it("is not changed by a second delete", async () => {
    const made = await here.make(ConfigMap, { metadata: keep });
    const first = await here.client.delete(ConfigMap, at(made));
    const second = await here.client.delete(ConfigMap, at(made));
    expect(second?.metadata.resourceVersion).toBe(first?.metadata.resourceVersion);
  });

  it("can be changed while it is being deleted", async () => {
    const made = await here.make(ConfigMap, { metadata: keep });
    await here.client.delete(ConfigMap, at(made));
    const changed = await here.client.patch(ConfigMap, at(made), merge({ data: { a: "1" } }));
    expect(changed.data).toEqual({ a: "1" });
  });

  it("blocks the creation of an object with the same name until it is gone", async () => {
    const made = await here.make(ConfigMap, { metadata: keep });
    await here.client.delete(ConfigMap, at(made));
    const refused = await refusal(here.make(ConfigMap, { metadata: { name: made.metadata.name } }));
    expect(refused.reason).toBe("AlreadyExists");
    expect(refused.said).toContain("object is being deleted");
  });

  it("gets a new generation when it is deleted, if its kind has one", async () => {
    const made = await here.make(Deployment, deployment({ metadata: keep }));
    const kept = await here.client.delete(Deployment, at(made));
    expect(kept?.metadata.generation).toBe(2);
    await here.client.patch(Deployment, at(made), merge({ metadata: { finalizers: null } }));
  });
});

describe("the grace period of a pod", () => {
  it("is zero while the pod has no node", async () => {
    const made = await here.make(Pod, pod());
    await here.client.delete(Pod, at(made));
    expect(await here.client.find(Pod, at(made))).toBeUndefined();
  });

  it("is terminationGracePeriodSeconds once the pod has a node", async () => {
    const made = await here.make(Pod, pod({ spec: { nodeName: "nowhere", terminationGracePeriodSeconds: 7 } }));
    const kept = await here.client.delete(Pod, at(made));
    expect(kept?.metadata).toMatchObject({ deletionGracePeriodSeconds: 7, deletionTimestamp: expect.any(String) });
    await here.client.delete(Pod, at(made), { gracePeriodSeconds: 0 });
    expect(await here.client.find(Pod, at(made))).toBeUndefined();
  });

  it("can be set by the delete", async () => {
    const made = await here.make(Pod, pod({ spec: { nodeName: "nowhere" } }));
    const kept = await here.client.delete(Pod, at(made), { gracePeriodSeconds: 3 });
    expect(kept?.metadata.deletionGracePeriodSeconds).toBe(3);
    await here.client.delete(Pod, at(made), { gracePeriodSeconds: 0 });
  });

  it("can be shortened but not extended", async () => {
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
  it("deletes the objects that match the selector and returns their list", async () => {
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

  it("succeeds if the collection is empty", async () => {
    const answer = await here.ask("DELETE", path(), { query: { labelSelector: "batch=none" } });
    expect(answer.items).toEqual([]);
  });

  it("keeps objects that have finalizers", async () => {
    const labels = { batch: here.name() };
    const made = await here.make(ConfigMap, { metadata: { labels, ...keep } });
    await here.ask("DELETE", path(), { query: { labelSelector: `batch=${labels.batch}` } });
    expect((await find(made))?.metadata.deletionTimestamp).toBeTruthy();
  });
});

describe("garbage collection", () => {
  it("deletes dependents after their owner by default", async () => {
    const owner = await here.make(ConfigMap);
    const child = await here.make(ConfigMap, owned(owner));
    await here.client.delete(ConfigMap, at(owner));
    await gone(child);
  });

  it("deletes dependents of dependents", async () => {
    const owner = await here.make(ConfigMap);
    const child = await here.make(ConfigMap, owned(owner));
    const grandchild = await here.make(ConfigMap, owned(child));
    await here.client.delete(ConfigMap, at(owner), { propagationPolicy: "Background" });
    await gone(grandchild);
  });

  it("deletes dependents first in a foreground deletion, which a finalizer shows", async () => {
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

  it("does not wait for a dependent without blockOwnerDeletion", async () => {
    const owner = await here.make(ConfigMap);
    const child = await here.make(ConfigMap, { metadata: { ...owned(owner).metadata, ...keep } });
    await here.client.delete(ConfigMap, at(owner), { propagationPolicy: "Foreground" });
    await gone(owner);
    await here.client.patch(ConfigMap, at(child), merge({ metadata: { finalizers: null } }));
  });

  it("keeps dependents in an orphaning deletion and removes their owner reference", async () => {
    const owner = await here.make(ConfigMap);
    const child = await here.make(ConfigMap, owned(owner));
    await here.client.delete(ConfigMap, at(owner), { propagationPolicy: "Orphan" });
    await gone(owner);
    expect(await find(child)).toBeDefined();
    expect((await find(child))?.metadata.ownerReferences).toBeUndefined();
  });

  it("keeps a dependent with two owners until both are gone", async () => {
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

  it("deletes a dependent whose owner reference has the name of an existing object but another uid", async () => {
    const owner = await here.make(ConfigMap);
    const missing = { ...owner, metadata: { ...owner.metadata, uid: "00000000-0000-4000-8000-000000000000" } };
    const child = await here.make(ConfigMap, owned(missing));
    await gone(child);
    expect(await find(owner)).toBeDefined();
  });

  it("deletes dependents of another kind", async () => {
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

  it("rejects two deletion policies in one request", async () => {
    const made = await here.make(ConfigMap);
    const body = { propagationPolicy: "Background", orphanDependents: true };
    const refused = await refusal(here.ask("DELETE", `${path()}/${made.metadata.name}`, { body }));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
  });

  it("rejects an unknown deletion policy", async () => {
    const made = await here.make(ConfigMap);
    const refused = await refusal(
      here.ask("DELETE", `${path()}/${made.metadata.name}`, { body: { propagationPolicy: "Perhaps" } }),
    );
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.causes).toMatchObject([{ field: "propagationPolicy" }]);
  });
});
