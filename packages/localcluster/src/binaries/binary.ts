// One binary of one version: the noun of this folder.
import type { KubernetesVersion } from "../versions.ts";

export type BinaryName =
  | "etcd"
  | "kube-apiserver"
  | "kube-controller-manager"
  | "kube-scheduler"
  | "kubelet"
  | "kube-proxy"
  | "kubectl";

export interface Binary {
  readonly name: BinaryName;
  /** Whose release it is part of. */
  readonly project: "etcd" | "kubernetes";
  /** The version of that release, without a "v". */
  readonly version: string;
}

/** The binary that a Kubernetes of this version wants under this name. */
export function binaryOf(name: BinaryName, kubernetes: KubernetesVersion): Binary {
  return name === "etcd"
    ? { name, project: "etcd", version: kubernetes.etcd }
    : { name, project: "kubernetes", version: kubernetes.patch };
}

/** For people: "kube-apiserver 1.37.1". */
export function describe({ name, version }: Binary): string {
  return `${name} ${version}`;
}
