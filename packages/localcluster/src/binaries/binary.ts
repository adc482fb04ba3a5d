// One binary of one version: the noun of this folder.
import { helmVersion, type KubernetesVersion } from "../versions.ts";

export type BinaryName =
  | "etcd"
  | "kube-apiserver"
  | "kube-controller-manager"
  | "kube-scheduler"
  | "kubelet"
  | "kube-proxy"
  | "kubectl"
  | "helm";

export interface Binary {
  readonly name: BinaryName;
  /** Whose release it is part of. */
  readonly project: "etcd" | "kubernetes" | "helm";
  /** The version of that release, without a "v". */
  readonly version: string;
}

/** The binary that a Kubernetes of this version wants under this name. */
export function binaryOf(name: BinaryName, kubernetes: KubernetesVersion): Binary {
  if (name === "etcd") return { name, project: "etcd", version: kubernetes.etcd };
  if (name === "helm") return { name, project: "helm", version: helmVersion };
  return { name, project: "kubernetes", version: kubernetes.patch };
}

/** For people: "kube-apiserver 1.37.1". */
export function describe({ name, version }: Binary): string {
  return `${name} ${version}`;
}
