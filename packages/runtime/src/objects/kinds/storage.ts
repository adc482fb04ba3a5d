// Kinds of storage that have no namespace, and snapshots. PersistentVolumeClaim is in core.ts. VolumeSnapshot is a CRD: a cluster
// without it answers 404.
import type { Kind, KubernetesObject } from "../object.ts";

import type { AccessMode } from "./core.ts";
import { clusterKind, namespacedKind, type ObjectReference, type ResourceList, type Time } from "./kind.ts";

/** `v1` `persistentvolumes`. */
export interface PersistentVolume extends KubernetesObject {
  readonly spec?: PersistentVolumeSpec;
  readonly status?: {
    readonly phase?: "Pending" | "Available" | "Bound" | "Released" | "Failed";
    readonly reason?: string;
    readonly message?: string;
  };
}
export const PersistentVolume: Kind<PersistentVolume> = clusterKind("v1", "PersistentVolume", "persistentvolumes");

/** The source of the volume (csi, hostPath, nfs, …) is one more field. */
export interface PersistentVolumeSpec {
  readonly capacity?: ResourceList;
  readonly accessModes?: readonly AccessMode[];
  readonly storageClassName?: string;
  readonly persistentVolumeReclaimPolicy?: "Retain" | "Delete" | "Recycle";
  readonly volumeMode?: "Filesystem" | "Block";
  readonly claimRef?: ObjectReference;
  readonly mountOptions?: readonly string[];
  readonly [source: string]: unknown;
}

/** `storage.k8s.io/v1` `storageclasses`. */
export interface StorageClass extends KubernetesObject {
  readonly provisioner: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly reclaimPolicy?: "Retain" | "Delete";
  readonly volumeBindingMode?: "Immediate" | "WaitForFirstConsumer";
  readonly allowVolumeExpansion?: boolean;
  readonly mountOptions?: readonly string[];
}
export const StorageClass: Kind<StorageClass> = clusterKind("storage.k8s.io/v1", "StorageClass", "storageclasses");

/** `snapshot.storage.k8s.io/v1` `volumesnapshots`, if the cluster has the CRD. */
export interface VolumeSnapshot extends KubernetesObject {
  readonly spec: {
    readonly volumeSnapshotClassName?: string;
    readonly source: { readonly persistentVolumeClaimName?: string; readonly volumeSnapshotContentName?: string };
  };
  readonly status?: {
    readonly readyToUse?: boolean;
    readonly boundVolumeSnapshotContentName?: string;
    readonly creationTime?: Time;
    readonly restoreSize?: string | number;
    readonly error?: { readonly message?: string; readonly time?: Time };
  };
}
export const VolumeSnapshot: Kind<VolumeSnapshot> = namespacedKind(
  "snapshot.storage.k8s.io/v1",
  "VolumeSnapshot",
  "volumesnapshots",
);
