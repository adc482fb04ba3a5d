// Installs the operator in a real cluster from the files in deploy/, in a namespace that enforces restricted Pod Security.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import type { TestCluster } from "@memhog/localcluster/testing";
import { operatorName } from "../api/names.ts";

const deploy = join(import.meta.dirname, "../../deploy");

export interface InstallOptions {
  /** @default the namespace of the test */
  readonly namespace?: string;
  /** A folder of deploy/. @default "operator" */
  readonly variant?: string;
  /** Folders of deploy/components. */
  readonly components?: readonly string[];
  /** Strategic merge patches, as a user would write them. */
  readonly patches?: readonly object[];
}

/** Applies a kustomization as a user would write it. Disposing deletes its objects. */
export async function kustomized(cluster: TestCluster, options: InstallOptions = {}): Promise<AsyncDisposable> {
  const { namespace = cluster.defaultNamespace, variant = "operator", components = [], patches = [] } = options;
  const folder = await mkdtemp(join(tmpdir(), "kustomize-"));
  const from = (path: string) => relative(folder, join(deploy, path)); // kustomize takes no absolute paths
  const kustomization = {
    namespace,
    resources: [from(variant)],
    components: components.map((part) => from(`components/${part}`)),
    patches: patches.map((patch) => ({ patch: JSON.stringify(patch) })),
  };
  await writeFile(join(folder, "kustomization.yaml"), JSON.stringify(kustomization));
  const there = `--namespace=${namespace}`;
  await cluster.kubectl("apply", "-k", join(deploy, "crd"));
  await cluster.kubectl("apply", "-k", folder, there);
  return {
    async [Symbol.asyncDispose]() {
      await cluster.kubectl("delete", "-k", folder, there, "--ignore-not-found");
      await rm(folder, { recursive: true });
    },
  };
}

/** The patch from deploy/README.md that sets the address of Prometheus, and a shorter interval. */
export function withPrometheusAt(address: string): object {
  const container = {
    name: "operator",
    env: [
      { name: "PROMETHEUS_ADDR", value: address },
      { name: "INTERVAL", value: "5s" },
    ],
  };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: operatorName },
    spec: { template: { spec: { containers: [container] } } },
  };
}

/** The address of the cluster's Prometheus as reachable from pods. */
export async function prometheusFor(cluster: Pick<TestCluster, "kubectl">): Promise<string> {
  const address = await cluster.kubectl("get", "nodes", "-o", "jsonpath={.items[0].status.addresses[0].address}");
  return `http://${address}:9090`;
}
