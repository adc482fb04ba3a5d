// For tests on a cluster: a namespace of one's own whose writes a webhook of one's own is asked about.
import type { Client } from "../../client/client.ts";
import { connect } from "../../client/connect.ts";
import { systemEnvironment } from "../../concurrency/system-environment.ts";
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from "../../objects/kinds/admissionregistration.ts";
import type { ConfigMap } from "../../objects/kinds/core/config.ts";
import { webhookConfigurations } from "../configuration.ts";
import { selfMadeCertificates } from "../self-made.ts";
import { serveWebhooks } from "../serve-webhooks.ts";
import type { AdmissionWebhookOptions, Webhook } from "../webhooks.ts";

export const environment = systemEnvironment();

/** What these tests need of a cluster; they bring it. */
export interface SomeCluster extends AsyncDisposable {
  readonly defaultNamespace: string;
  readonly kubeconfig: string;
  apply(...manifests: readonly object[]): Promise<unknown>;
}

export interface Place<C extends SomeCluster = SomeCluster> extends AsyncDisposable {
  readonly cluster: C;
  readonly client: Client;
  readonly namespace: string;
  /** Only what happens in the test's own namespace, and nothing passes if we are not asked. */
  readonly here: AdmissionWebhookOptions;
  /** Name of the test's webhook configurations. */
  readonly name: string;
  configMap(name: string, data?: Record<string, string>): ConfigMap;
}

export async function place<C extends SomeCluster>(cluster: C): Promise<Place<C>> {
  const namespace = cluster.defaultNamespace;
  const client = await connect({ environment, kubeconfig: cluster.kubeconfig, rateLimit: { qps: 500, burst: 500 } });
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

/** Serves webhooks with a certificate of our own, registered and trusted, until it is disposed of. */
export async function serving({ client, name, cluster }: Place, webhooks: readonly Webhook[]) {
  const ending = new AbortController();
  const certificates = selfMadeCertificates({ name, names: ["127.0.0.1"], environment });
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
