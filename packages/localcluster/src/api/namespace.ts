import type { Api } from "./client.ts";
import { type EventuallyOptions, eventually } from "./eventually.ts";
import type { KubernetesObject } from "./objects.ts";

/** A new namespace with a name of its own. */
export async function createNamespace(api: Api): Promise<string> {
  const made = await api.request<KubernetesObject>("POST", "/api/v1/namespaces", { metadata: { generateName: "test-" } });
  return made.metadata.name ?? "";
}

/** A pod is refused until its namespace has the service account it would run as; a controller makes it a moment later. */
export async function untilPodsMayBeMade(api: Api, namespace: string, options: EventuallyOptions = {}): Promise<void> {
  await eventually(
    () => api.request("GET", `/api/v1/namespaces/${namespace}/serviceaccounts/default`),
    () => true,
    { what: `namespace ${namespace} has its default service account`, ...options },
  );
}
