// Webhooks from start to end: get a certificate, listen, make the API server trust it, and from then on exchange the
// certificate whenever its source has a new one. This is the folder's main file; the others are its parts:
//
//     webhooks.ts, conversion.ts   what an operator declares      admission.ts, reviews.ts, json-patch.ts   how it is answered
//     server.ts, request-handler.ts   HTTPS, bounded              configuration.ts                          how it is registered
//     certificate-source.ts           where certificates come from: file-certificates.ts, or self-made.ts
//                                     (certificates.ts and der.ts make them, rotation.ts says when, secret-store.ts shares them)
//     trust.ts                        caBundle, kept where it belongs
import type { Client } from "../client/client.ts";
import { Backoff } from "../concurrency/backoff.ts";
import type { CertificateSource, ServingCertificate } from "./certificate-source.ts";
import { validityOf } from "./certificates.ts";
import { CertificateError } from "./errors.ts";
import { WebhookServer, type WebhookServerOptions } from "./server.ts";
import { keepTrust, spreadTrust } from "./trust.ts";

export interface ServeWebhooksOptions extends WebhookServerOptions {
  readonly certificates: CertificateSource;
  /** Put the trust into configurations of this name and into our CRDs. @default not done: cert-manager or a manifest does it */
  readonly trust?: { readonly client: Pick<Client, "find" | "update">; readonly name: string };
  /** Told what went wrong in the background; it is tried again. */
  readonly onProblem?: (error: unknown) => void;
}

export interface RunningWebhooks {
  readonly port: number;
  /** Lets reviews under way finish, then stops. */
  close(): Promise<void>;
}

/** Resolves once the webhooks can be called. */
export async function serveWebhooks(options: ServeWebhooksOptions, signal: AbortSignal): Promise<RunningWebhooks> {
  const ending = new AbortController();
  const over = () => ending.abort();
  signal.addEventListener("abort", over, { once: true });
  if (signal.aborted) over();
  const certificates = options.certificates(ending.signal)[Symbol.asyncIterator]();
  const first = await certificates.next();
  if (first.done === true) {
    signal.throwIfAborted(); // asked to stop while the certificate could not be had
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

/** Follows the source and looks after trust until it is over. */
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

/** What cannot be shown must not end the following of what comes after it; the certificate before stays. */
function use(server: WebhookServer, shown: ServingCertificate, onProblem: ServeWebhooksOptions["onProblem"]): void {
  try {
    server.use(shown);
  } catch (cause) {
    onProblem?.(new CertificateError("expected a certificate and its key, found what cannot be served with", { cause }));
  }
}

/**
 * Trust first: a caller that has not heard of a new authority would refuse what it signed. If it cannot be told, the certificate
 * before is good until it ends; then the next one can only be better.
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
    await clock.sleep(backoff.next(), signal).catch(() => {}); // the loop's condition sees the abort
  }
}
