import type { Kind, KubernetesObject } from "../../object.ts";
import { namespacedKind } from "../kind.ts";

/** Configuration by key: `v1` `configmaps`. */
export interface ConfigMap extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>;
  /** Base64. */
  readonly binaryData?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
}
export const ConfigMap: Kind<ConfigMap> = namespacedKind("v1", "ConfigMap", "configmaps");

/** Secrets by key: `v1` `secrets`. */
export interface Secret extends KubernetesObject {
  readonly type?: string;
  /** Base64. */
  readonly data?: Readonly<Record<string, string>>;
  /** Plain text, for writing only; the server never returns it. */
  readonly stringData?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
}
export const Secret: Kind<Secret> = namespacedKind("v1", "Secret", "secrets");
