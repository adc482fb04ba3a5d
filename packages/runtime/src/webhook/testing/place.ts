// For cluster tests: a namespace per test, whose writes are sent to the test's webhook.
import type { Client } from "../../client/client.ts";
import { loadConfig } from "../../client/config/load.ts";
import { createClient } from "../../client/create-client.ts";
import { systemEnvironment } from "../../concurrency/system-environment.ts";
import type { ConfigMap } from "../../objects/kinds/core.ts";
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from "../../objects/kinds/extension.ts";
import { webhookConfigurations } from "../configuration.ts";
import { selfSignedCertificates } from "../self-signed.ts";
import { serveWebhooks } from "../serve-webhooks.ts";
import type { AdmissionWebhookOptions, Webhook } from "../webhooks.ts";

export const environment = systemEnvironment();

/** The part of a test cluster that these helpers need. */
export interface SomeCluster extends AsyncDisposable {
  readonly defaultNamespace: string;
  readonly kubeconfig: string;
  apply(...manifests: readonly object[]): Promise<unknown>;
}

export interface Place<C extends SomeCluster = SomeCluster> extends AsyncDisposable {
  readonly cluster: C;
  readonly client: Client;
  readonly namespace: string;
  /** Restricts a webhook to the test's namespace, with failurePolicy Fail. */
  readonly here: AdmissionWebhookOptions;
  /** Name of the test's webhook configurations. */
  readonly name: string;
  configMap(name: string, data?: Record<string, string>): ConfigMap;
}

export async function place<C extends SomeCluster>(cluster: C): Promise<Place<C>> {
  const namespace = cluster.defaultNamespace;
  const client = createClient({
    config: await loadConfig({ kubeconfig: cluster.kubeconfig }),
    environment,
    rateLimit: { qps: 500, burst: 500 },
  });
  const name = `webhook-test-${namespace}`;
  return {
    ...{ cluster, client, namespace, name },
    here: {
      failurePolicy: "Fail",
      excludeNamespaces: [],
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
    },
    configMap: (called, data = {}) => ({ metadata: { namespace, name: called }, data }),
    async [Symbol.asyncDispose]() {
      for (const kind of [ValidatingWebhookConfiguration, MutatingWebhookConfiguration]) {
        if ((await client.find(kind, { name })) !== undefined) await client.delete(kind, { name });
      }
      await client.close();
      await cluster[Symbol.asyncDispose]();
    },
  };
}

/** Serves webhooks with a self-signed certificate, registered and trusted, until disposed. */
export async function serving({ client, name, cluster }: Place, webhooks: readonly Webhook[]) {
  const ending = new AbortController();
  const certificates = selfSignedCertificates({ name, names: ["127.0.0.1"], environment });
  const running = await serveWebhooks(
    { webhooks, certificates, environment, host: "127.0.0.1", port: 0, trust: { client, name } },
    ending.signal,
  );
  const url = `https://127.0.0.1:${running.port}`;
  if (webhooks.some(({ type }) => type !== "convert")) await cluster.apply(...webhookConfigurations(webhooks, { name, url }));
  return {
    url,
    [Symbol.asyncDispose]: () => running.close(),
  };
}
