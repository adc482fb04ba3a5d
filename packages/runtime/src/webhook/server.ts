// The HTTPS server that the API server calls. Every write of a kind may wait for it, so everything is limited: connections,
// incomplete bodies, concurrent reviews, and the time of one review. HTTP/2 and HTTP/1.1 share one port.
//
// A CertificateSource provides certificates, which are replaced while serving: new connections get the new one, existing
// connections continue with theirs, and no request fails.
import { createSecureServer, type Http2Session } from "node:http2";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Environment } from "../concurrency/environment.ts";
import { Connections, secureArrivalLimits } from "../http/connections.ts";
import { HttpStatusError } from "../http/requests.ts";
import type { CertifiedKey } from "./certificates.ts";
import { requestHandler, type WebhookRequest } from "./request-handler.ts";
import type { Webhook } from "./webhooks.ts";

/** Callbacks for logs and metrics. */
export interface WebhookReporter {
  /** A review started at this path. */
  started?(path: string): void;
  /** It ended, with this HTTP status. */
  ended?(path: string, status: number, seconds: number): void;
  /** The review could not be answered; the webhook's failurePolicy applies. */
  failed?(path: string, error: unknown): void;
}

export interface WebhookServerOptions extends ArrivalOptions {
  readonly webhooks: readonly Webhook[];
  /** @default all addresses */
  readonly host?: string;
  /** 0 selects a free port. @default 9443 */
  readonly port?: number;
  /** Maximum connections; for each further one, the connection that has been idle longest is closed. @default 1000 */
  readonly maxConnections?: number;
  /** Maximum concurrent reviews; further ones get 429, and the API server retries within its timeout. @default 100 */
  readonly maxConcurrent?: number;
  /** Seconds for one review if the API server sends no timeout. @default 10 */
  readonly timeoutSeconds?: number;
  /** @default true */
  readonly http2?: boolean;
  readonly environment: Environment;
  readonly reporter?: WebhookReporter;
}

export class WebhookServer {
  readonly #options: WebhookServerOptions;
  readonly #connections: Connections;
  readonly #sessions = new Set<Http2Session>();
  readonly #handler: ReturnType<typeof requestHandler>;
  #server: ReturnType<typeof createServer> | ReturnType<typeof createSecureServer> | undefined;

  constructor(options: WebhookServerOptions) {
    this.#options = options;
    this.#connections = new Connections(options.maxConnections ?? 1000);
    this.#handler = requestHandler(options, (request) => this.#connections.answering(request));
  }

