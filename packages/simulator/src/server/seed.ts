// What a cluster has before anybody has asked it for anything.

import type { Handler } from "./handler.ts";
import { memoryTransport } from "./memory-transport.ts";

const namespaces = ["default", "kube-node-lease", "kube-public", "kube-system"];

const objects: readonly { readonly path: string; readonly object: object }[] = [
  ...namespaces.map((name) => ({ path: "/api/v1/namespaces", object: { metadata: { name } } })),
  ...[
    {
      name: "system-cluster-critical",
      value: 2_000_000_000,
      description: "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    },
    {
      name: "system-node-critical",
      value: 2_000_001_000,
      description: "Used for system critical pods that must not be moved from their current node.",
    },
  ].map(({ name, ...rest }) => ({
    path: "/apis/scheduling.k8s.io/v1/priorityclasses",
    object: { metadata: { name }, ...rest },
  })),
  {
    path: "/api/v1/namespaces/default/services",
    object: {
      metadata: { name: "kubernetes", labels: { component: "apiserver", provider: "kubernetes" } },
      spec: { clusterIP: "10.96.0.1", ports: [{ name: "https", port: 443, targetPort: 6443 }] },
    },
  },
];

/** Creates it all through the front door, so that it looks like everything else. */
export async function seed(handler: Handler): Promise<void> {
  const transport = memoryTransport(handler, { userAgent: "kube-apiserver" });
  for (const { path, object } of objects) {
    const { status, body } = await transport.request({ method: "POST", path, body: JSON.stringify(object) });
    if (status !== 201) throw new Error(`expected the simulator to begin with ${path}, found ${status}: ${String(body)}`);
  }
}
