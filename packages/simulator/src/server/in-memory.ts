// A transport of @memhog/runtime that calls the server in this process. Requests and responses contain the same text as over HTTP.
import type { Transport } from "@memhog/runtime/client";
import { abortable } from "@memhog/runtime/concurrency";
import type { Handler } from "./core.ts";

interface MemoryTransportOptions {
  /** Appears in the audit log and in managedFields. @default "memhog-runtime" */
  readonly userAgent?: string;
}

export function memoryTransport(handler: Handler, { userAgent = "memhog-runtime" }: MemoryTransportOptions = {}): Transport {
  return {
    request: async (request) => {
      request.signal?.throwIfAborted();
      const query = Object.fromEntries(Object.entries(request.query ?? {}).filter(([, value]) => value !== undefined));
      const headers = { accept: "application/json", "user-agent": userAgent, ...request.headers };
      // The server completes a request once it is sent, also if the caller no longer waits for the response.
      const response = await abortable(handler({ ...request, query, headers }), request.signal);
      if (typeof response.body === "string" || request.stream) return response;
      return { ...response, body: await collected(response.body) };
    },
  };
}

async function collected(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of chunks) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

// The objects that exist in every new cluster.

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

/** Creates the objects through the API, so that they get defaults and metadata. */
export async function seed(handler: Handler): Promise<void> {
  const transport = memoryTransport(handler, { userAgent: "kube-apiserver" });
  for (const { path, object } of objects) {
    const { status, body } = await transport.request({ method: "POST", path, body: JSON.stringify(object) });
    if (status !== 201) throw new Error(`expected 201 when creating ${path}, found ${status}: ${String(body)}`);
  }
}
