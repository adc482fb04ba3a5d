// The HTTPS server that the API server calls. Every write of a kind may wait for us, so each part is bounded: the size of
// a body, the number of reviews at once, the time one may take. HTTP/2 and HTTP/1.1 share one port.
//
// Certificates come from outside (CertificateSource) and are exchanged while serving: new connections get the new one,
// connections under way keep what they were opened with, no request notices.
import { createSecureServer, type Http2Session } from "node:http2";
import { createServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Environment } from "../concurrency/environment.ts";
import type { CertifiedKey } from "./certificates.ts";
import { requestHandler } from "./request-handler.ts";
import type { Webhook } from "./webhooks.ts";

/** What the server tells of itself; the operator's logger and metrics fit. */
export interface WebhookReporter {
  /** A review begins at this path. */
  started?(path: string): void;
  /** It ended, with this HTTP status. */
  ended?(path: string, status: number, seconds: number): void;
  /** It could not be answered, and the failure policy of the webhook decides. */
  failed?(path: string, error: unknown): void;
}

export interface WebhookServerOptions {
  readonly webhooks: readonly Webhook[];
  /** @default all addresses */
  readonly host?: string;
  /** 0 takes a free one. @default 9443 */
  readonly port?: number;
  /** Longer bodies are refused with 413. @default 7 MiB: an update shows two objects, of 3 MiB each at most */
  readonly maxBodyBytes?: number;
  /** Reviews at once; further ones get 429 and the API server tries again within its timeout. @default 100 */
  readonly maxConcurrent?: number;
  /** Seconds for one review when the API server does not say how long it waits. @default 10 */
  readonly timeoutSeconds?: number;
  /** @default true */
  readonly http2?: boolean;
  readonly environment: Environment;
  readonly reporter?: WebhookReporter;
}

/** Serves webhooks until it is closed. */
export class WebhookServer {
  readonly #options: WebhookServerOptions;
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<Http2Session>();
  readonly #handler: ReturnType<typeof requestHandler>;
  #server: ReturnType<typeof createServer> | ReturnType<typeof createSecureServer> | undefined;

  constructor(options: WebhookServerOptions) {
    this.#options = options;
    this.#handler = requestHandler(options);
  }

  /** Starts to listen with this certificate. */
  async start(shown: CertifiedKey): Promise<void> {
    const tls = { cert: shown.certificate, key: shown.key };
    const server = (this.#options.http2 ?? true) ? createSecureServer({ ...tls, allowHTTP1: true }) : createServer(tls);
    server.on("request", this.#handler.handle);
    // From the first byte on: one that never says anything, not even in TLS, would keep us from closing.
    server.on("connection", (socket: Socket) => remember(this.#sockets, socket));
    server.on("secureConnection", (socket: Socket) => remember(this.#sockets, socket));
    server.on("session", (session: Http2Session) => remember(this.#sessions, session));
    // Port scanners and probes without TLS: nothing to be done, and an "error" event nobody hears would end the process.
    server.on("tlsClientError", (_error, socket) => socket.destroy());
    server.on("sessionError", () => {});
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.on("error", reject); // for good: an "error" event that nobody hears would end the process
    server.listen({ port: this.#options.port ?? 9443, host: this.#options.host }, resolve);
    await promise;
    this.#server = server;
  }

  /** Where it listens. */
  get port(): number {
    const address = this.#server?.address() as AddressInfo | null | undefined;
    if (address === null || address === undefined)
      throw new TypeError("expected a server that listens, found one that was not started");
    return address.port;
  }

  /** From the next connection on, shows this certificate. */
  use(shown: CertifiedKey): void {
    this.#server?.setSecureContext({ cert: shown.certificate, key: shown.key });
  }

  /**
   * Takes no new connections, lets reviews under way finish (each is bounded), then hangs up. A body that does not come within
   * a second is nobody's who waits for us: the API server sends all of it at once.
   */
  async close(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const session of this.#sessions) session.close();
    const calm = this.#options.environment.clock.after(1_000, () => this.#handler.hurry());
    await this.#handler.idle();
    calm();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

function remember<T extends { once(event: "close", listener: () => void): unknown }>(all: Set<T>, one: T): void {
  all.add(one);
  one.once("close", () => all.delete(one));
}
