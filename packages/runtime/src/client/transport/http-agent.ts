// The connections to one server for one purpose: HTTP/2 if the server offers it, otherwise HTTP/1.1 with one connection for each
// request in progress. Built on node:http and node:http2, which are part of Node.js and cost no memory of their own
// (docs/decisions/0012).
import { Agent, type ClientRequestArgs } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { abortable } from "../../concurrency/abort.ts";
import { failureOf, type Outline, overHttp1, overHttp2 } from "./exchange.ts";
import type { Protocol } from "./open-socket.ts";
import type { TransportRequest, TransportResponse } from "./transport.ts";

export interface HttpAgentOptions {
  /** For example "https://10.0.0.1:6443". */
  readonly origin: string;
  /** Use HTTP/2 if the server offers it. */
  readonly http2: boolean;
  /** The limit of concurrent HTTP/1.1 requests; others queue. */
  readonly maxRequests: number;
  /** Keep HTTP/1.1 connections for later requests. */
  readonly keepAlive: boolean;
  /** Opens a connection that offers these protocols to the server. */
  readonly openSocket: (protocols: readonly Protocol[], signal: AbortSignal) => Promise<Socket>;
}

/** Shorter than the idle timeout of API servers (90 s) and of the usual load balancers (60 s), longer than a resync of ours. */
const idleMs = 45_000;

/** Large enough for a burst of watch events. Without it, the server would wait for us after every 64 KiB. */
const settings = { enablePush: false, initialWindowSize: 1024 * 1024 };

export class HttpAgent {
  readonly #options: HttpAgentOptions;
  readonly #pool: SocketPool;
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Map<ClientHttp2Session, { streams: number }>();
  readonly #queue: (() => void)[] = [];
  readonly #ending = new AbortController();
  readonly #destroyed = Promise.withResolvers<void>();
  #http2: boolean;
  #opening: Promise<void> | undefined;
  /** Of HTTP/1.1. */
  #running = 0;
  #pending = 0;
  #closed = false;

  constructor(options: HttpAgentOptions) {
    this.#options = options;
    this.#http2 = options.http2;
    this.#pool = new SocketPool(options.keepAlive, () => this.#open(["http/1.1"]));
  }

  /** Resolves and rejects as Transport.request does. */
  async send(outline: Outline): Promise<TransportResponse> {
    this.#pending += 1;
    const { promise: ended, resolve: onEnd } = Promise.withResolvers<void>();
    void ended.then(() => this.#ended());
    try {
      while (this.#http2) {
        const session = this.#sessionWithRoom();
        if (session !== undefined) return this.#overHttp2(session, outline, onEnd);
        await this.#connected(outline.request);
      }
      return await this.#overHttp1(outline, onEnd);
    } catch (error) {
      onEnd();
      throw error;
    }
  }

  /** Closes the connections when no request needs them any more. */
  close(): Promise<void> {
    this.#closed = true;
    if (this.#pending === 0) this.destroy();
    return this.#destroyed.promise;
  }

  /** Closes the connections at once. */
  destroy(): void {
    this.#ending.abort(new Error("the client is closed"));
    this.#pool.destroy();
    for (const socket of this.#sockets) socket.destroy();
    this.#destroyed.resolve();
  }

  #ended(): void {
    this.#pending -= 1;
    if (this.#closed && this.#pending === 0) this.destroy();
  }

  async #open(protocols: readonly Protocol[]): Promise<Socket> {
    const socket = await this.#options.openSocket(protocols, this.#ending.signal);
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    return socket;
  }

  async #connected(request: TransportRequest): Promise<void> {
    this.#opening ??= this.#openSession().finally(() => {
      this.#opening = undefined;
    });
    try {
      await abortable(this.#opening, request.signal);
    } catch (cause) {
      throw request.signal?.aborted ? request.signal.reason : failureOf(request, { sent: false, cause: cause as Error });
    }
  }

  async #openSession(): Promise<void> {
    const socket = await this.#open(["h2", "http/1.1"]);
    if ((socket as TLSSocket).alpnProtocol !== "h2") {
      this.#http2 = false;
      this.#pool.spare = socket;
      return;
    }
    const session = connect(this.#options.origin, { createConnection: () => socket, settings });
    // biome-ignore lint/plugin: the idle time of a connection is real time, as everything in node:http2
    session.setTimeout(idleMs, () => this.#sessions.get(session)?.streams === 0 && session.close());
    session.once("close", () => this.#sessions.delete(session));
    // The settings contain the limit of concurrent streams. Streams beyond it would wait, perhaps behind watches that never end.
    await new Promise((resolve, reject) => {
      session.once("remoteSettings", resolve);
      session.once("close", () => reject(new Error("a closed connection")));
      session.on("error", reject); // later: the streams report it
    });
    session.setLocalWindowSize(settings.initialWindowSize * 2);
    session.unref();
    this.#sessions.set(session, { streams: 0 });
  }

  #sessionWithRoom(): ClientHttp2Session | undefined {
    for (const [session, { streams }] of this.#sessions) {
      const { maxConcurrentStreams = Number.POSITIVE_INFINITY } = session.remoteSettings;
      // A server that is about to leave (GOAWAY) has closed the session for new streams.
      if (!session.closed && streams < Math.max(1, maxConcurrentStreams)) return session;
    }
    return undefined;
  }

  #overHttp2(session: ClientHttp2Session, outline: Outline, onEnd: () => void): Promise<TransportResponse> {
    const count = this.#sessions.get(session) ?? { streams: 0 };
    if (count.streams === 0) session.ref(); // an idle connection does not keep the process running
    count.streams += 1;
    return overHttp2(session, outline, () => {
      count.streams -= 1;
      if (count.streams === 0) session.unref();
      onEnd();
    });
  }

  async #overHttp1(outline: Outline, onEnd: () => void): Promise<TransportResponse> {
    const { promise: turn, resolve: start } = Promise.withResolvers<void>();
    this.#queue.push(start);
    this.#startNext();
    try {
      await abortable(turn, outline.request.signal);
    } catch (error) {
      void turn.then(() => this.#leave());
      throw error;
    }
    return overHttp1(this.#pool, outline, () => {
      this.#leave();
      onEnd();
    });
  }

  #startNext(): void {
    if (this.#running >= this.#options.maxRequests) return;
    const start = this.#queue.shift();
    if (start === undefined) return;
    this.#running += 1;
    start();
  }

  #leave(): void {
    this.#running -= 1;
    this.#startNext();
  }
}

/** Keeps idle HTTP/1.1 connections. Node's agent counts connections only once they are open, so HttpAgent limits their number. */
class SocketPool extends Agent {
  /** A connection that was opened in the hope of HTTP/2. */
  spare: Socket | undefined;
  readonly #open: () => Promise<Socket>;

  constructor(keepAlive: boolean, open: () => Promise<Socket>) {
    super({ keepAlive, timeout: idleMs });
    this.#open = open;
  }

  override createConnection(_: ClientRequestArgs, callback: (error: Error | null, socket: Duplex) => void): undefined {
    const { spare } = this;
    this.spare = undefined;
    if (spare !== undefined && !spare.destroyed) callback(null, spare);
    else this.#open().then((socket) => callback(null, socket), callback as (error: Error) => void);
  }
}
