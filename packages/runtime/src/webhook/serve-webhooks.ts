// Webhooks from start to end: get a certificate, listen, make the API server trust it, and from then on exchange the
// certificate whenever its source has a new one. This is the folder's main file; the others are its parts:
//
//     webhooks.ts, conversion.ts   what an operator declares      admission.ts, reviews.ts, json-patch.ts   how it is answered
//     server.ts, request-handler.ts   HTTPS, bounded              configuration.ts                          how it is registered
//     certificate-source.ts           where certificates come from: file-certificates.ts, or self-made.ts
//                                     (certificates.ts and der.ts make them, rotation.ts says when, secret-store.ts shares them)
//     trust.ts                        caBundle, kept where it belongs
import type { Client } from "../client/client.ts";
import type { CertificateSource, ServingCertificate } from "./certificate-source.ts";
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
  const certificates = options.certificates(ending.signal)[Symbol.asyncIterator]();
  const first = await certificates.next();
  if (first.done === true)
    throw new CertificateError("expected a certificate to serve webhooks with, found none", { cause: signal.reason });
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
    shown = next.value;
    try {
      // Trust first: a caller that has not heard of a new authority would refuse what it signed.
      if (trust !== undefined && shown.trust !== undefined) await spreadTrust(shown.trust, { webhooks, ...trust }, signal);
    } catch (error) {
      onProblem?.(error);
    }
    server.use(shown);
  }
  await keeping;
}
