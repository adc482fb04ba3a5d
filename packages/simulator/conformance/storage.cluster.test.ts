// PersistentVolumeClaims, volumes and classes: default classes, static binding, protection, expansion.
import { describe, expect, it } from "vitest";
import { PersistentVolume, PersistentVolumeClaim, Pod, pod, StorageClass } from "./kinds.ts";
import { at, type Loose, merge, refusal, world } from "./world.ts";

const here = world();
const accessModes = ["ReadWriteOnce"];
const claim = (spec: object = {}): Loose => ({
  spec: { accessModes, resources: { requests: { storage: "1Gi" } }, storageClassName: "", ...spec },
});
const volume = (storageClassName: string, storage: string): Loose => ({
  metadata: { name: `${here.namespace}-${here.name()}` },
  spec: { accessModes, capacity: { storage }, storageClassName, hostPath: { path: "/nowhere" } },
});
const get = (object: Loose) => here.client.get(PersistentVolumeClaim, at(object));
const gone = (object: Loose) =>
  here.cluster.eventually(
    () => here.client.find(PersistentVolumeClaim, at(object)),
    (found) => found === undefined,
  );

describe("a PersistentVolumeClaim", () => {
  it("has the protection finalizer from the start and is deleted when no pod uses it", async () => {
    const made = await here.make(PersistentVolumeClaim, claim());
    expect(made.metadata.finalizers).toEqual(["kubernetes.io/pvc-protection"]);
    await here.client.delete(PersistentVolumeClaim, at(made));
    await gone(made);
  });

  it("stays while a scheduled pod uses it and is deleted with the pod", async () => {
    const made = await here.make(PersistentVolumeClaim, claim());
    const volumes = [{ name: "data", persistentVolumeClaim: { claimName: made.metadata.name } }];
    const user = await here.make(Pod, pod({ spec: { volumes, nodeName: "no-such-node" } }));
    const other = await here.make(PersistentVolumeClaim, claim());
    await here.client.delete(PersistentVolumeClaim, at(made));
    await here.client.delete(PersistentVolumeClaim, at(other));
    await gone(other);
    expect((await get(made)).metadata.deletionTimestamp).toBeDefined();
    await here.client.delete(Pod, at(user), { gracePeriodSeconds: 0 });
    await gone(made);
  });

  it("without a class gets the default class on creation", async () => {
    const name = `${here.namespace}-default`;
    const metadata = { name, annotations: { "storageclass.kubernetes.io/is-default-class": "true" } };
    await here.make(StorageClass, { metadata, provisioner: "kubernetes.io/no-provisioner" });
    try {
      const { storageClassName: _, ...spec } = claim().spec;
      const made = await here.cluster.eventually(
        () => here.make(PersistentVolumeClaim, { spec }),
        ({ spec }) => spec.storageClassName === name,
      );
      expect(made.status).toEqual({ phase: "Pending" });
      expect((await here.make(PersistentVolumeClaim, claim())).spec.storageClassName).toBe("");
    } finally {
      await here.client.delete(StorageClass, { name });
    }
  });

  it("is bound to the smallest sufficient volume of its class", async () => {
    const storageClassName = `${here.namespace}-static`;
    await here.make(PersistentVolume, volume(storageClassName, "100Mi"));
    const fitting = await here.make(PersistentVolume, volume(storageClassName, "2Gi"));
    await here.make(PersistentVolume, volume(storageClassName, "8Gi"));
    const made = await here.make(PersistentVolumeClaim, claim({ storageClassName }));
    const bound = await here.cluster.eventually(
      () => get(made),
      ({ status }) => status?.phase === "Bound",
    );
    expect(bound.spec.volumeName).toBe(fitting.metadata.name);
    expect(bound.status).toMatchObject({ accessModes, capacity: { storage: "2Gi" } });
    expect(bound.metadata.annotations).toMatchObject({ "pv.kubernetes.io/bind-completed": "yes" });
    const taken = await here.cluster.eventually(
      () => here.client.get(PersistentVolume, at(fitting)),
      ({ status }) => status?.phase === "Bound",
    );
    expect(taken.spec.claimRef).toMatchObject({
      kind: "PersistentVolumeClaim",
      name: made.metadata.name,
      uid: made.metadata.uid,
    });

    await here.client.delete(PersistentVolumeClaim, at(made));
    await gone(made);
    await here.cluster.eventually(
      () => here.client.get(PersistentVolume, at(fitting)),
      ({ status }) => status?.phase === "Released",
    );
    await here.client.delete(PersistentVolume, at(fitting));
    await here.cluster.eventually(
      () => here.client.find(PersistentVolume, at(fitting)),
      (found) => found === undefined,
    );
  });

  it("stays Pending while no volume of its class is large enough", async () => {
    const storageClassName = `${here.namespace}-small`;
    await here.make(PersistentVolume, volume(storageClassName, "100Mi"));
    const pending = await here.make(PersistentVolumeClaim, claim({ storageClassName }));
    // Once another claim is bound, the controller has also seen this one.
    await here.make(PersistentVolume, volume(`${storageClassName}-other`, "2Gi"));
    const other = await here.make(PersistentVolumeClaim, claim({ storageClassName: `${storageClassName}-other` }));
    await here.cluster.eventually(
      () => get(other),
      ({ status }) => status?.phase === "Bound",
    );
    expect((await get(pending)).status).toEqual({ phase: "Pending" });
  });

  it("cannot be resized before it is bound", async () => {
    const made = await here.make(PersistentVolumeClaim, claim());
    const patch = merge({ spec: { resources: { requests: { storage: "2Gi" } } } });
    expect(await refusal(here.client.patch(PersistentVolumeClaim, at(made), patch))).toMatchObject({ status: 422 });
  });

  it("can be expanded, but not shrunk, if it is bound and its class allows expansion", async () => {
    const storageClassName = `${here.namespace}-growing`;
    const metadata = { name: storageClassName };
    await here.make(StorageClass, { metadata, provisioner: "kubernetes.io/no-provisioner", allowVolumeExpansion: true });
    await here.make(PersistentVolume, volume(storageClassName, "2Gi"));
    const made = await here.make(PersistentVolumeClaim, claim({ storageClassName, resources: { requests: { storage: "2Gi" } } }));
    await here.cluster.eventually(
      () => get(made),
      ({ status }) => status?.phase === "Bound",
    );
    const request = (storage: string) =>
      here.client.patch(PersistentVolumeClaim, at(made), merge({ spec: { resources: { requests: { storage } } } }));
    const larger = await here.cluster.eventually(
      () => request("4Gi"), // admission watches classes
      ({ spec }) => spec.resources.requests.storage === "4Gi",
    );
    expect(larger.metadata.uid).toBe(made.metadata.uid);
    const refused = await refusal(request("1Gi"));
    expect(refused.causes).toMatchObject([{ reason: "FieldValueForbidden", field: "spec.resources.requests.storage" }]);
    await here.client.delete(StorageClass, metadata);
  });

  it("cannot be expanded if its class does not allow it", async () => {
    const storageClassName = `${here.namespace}-fixed`;
    await here.make(PersistentVolume, volume(storageClassName, "2Gi"));
    const made = await here.make(PersistentVolumeClaim, claim({ storageClassName }));
    await here.cluster.eventually(
      () => get(made),
      ({ status }) => status?.phase === "Bound",
    );
    const patch = merge({ spec: { resources: { requests: { storage: "4Gi" } } } });
    const refused = await refusal(here.client.patch(PersistentVolumeClaim, at(made), patch));
    expect(refused).toMatchObject({ status: 403, reason: "Forbidden" });
    expect(refused.said).toContain("only dynamically provisioned pvc can be resized");
  });
});