  /** Starts listening with this certificate. */
  async start(shown: CertifiedKey): Promise<void> {
    const tls = { ...secureArrivalLimits, cert: shown.certificate, key: shown.key };
    const server = (this.#options.http2 ?? true) ? createSecureServer({ ...tls, allowHTTP1: true }) : createServer(tls);
    server.on("request", this.#handler.handle);
    // Tracked from the TCP accept on: a connection that never starts TLS would otherwise prevent closing.
    this.#connections.follow(server);
    server.on("session", (session: Http2Session) => remember(this.#sessions, session));
    // Port scanners and probes without TLS need no action, but an unhandled "error" event would end the process.
    server.on("tlsClientError", (_error, socket) => socket.destroy());
    server.on("sessionError", () => {});
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.on("error", reject); // stays registered: an unhandled "error" event would end the process
    server.listen({ port: this.#options.port ?? 9443, host: this.#options.host }, resolve);
    await promise;
    this.#server = server;
  }

  get port(): number {
    const address = this.#server?.address() as AddressInfo | null | undefined;
    if (address === null || address === undefined)
      throw new TypeError("expected a server that listens, found one that was not started");
    return address.port;
  }

  /** Open connections, and the number and bytes of incomplete bodies. */
  get pending(): { readonly connections: number; readonly bodies: number; readonly bytes: number } {
    return { connections: this.#connections.size, ...this.#handler.pending };
  }

  /** Presents this certificate from the next connection on. */
  use(shown: CertifiedKey): void {
    this.#server?.setSecureContext({ cert: shown.certificate, key: shown.key });
  }

  /**
   * Accepts no new connections, waits for reviews in progress (each has a timeout), then closes all connections. Does not wait more
   * than a second for incomplete bodies: the API server sends a body at once.
   */
  async close(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const session of this.#sessions) session.close();
    const calm = this.#options.environment.clock.after(1_000, () => this.#handler.hurry());
    await this.#handler.idle();
    calm();
    this.#connections.closeAll();
    await closed;
  }
}

function remember<T extends { once(event: "close", listener: () => void): unknown }>(all: Set<T>, one: T): void {
  all.add(one);
  one.once("close", () => all.delete(one));
}

export interface ArrivalOptions {
  /** Longer bodies are rejected with 413. @default 7 MiB: an update contains two objects of at most 3 MiB each */
  readonly maxBodyBytes?: number;
  /** Maximum number of incomplete bodies. @default 500 */
  readonly maxArriving?: number;
  /** Maximum bytes of all incomplete bodies. @default 64 MiB */
  readonly maxArrivingBytes?: number;
}

interface Arriving {
  bytes: number;
  giveUp(error: unknown): void;
}

/**
 * Reads request bodies. Any client that reaches the port can start a review and never complete it, so incomplete bodies are
 * limited in number, in bytes and, by the signal, in time. At a limit, the oldest incomplete body is dropped; the API server
 * sends each body at once and is not affected.
 */
export class Arrivals {
  readonly #maxBodyBytes: number;
  readonly #maxArriving: number;
  readonly #maxBytes: number;
  /** Oldest first. */
  readonly #arriving = new Set<Arriving>();
  #bytes = 0;

  constructor({ maxBodyBytes = 7 * 2 ** 20, maxArriving = 500, maxArrivingBytes = 64 * 2 ** 20 }: ArrivalOptions) {
    this.#maxBodyBytes = maxBodyBytes;
    this.#maxArriving = maxArriving;
    this.#maxBytes = maxArrivingBytes;
  }

  /** Number and bytes of incomplete bodies. */
  get pending(): { readonly bodies: number; readonly bytes: number } {
    return { bodies: this.#arriving.size, bytes: this.#bytes };
  }

  /** Resolves to the complete body. @throws HttpStatusError, or the signal's reason */
  read(request: WebhookRequest, signal: AbortSignal): Promise<Buffer> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    let chunks: Buffer[] = [];
    const take = (chunk: Buffer) => {
      chunks.push(chunk);
      body.bytes += chunk.length;
      this.#bytes += chunk.length;
      if (body.bytes > this.#maxBodyBytes)
        return body.giveUp(new HttpStatusError(413, `expected at most ${this.#maxBodyBytes} bytes (maxBodyBytes)`, hangUp));
      this.#makeRoom();
    };
    const settle = () => {
      request.off("data", take).off("end", complete).off("close", cut);
      signal.removeEventListener("abort", abort);
      if (this.#arriving.delete(body)) this.#bytes -= body.bytes;
    };
    const complete = () => {
      settle();
      resolve(Buffer.concat(chunks));
    };
    const body: Arriving = {
      bytes: 0,
      giveUp: (error) => {
        settle();
        chunks = [];
        request.resume(); // discards the rest
        reject(error);
      },
    };
    const cut = () => body.giveUp(new HttpStatusError(400, "expected a whole body, found a connection that was closed"));
    const abort = () => body.giveUp(signal.reason);
    this.#arriving.add(body);
    request.on("data", take).on("end", complete).on("close", cut);
    request.on("error", () => {}); // "close" follows and handles it
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    this.#makeRoom();
    return promise;
  }

  #makeRoom(): void {
    for (const oldest of this.#arriving) {
      if (this.#arriving.size <= this.#maxArriving && this.#bytes <= this.#maxBytes) return;
      oldest.giveUp(new HttpStatusError(408, "expected the body at once: others are waiting", hangUp));
    }
  }
}

const hangUp = { connection: "close" } as const;
