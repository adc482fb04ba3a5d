// Namespaces: their initial content and their deletion.
import { describe, expect, it } from "vitest";
import { ConfigMap, Namespace, Pod, pod, ServiceAccount } from "./kinds.ts";
import { at, merge, refusal, world } from "./world.ts";

const here = world();
const fresh = () => here.client.create(Namespace, { metadata: { generateName: "conformance-" } });

describe("a Namespace", () => {
  it("is created Active, with a finalizer and the label of its name", async () => {
    const made = await fresh();
    expect(made).toMatchObject({ spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" } });
    expect(made.metadata.labels).toEqual({ "kubernetes.io/metadata.name": made.metadata.name });
    await here.client.delete(Namespace, at(made));
  });

  it("gets a default ServiceAccount", async () => {
    const namespace = (await fresh()).metadata.name;
    const account = () => here.client.find(ServiceAccount, { namespace, name: "default" });
    await here.cluster.eventually(account, (found) => found !== undefined);
    await here.client.delete(Namespace, { name: namespace });
  });

  it("gets the ConfigMap kube-root-ca.crt, and gets it again after a delete", async () => {
    const namespace = (await fresh()).metadata.name;
    const trust = { namespace, name: "kube-root-ca.crt" };
    const find = () => here.client.find(ConfigMap, trust);
    const first = await here.cluster.eventually(find, (found) => found !== undefined);
    expect(first?.data).toEqual({ "ca.crt": expect.stringContaining("BEGIN CERTIFICATE") });
    await here.client.delete(ConfigMap, trust);
    const isNew = (found: typeof first) => found !== undefined && found.metadata.uid !== first?.metadata.uid;
    expect((await here.cluster.eventually(find, isNew))?.data).toEqual(first?.data);
    await here.client.delete(Namespace, { name: namespace });
  });

  it.each(["default", "kube-system", "kube-public", "kube-node-lease"])("%s exists from the start", async (name) => {
    const found = await here.cluster.eventually(
      () => here.client.find(Namespace, { name }),
      (namespace) => namespace !== undefined,
    );
    expect(found).toMatchObject({ status: { phase: "Active" } });
  });

  it("keeps the label of its name", async () => {
    const made = await fresh();
    const patched = await here.client.patch(
      Namespace,
      at(made),
      merge({ metadata: { labels: { "kubernetes.io/metadata.name": "other" } } }),
    );
    expect(patched.metadata.labels).toEqual({ "kubernetes.io/metadata.name": made.metadata.name });
    await here.client.delete(Namespace, at(made));
  });

  it("has phase Terminating and a deletionTimestamp after a delete", async () => {
    const namespace = (await fresh()).metadata.name;
    await here.make(ConfigMap, { metadata: { namespace, finalizers: ["example.test/keep"] } });
    const going = await here.client.delete(Namespace, { name: namespace });
    expect(going).toMatchObject({ metadata: { deletionTimestamp: expect.any(String) }, status: { phase: "Terminating" } });
    await here.cluster.eventually(
      () => here.client.list(ConfigMap, { namespace }),
      ({ items }) => items.some(({ metadata }) => metadata.deletionTimestamp !== undefined),
    );
  });

  it("rejects new objects while it is terminating", async () => {
    const namespace = (await fresh()).metadata.name;
    await here.make(ConfigMap, { metadata: { namespace, finalizers: ["example.test/keep"] } });
    await here.client.delete(Namespace, { name: namespace });
    const refused = await refusal(here.make(ConfigMap, { metadata: { namespace, name: "late" } }));
    expect(refused).toMatchObject({ status: 403, reason: "Forbidden" });
    expect(refused.said).toBe(
      `configmaps "late" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
    );
    expect(refused.causes).toEqual([
      { reason: "NamespaceTerminating", message: `namespace ${namespace} is being terminated`, field: "metadata.namespace" },
    ]);
  });

  it("is deleted with everything in it", async () => {
    const namespace = (await fresh()).metadata.name;
    await here.make(ConfigMap, { metadata: { namespace, name: "a" } });
    await here.client.delete(Namespace, { name: namespace });
    await here.cluster.eventually(
      () => here.client.find(Namespace, { name: namespace }),
      (found) => found === undefined,
    );
    expect((await here.client.list(ConfigMap, { namespace })).items).toEqual([]);
  });

  it("is rejected if its name is not a DNS label", async () => {
    const refused = await refusal(here.client.create(Namespace, { metadata: { name: "a.b" } }));
    expect(refused.causes).toMatchObject([{ reason: "FieldValueInvalid", field: "metadata.name" }]);
  });

  it("cannot be deleted if it is a system namespace", async () => {
    const refused = await refusal(here.client.delete(Namespace, { name: "default" }));
    expect(refused).toMatchObject({ status: 403, reason: "Forbidden" });
    expect(refused.said).toBe('namespaces "default" is forbidden: this namespace may not be deleted');
  });

  it("rejects a Pod whose ServiceAccount does not exist", async () => {
    const refused = await refusal(here.make(Pod, pod({ spec: { serviceAccountName: "nobody" } })));
    expect(refused).toMatchObject({ status: 403, reason: "Forbidden" });
    expect(refused.said).toContain(
      `error looking up service account ${here.namespace}/nobody: serviceaccount "nobody" not found`,
    );
  });
});
