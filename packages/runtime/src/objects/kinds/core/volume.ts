import type { LocalObjectReference, QuantityText, TemplateMeta } from "../common.ts";
import type { PersistentVolumeClaimSpec } from "./claim.ts";
import type { ResourceFieldSelector } from "./container.ts";

/** A volume of a pod: a name and exactly one source. Sources that clusters rarely offer any more are left to `unknown`. */
export interface Volume {
  readonly name: string;
  readonly configMap?: ConfigMapVolumeSource;
  readonly secret?: SecretVolumeSource;
  readonly emptyDir?: { readonly medium?: "" | "Memory" | (string & {}); readonly sizeLimit?: QuantityText };
  readonly persistentVolumeClaim?: { readonly claimName: string; readonly readOnly?: boolean };
  readonly ephemeral?: {
    readonly volumeClaimTemplate?: { readonly metadata?: TemplateMeta; readonly spec: PersistentVolumeClaimSpec };
  };
  readonly projected?: { readonly defaultMode?: number; readonly sources?: readonly VolumeProjection[] };
  readonly downwardAPI?: { readonly defaultMode?: number; readonly items?: readonly DownwardApiFile[] };
  readonly hostPath?: { readonly path: string; readonly type?: string };
  readonly csi?: CsiVolumeSource;
  readonly nfs?: { readonly server: string; readonly path: string; readonly readOnly?: boolean };
  readonly image?: { readonly reference?: string; readonly pullPolicy?: "Always" | "IfNotPresent" | "Never" };
  readonly [source: string]: unknown;
}

/** Which key becomes which file. */
export interface KeyToPath {
  readonly key: string;
  readonly path: string;
  readonly mode?: number;
}

export interface ConfigMapVolumeSource {
  readonly name?: string;
  readonly items?: readonly KeyToPath[];
  readonly defaultMode?: number;
  readonly optional?: boolean;
}

export interface SecretVolumeSource {
  readonly secretName?: string;
  readonly items?: readonly KeyToPath[];
  readonly defaultMode?: number;
  readonly optional?: boolean;
}

export interface DownwardApiFile {
  readonly path: string;
  readonly fieldRef?: { readonly apiVersion?: string; readonly fieldPath: string };
  readonly resourceFieldRef?: ResourceFieldSelector;
  readonly mode?: number;
}

export interface VolumeProjection {
  readonly configMap?: Omit<ConfigMapVolumeSource, "defaultMode">;
  readonly secret?: Omit<ConfigMapVolumeSource, "defaultMode">;
  readonly downwardAPI?: { readonly items?: readonly DownwardApiFile[] };
  readonly serviceAccountToken?: { readonly path: string; readonly audience?: string; readonly expirationSeconds?: number };
  readonly clusterTrustBundle?: Readonly<Record<string, unknown>>;
  readonly podCertificate?: Readonly<Record<string, unknown>>;
}

export interface CsiVolumeSource {
  readonly driver: string;
  readonly readOnly?: boolean;
  readonly fsType?: string;
  readonly volumeAttributes?: Readonly<Record<string, string>>;
  readonly nodePublishSecretRef?: LocalObjectReference;
}
