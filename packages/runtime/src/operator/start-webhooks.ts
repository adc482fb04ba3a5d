// The webhooks of an operator, with the certificate its options ask for.
import { join } from "node:path";
import type { Logger } from "../concurrency/logger.ts";
import type { CertificateSource } from "../webhook/certificate-source.ts";
import { namesOf, type WebhookAddress } from "../webhook/configuration.ts";
import { fileCertificates } from "../webhook/file-certificates.ts";
import { selfMadeCertificates } from "../webhook/self-made.ts";
import { type RunningWebhooks, serveWebhooks } from "../webhook/serve-webhooks.ts";
import type { Connection } from "./connection.ts";
import { certificateSecretOf } from "./grants.ts";
import { type OperatorMetrics, webhookMetrics } from "./metrics.ts";
import type { ResolvedOptions } from "./options.ts";
import { usualWebhookAddress } from "./webhook-address.ts";

export interface WebhookTools {
  readonly connection: Connection;
  readonly metrics: OperatorMetrics;
  readonly log: Logger;
}

/** Resolves once they can be called. */
export async function startWebhooks(
  options: ResolvedOptions,
  tools: WebhookTools,
  signal: AbortSignal,
): Promise<RunningWebhooks> {
  const { name, webhooks, webhookServer, environment } = options;
  const { connection, metrics, log } = tools;
  const onProblem = (err: unknown) => log.warn({ err }, "webhooks: not as it should be; trying again");
  const given = webhookServer.certificates ?? certificatesInFolder(options, onProblem);
  const running = await serveWebhooks(
    {
      ...webhookServer,
      ...{ webhooks, environment, onProblem },
      certificates: given ?? ownCertificates(options, connection, onProblem),
      // Who makes the certificates sees to it that they are trusted.
      ...(given === undefined && { trust: { client: connection.client, name } }),
      reporter: { ...webhookMetrics(metrics), failed: (path, err) => log.error({ err, path }, "webhook failed") },
    },
    signal,
  );
  log.info({ port: running.port, paths: webhooks.map(({ path }) => path) }, "serving webhooks");
  return running;
}

/** How the API server reaches them. */
export function addressOf({ name, webhookServer }: ResolvedOptions, home: string): WebhookAddress {
  return webhookServer.address ?? usualWebhookAddress(name, home);
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
  return selfMadeCertificates({ name, names: namesOf(address), shared: { client, secret }, environment, onProblem });
}
