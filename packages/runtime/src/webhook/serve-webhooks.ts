// The lifecycle of the webhooks: get a certificate, listen, put the authority into caBundle, and replace the certificate whenever
// its source yields a new one. This is the folder's main file:
//
//     webhooks.ts, conversion.ts      what an operator declares
//     admission.ts                    admission requests, responses and JSON patches
//     server.ts, request-handler.ts   the HTTPS server, within limits
//     configuration.ts                webhook configurations for the API server
//     certificates.ts                 certificates and their sources: file-certificates.ts, self-signed.ts
//     trust.ts                        keeps caBundle up to date
import type { Client } from "../client/client.ts";
import { Backoff } from "../concurrency/backoff.ts";
import type { CertificateSource, ServingCertificate } from "./certificates.ts";
import { validityOf } from "./certificates.ts";
import { CertificateError } from "./errors.ts";
import { WebhookServer, type WebhookServerOptions } from "./server.ts";
import { keepTrust, spreadTrust } from "./trust.ts";

export interface ServeWebhooksOptions extends WebhookServerOptions {
  readonly certificates: CertificateSource;
  /** Sets caBundle in configurations of this name and in the CRDs. @default not set: cert-manager or a manifest does it */
  readonly trust?: { readonly client: Pick<Client, "find" | "update">; readonly name: string };
  /** Called with errors in the background; the operation is retried. */
  readonly onProblem?: (error: unknown) => void;
}

export interface RunningWebhooks {
  readonly port: number;
  /** Waits for reviews in progress, then stops. */
  close(): Promise<void>;
}

/** Resolves once the webhooks are ready for requests. */
export async function serveWebhooks(options: ServeWebhooksOptions, signal: AbortSignal): Promise<RunningWebhooks> {
  const ending = new AbortController();
  const over = () => ending.abort();
  signal.addEventListener("abort", over, { once: true });
  if (signal.aborted) over();
  const certificates = options.certificates(ending.signal)[Symbol.asyncIterator]();
  const first = await certificates.next();
  if (first.done === true) {
    signal.throwIfAborted(); // aborted while waiting for the certificate
    throw new CertificateError("expected a certificate to serve webhooks with, found none");
  }
  const server = new WebhookServer(options);
  await server.start(first.value);
  const background = keepUp(options, server, first.value, certificates, ending.signal);
  return {
    port: server.port,
    close: async () => {
      signal.removeEventListener("abort", over);
      await server.close();
      ending.abort();
      await background;
    },
  };
}

/** Follows the certificate source and keeps caBundle up to date until the signal aborts. */
async function keepUp(
  options: ServeWebhooksOptions,
  server: WebhookServer,
  first: ServingCertificate,
  later: AsyncIterator<ServingCertificate>,
  signal: AbortSignal,
): Promise<void> {
  const { trust, webhooks, environment, onProblem } = options;
  let shown = first;
  const keeper = { webhooks, environment, trust: () => shown.trust, ...(onProblem && { onProblem }) };
  const keeping = trust === undefined ? undefined : keepTrust({ ...keeper, ...trust }, signal);
  for (let next = await later.next(); next.done !== true; next = await later.next()) {
    const before = shown;
    shown = next.value;
    await untilTrusted(shown, before, options, signal);
    if (!signal.aborted) use(server, shown, onProblem);
  }
  await keeping;
}

/** A certificate that cannot be loaded is reported; the previous one stays in use until the source yields the next. */
function use(server: WebhookServer, shown: ServingCertificate, onProblem: ServeWebhooksOptions["onProblem"]): void {
  try {
    server.use(shown);
  } catch (cause) {
    onProblem?.(new CertificateError("expected a certificate and its key, found what cannot be served with", { cause }));
  }
}

/**
 * Updates caBundle before the certificate is used: a caller without the new authority would reject what it signed. If the update
 * keeps failing, the previous certificate stays in use until it expires; then the new one is used in any case.
 */
async function untilTrusted(
  next: ServingCertificate,
  before: ServingCertificate,
  { trust, webhooks, environment, onProblem }: ServeWebhooksOptions,
  signal: AbortSignal,
): Promise<void> {
  if (trust === undefined || next.trust === undefined) return;
  const { clock } = environment;
  const backoff = new Backoff({ initialMs: 1_000, maxMs: 30_000, jitter: 0.1 }, environment);
  while (!signal.aborted) {
    try {
      await spreadTrust(next.trust, { webhooks, ...trust }, signal);
      return;
    } catch (error) {
      if (!signal.aborted) onProblem?.(error);
    }
    if (clock.now() >= validityOf(before.certificate).untilMs) return;
    await clock.sleep(backoff.next(), signal).catch(() => {}); // the loop condition handles the abort
  }
}
