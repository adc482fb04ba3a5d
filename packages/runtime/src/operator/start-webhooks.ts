// Starts the webhook server of an operator with the certificates that its options select.

import { join } from "node:path";
import type { Logger } from "../concurrency/environment.ts";
import type { CertificateSource } from "../webhook/certificates.ts";
import { namesOf, type WebhookAddress } from "../webhook/configuration.ts";
import { fileCertificates } from "../webhook/file-certificates.ts";
import { selfSignedCertificates } from "../webhook/self-signed.ts";
import { type RunningWebhooks, serveWebhooks } from "../webhook/serve-webhooks.ts";
import type { Connection } from "./connection.ts";
import { type OperatorMetrics, webhookMetrics } from "./metrics.ts";
import { certificateSecretOf, type ResolvedOptions } from "./options.ts";

export interface WebhookTools {
  readonly connection: Connection;
  readonly metrics: OperatorMetrics;
  readonly log: Logger;
}

/** Resolves once the API server can call them. */
export async function startWebhooks(
  options: ResolvedOptions,
  tools: WebhookTools,
  signal: AbortSignal,
): Promise<RunningWebhooks> {
  const { name, webhooks, webhookServer, environment } = options;
  const { connection, metrics, log } = tools;
  const onProblem = (err: unknown) => log.warn({ err }, "webhook certificates or their trust could not be updated; retrying");
  const given = webhookServer.certificates ?? certificatesInFolder(options, onProblem);
  const running = await serveWebhooks(
    {
      ...webhookServer,
      ...{ webhooks, environment, onProblem },
      certificates: given ?? ownCertificates(options, connection, onProblem),
      // Whoever issues the certificates also sets caBundle.
      ...(given === undefined && { trust: { client: connection.client, name } }),
      reporter: { ...webhookMetrics(metrics), failed: (path, err) => log.error({ err, path }, "webhook failed") },
    },
    signal,
  );
  log.info({ port: running.port, paths: webhooks.map(({ path }) => path) }, "serving webhooks");
  return running;
}

/** The address at which the API server calls the webhooks. */
export function addressOf({ name, webhookServer }: ResolvedOptions, home: string): WebhookAddress {
  return webhookServer.address ?? defaultWebhookAddress(name, home);
}

function certificatesInFolder(
  { webhookServer, environment }: ResolvedOptions,
  onProblem: (err: unknown) => void,
): CertificateSource | undefined {
  const { certificateFolder } = webhookServer;
  if (certificateFolder === undefined) return undefined;
  const file = (name: string) => join(certificateFolder, name);
  return fileCertificates({ certificate: file("tls.crt"), key: file("tls.key"), clock: environment.clock, onProblem });
}

function ownCertificates(
  options: ResolvedOptions,
  { client, home }: Connection,
  onProblem: (err: unknown) => void,
): CertificateSource {
  const { name, environment } = options;
  const address = addressOf(options, home);
  const secret = { namespace: home, name: certificateSecretOf(name) };
  return selfSignedCertificates({ name, names: namesOf(address), shared: { client, secret }, environment, onProblem });
}

/** The default address: the Service <name>-webhook in the operator's namespace. The generated manifests use it, too. */
export function defaultWebhookAddress(name: string, namespace: string) {
  return { service: { namespace, name: `${name}-webhook` } } as const satisfies WebhookAddress;
}

/** The container port behind that Service. */
export const webhookPort = { name: "webhooks", containerPort: 9443 } as const;
