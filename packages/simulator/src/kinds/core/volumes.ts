// PersistentVolumeClaims, PersistentVolumes, and StorageClasses (controllers/storage.ts).
import { parseQuantity } from "@memhog/runtime";
import { type ApiObject, type Draft, objectAt, sameJson, valueAt } from "../../json.ts";
import { type FieldError, forbiddenField, required } from "../../server/field-error.ts";
import { ageColumn, at, nameColumn, text, wide } from "../columns.ts";
import { builtIn, type KindEntry, type PrepareContext, status } from "../kind-entry.ts";

const short: Readonly<Record<string, string>> = {
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP",
};

const modes = (where: string) => (object: ApiObject) => {
  const found = valueAt(object, where, "accessModes");
  return (Array.isArray(found) ? found : []).map((mode) => short[mode] ?? mode).join(",");
};

/** Adds a protection finalizer on creation, as the API server does. The controllers remove it when the object is unused. */
const protectedBy =
  (finalizer: string, initial: Readonly<Record<string, unknown>>) => (draft: Draft, context: PrepareContext) => {
    if (context.old !== undefined) return;
    draft.status = { ...initial };
    draft.metadata.finalizers = [...(draft.metadata.finalizers ?? []), finalizer];
  };

const spec = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";

function validateClaim(claim: ApiObject, old: ApiObject | undefined): readonly FieldError[] {
  const { accessModes, resources } = objectAt(claim, "spec");
  const isBound = valueAt(old, "status", "phase") === "Bound";
  const fixed = (object: ApiObject) => ({
    ...objectAt(object, "spec"),
    volumeName: undefined,
    ...(isBound && { resources: undefined }),
  });
  return [
    ...(Array.isArray(accessModes) ? [] : [required("spec.accessModes", "at least 1 access mode is required")]),
    ...(valueAt(resources, "requests", "storage") ? [] : [required("spec.resources[storage]")]),
    ...(old === undefined || sameJson(fixed(claim), fixed(old)) ? [] : [forbiddenField("spec", spec)]),
    ...(old === undefined || !isShrunk(claim, old)
      ? []
      : [forbiddenField("spec.resources.requests.storage", "field can not be less than status.capacity")]),
  ];
}

/** Whether a claim requests less than before. Reducing a request that was not yet fulfilled is allowed. */
function isShrunk(claim: ApiObject, old: ApiObject): boolean {
  const requested = (object: ApiObject) =>
    parseQuantity(String(valueAt(object, "spec", "resources", "requests", "storage") ?? 0));
  const has = parseQuantity(String(valueAt(old, "status", "capacity", "storage") ?? 0));
  return requested(claim).compare(requested(old)) < 0 && requested(claim).compare(has) <= 0;
}

export const claimDefaults = { "spec!": { volumeMode: "Filesystem" }, "status!": { phase: "Pending" } };

export const persistentVolumeClaims: KindEntry = builtIn("", "v1", "PersistentVolumeClaim", {
  shortNames: ["pvc"],
  returnsDeleted: true,
  table: claimDefaults,
  prepare: protectedBy("kubernetes.io/pvc-protection", { phase: "Pending" }),
  validate: validateClaim,
  columns: [
    nameColumn,
    text("Status", (claim) => (claim.metadata.deletionTimestamp ? "Terminating" : at(".status.phase", "")(claim))),
    text("Volume", at(".spec.volumeName", "")),
    text("Capacity", at(".status.capacity.storage", "")),
    text("Access Modes", modes("status")),
    text("StorageClass", at(".spec.storageClassName", "")),
    text("VolumeAttributesClass", at(".spec.volumeAttributesClassName", "<unset>")),
    ageColumn,
    text("VolumeMode", at(".spec.volumeMode", "<unset>"), wide),
  ],
  subresources: status,
});

export const persistentVolumes: KindEntry = builtIn("", "v1", "PersistentVolume", {
  namespaced: false,
  shortNames: ["pv"],
  returnsDeleted: true,
  table: { "spec!": { persistentVolumeReclaimPolicy: "Retain", volumeMode: "Filesystem", "hostPath?": { type: "" } } },
  prepare: (draft, context) =>
    protectedBy("kubernetes.io/pv-protection", { phase: "Pending", lastPhaseTransitionTime: context.now })(draft, context),
  columns: [
    nameColumn,
    text("Capacity", at(".spec.capacity.storage", "")),
    text("Access Modes", modes("spec")),
    text("Reclaim Policy", at(".spec.persistentVolumeReclaimPolicy", "")),
    text("Status", at(".status.phase", "")),
    text("Claim", (volume) => {
      const { namespace, name } = objectAt(volume, "spec", "claimRef");
      return name === undefined ? "" : `${namespace}/${name}`;
    }),
    text("StorageClass", at(".spec.storageClassName", "")),
    text("VolumeAttributesClass", at(".spec.volumeAttributesClassName", "<unset>")),
    text("Reason", at(".status.reason", "")),
    ageColumn,
    text("VolumeMode", at(".spec.volumeMode", "<unset>"), wide),
  ],
  subresources: status,
});

export const storageClasses: KindEntry = builtIn("storage.k8s.io", "v1", "StorageClass", {
  namespaced: false,
  plural: "storageclasses",
  shortNames: ["sc"],
  table: { reclaimPolicy: "Delete", volumeBindingMode: "Immediate" },
  columns: [
    nameColumn,
    text("Provisioner", ".provisioner"),
    text("ReclaimPolicy", ".reclaimPolicy"),
    text("VolumeBindingMode", ".volumeBindingMode"),
    text("AllowVolumeExpansion", at(".allowVolumeExpansion", false)),
    ageColumn,
  ],
});
