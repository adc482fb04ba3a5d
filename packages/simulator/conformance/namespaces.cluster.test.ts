// Namespaces: what they begin with, and how they end.
import { describe, expect, it } from "vitest";
import { ConfigMap, Namespace, Pod, pod, ServiceAccount } from "./kinds.ts";
import { at, merge, refusal, world } from "./world.ts";

const here = world();
const fresh = () => here.client.create(Namespace, { metadata: { generateName: "conformance-" } });

describe("a namespace", () => {
  it("is active, with a finalizer and the label of its name", async () => {
    const made = await fresh();
    expect(made).toMatchObject({ spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" } });
    expect(made.metadata.labels).toEqual({ "kubernetes.io/metadata.name": made.metadata.name });
    await here.client.delete(Namespace, at(made));
  });

  it("gets a default service account", async () => {
    const namespace = (await fresh()).metadata.name;
    const account = () => here.client.find(ServiceAccount, { namespace, name: "default" });
    await here.cluster.eventually(account, (found) => found !== undefined);
    await here.client.delete(Namespace, { name: namespace });
  });

  it("gets the authority that its pods are to trust, and gets it again", async () => {
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

  it.each(["default", "kube-system", "kube-public", "kube-node-lease"])("%s is there from the beginning", async (name) => {
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

  it("that is deleted shows that it is terminating, and when", async () => {
    const namespace = (await fresh()).metadata.name;
    await here.make(ConfigMap, { metadata: { namespace, finalizers: ["example.test/keep"] } });
    const going = await here.client.delete(Namespace, { name: namespace });
    expect(going).toMatchObject({ metadata: { deletionTimestamp: expect.any(String) }, status: { phase: "Terminating" } });
    await here.cluster.eventually(
      () => here.client.list(ConfigMap, { namespace }),
      ({ items }) => items.some(({ metadata }) => metadata.deletionTimestamp !== undefined),
    );
  });

  it("that is terminating takes nothing new", async () => {
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

  it("takes everything in it along", async () => {
    const namespace = (await fresh()).metadata.name;
    await here.make(ConfigMap, { metadata: { namespace, name: "a" } });
    await here.client.delete(Namespace, { name: namespace });
    await here.cluster.eventually(
      () => here.client.find(Namespace, { name: namespace }),
      (found) => found === undefined,
    );
    expect((await here.client.list(ConfigMap, { namespace })).items).toEqual([]);
  });

  it("of a name that is no label is refused", async () => {
    const refused = await refusal(here.client.create(Namespace, { metadata: { name: "a.b" } }));
    expect(refused.causes).toMatchObject([{ reason: "FieldValueInvalid", field: "metadata.name" }]);
  });

  it("may be deleted only if it is not one of the cluster's own", async () => {
    const refused = await refusal(here.client.delete(Namespace, { name: "default" }));
    expect(refused).toMatchObject({ status: 403, reason: "Forbidden" });
    expect(refused.said).toBe('namespaces "default" is forbidden: this namespace may not be deleted');
  });

  it("takes no pod of a service account that is not there", async () => {
    const refused = await refusal(here.make(Pod, pod({ spec: { serviceAccountName: "nobody" } })));
    expect(refused).toMatchObject({ status: 403, reason: "Forbidden" });
    expect(refused.said).toContain(
      `error looking up service account ${here.namespace}/nobody: serviceaccount "nobody" not found`,
    );
  });
});
