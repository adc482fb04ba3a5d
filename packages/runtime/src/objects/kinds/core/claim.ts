import type { Kind, KubernetesObject } from "../../object.ts";
import type { Condition, LabelSelector, ResourceList, Time } from "../common.ts";
import { namespacedKind } from "../kind.ts";

/** A wish for storage: `v1` `persistentvolumeclaims`. */
export interface PersistentVolumeClaim extends KubernetesObject {
  readonly spec: PersistentVolumeClaimSpec;
  readonly status?: PersistentVolumeClaimStatus;
}
export const PersistentVolumeClaim: Kind<PersistentVolumeClaim> = namespacedKind(
  "v1",
  "PersistentVolumeClaim",
  "persistentvolumeclaims",
);

export type AccessMode = "ReadWriteOnce" | "ReadOnlyMany" | "ReadWriteMany" | "ReadWriteOncePod";

export interface PersistentVolumeClaimSpec {
  readonly accessModes?: readonly AccessMode[];
  readonly resources?: { readonly requests?: ResourceList; readonly limits?: ResourceList };
  /** Left out: the cluster's default class; "": no class. */
  readonly storageClassName?: string;
  readonly volumeAttributesClassName?: string;
  readonly volumeMode?: "Filesystem" | "Block";
  readonly volumeName?: string;
  readonly selector?: LabelSelector;
  readonly dataSource?: DataSource;
  readonly dataSourceRef?: DataSource & { readonly namespace?: string };
}

export interface DataSource {
  readonly apiGroup?: string;
  readonly kind: string;
  readonly name: string;
}

export interface PersistentVolumeClaimStatus {
  readonly phase?: "Pending" | "Bound" | "Lost";
  readonly accessModes?: readonly AccessMode[];
  readonly capacity?: ResourceList;
  readonly allocatedResources?: ResourceList;
  readonly allocatedResourceStatuses?: Readonly<Record<string, string>>;
  readonly conditions?: readonly (Condition & { readonly lastProbeTime?: Time | null })[];
}
