// Kinds that the server stores, defaults and validates, without an effect of their own in a cluster without network and volumes.
import * as kinds from "@memhog/runtime/kinds";
import { describe, expect, it } from "vitest";
import { define } from "./definitions.ts";
import { CustomResourceDefinition } from "./kinds.ts";
import { at, type Loose, loose, merge, refusal, world } from "./world.ts";

const here = world();
const clusterName = () => ({ name: `${here.namespace}-${here.name()}` });

const backend = { service: { name: "web", port: { number: 80 } } };
const ingress = (pathType?: string): Loose => ({ spec: { rules: [{ http: { paths: [{ path: "/", pathType, backend }] } }] } });

describe("an Ingress", () => {
  it("is stored as sent, and its generation counts changes of its spec", async () => {
    const made = await here.make(loose(kinds.Ingress), ingress("Prefix"));
    expect(made.spec).toEqual(ingress("Prefix").spec);
    const patch = merge({ spec: { ingressClassName: "x" } });
    expect((await here.client.patch(loose(kinds.Ingress), at(made), patch)).metadata.generation).toBe(2);
  });
});

describe("a NetworkPolicy", () => {
  it("gets its policy types and the protocol of its ports by default", async () => {
    const spec = { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }], egress: [{}] };
    const { spec: stored } = await here.make(loose(kinds.NetworkPolicy), { spec });
    expect(stored).toMatchObject({ policyTypes: ["Ingress", "Egress"], ingress: [{ ports: [{ port: 80, protocol: "TCP" }] }] });
  });
});

describe("a PriorityClass", () => {
  it("preempts by default", async () => {
    const PriorityClass = loose(kinds.PriorityClass);
    const made = await here.make(PriorityClass, { metadata: clusterName(), value: 7 });
    expect([made.value, made.preemptionPolicy]).toEqual([7, "PreemptLowerPriority"]);
    await here.client.delete(PriorityClass, at(made));
  });
});

describe("a StorageClass", () => {
  it("deletes volumes and binds at once by default", async () => {
    const StorageClass = loose(kinds.StorageClass);
    const made = await here.make(StorageClass, { metadata: clusterName(), provisioner: "example.com/none" });
    expect([made.reclaimPolicy, made.volumeBindingMode]).toEqual(["Delete", "Immediate"]);
    await here.client.delete(StorageClass, at(made));
  });
});

describe("a PersistentVolume", () => {
  it("is retained by default, and protected", async () => {
    const PersistentVolume = loose(kinds.PersistentVolume);
    const spec = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/nowhere" } };
    const made = await here.make(PersistentVolume, { metadata: clusterName(), spec: { ...spec, storageClassName: "nobody" } });
    expect(made.spec).toMatchObject({ persistentVolumeReclaimPolicy: "Retain", volumeMode: "Filesystem" });
    expect(made.metadata.finalizers).toEqual(["kubernetes.io/pv-protection"]);
    await here.client.delete(PersistentVolume, at(made));
  });
});

describe("a VolumeSnapshot", () => {
  it("is unknown without its CRD, and stored with it", async () => {
    const VolumeSnapshot = loose(kinds.VolumeSnapshot);
    const source = { persistentVolumeClaimName: "data" };
    const snapshot = { metadata: { namespace: here.namespace, name: "s" }, spec: { source } };
    expect((await refusal(here.client.create(VolumeSnapshot, snapshot))).status).toBe(404);
    const { group, version, kind, plural } = kinds.VolumeSnapshot;
    // The server accepts definitions in *.k8s.io only with a reference to their approval.
    const annotations = { "api-approved.kubernetes.io": "https://github.com/kubernetes-csi/external-snapshotter/pull/665" };
    const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    const crd = {
      metadata: { name: `${plural}.${group}`, annotations },
      spec: {
        ...{ group, scope: "Namespaced", names: { kind, plural } },
        versions: [
          { name: version, served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: open } },
        ],
      },
    };
    await define(here, { kind: VolumeSnapshot, crd });
    const made = await here.client.create(VolumeSnapshot, snapshot);
    const ready = merge({ status: { readyToUse: true } });
    const done = await here.client.patch(VolumeSnapshot, at(made), ready, { subresource: "status" });
    expect([done.spec, done.status]).toEqual([{ source }, { readyToUse: true }]);
    await here.client.delete(CustomResourceDefinition, { name: crd.metadata.name });
  });
});
