// What a person can do who has no binary: said once, at the end of the error that lists what was tried.
import type { Binary } from "./binary.ts";
import { variableOf } from "./named.ts";
import type { Search } from "./search.ts";

const sites = { kubernetes: "https://dl.k8s.io", etcd: "https://github.com", helm: "https://get.helm.sh" } as const;

export function remediesFor({ name, project }: Binary, { kubernetes, mirror }: Search): readonly string[] {
  const site = mirror ?? sites[project];
  return [
    `install Go ${kubernetes.go} or newer (https://go.dev/dl) where it can reach a Go module proxy (GOPROXY),`,
    `or let this machine reach ${site}, or set LOCALCLUSTER_RELEASE_URL to a mirror of the releases,`,
    `or set KUBEBUILDER_ASSETS to a folder that has ${name}, as setup-envtest makes one,`,
    `or set ${variableOf(name)} to the path of one.`,
  ];
}
