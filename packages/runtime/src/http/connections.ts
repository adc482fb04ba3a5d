// Limits the number of connections to one HTTP server. Rejecting new connections at the limit would let a client lock out probes
// and the API server by opening idle connections. Instead, the least recently used idle connection is closed. Connections with a
// request in progress stay open.
import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import type { Server, Socket } from "node:net";

/** Limits for `createServer`. A request that is larger or arrives more slowly gets an error status, or its connection is closed. */
export const arrivalLimits = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  /** How often Node checks the two timeouts above. */
  connectionsCheckingInterval: 1_000,
} as const;

/** `arrivalLimits` for TLS servers, including HTTP/2. */
export const secureArrivalLimits = {
  ...arrivalLimits,
  handshakeTimeout: 10_000,
  settings: { maxConcurrentStreams: 250, maxHeaderListSize: arrivalLimits.maxHeaderSize },
} as const;

export class Connections {
  readonly #max: number;
  /** By peer, least recently used first. */
  readonly #sockets = new Map<string, Socket>();
  readonly #answering = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Tracks all connections of this server from now on. */
  follow(server: Pick<Server, "on">): void {
    server.on("connection", (socket: Socket) => this.#add(socket));
  }

  get size(): number {
    return this.#sockets.size;
  }

  /** Whether another request on the same connection is in progress. A client that pipelines can send thousands at once. */
  isAnswering({ socket }: IncomingMessage | Http2ServerRequest): boolean {
    return this.#answering.has(peerOf(socket));
  }

  /** Marks this request as in progress until the result is disposed. Its connection is not closed to make room for another. */
  answering({ socket }: IncomingMessage | Http2ServerRequest): Disposable {
    const peer = peerOf(socket);
    this.#answering.set(peer, (this.#answering.get(peer) ?? 0) + 1);
    return {
      [Symbol.dispose]: () => {
        const left = (this.#answering.get(peer) ?? 1) - 1;
        if (left > 0) this.#answering.set(peer, left);
        else this.#answering.delete(peer);
        this.#touch(peer);
      },
    };
  }

  closeAll(): void {
    for (const socket of this.#sockets.values()) socket.destroy();
  }

  #add(socket: Socket): void {
    socket.on("error", () => {}); // without a listener, a connection reset would end the process
    if (this.#sockets.size >= this.#max) {
      const quiet = this.#sockets.keys().find((peer) => !this.#answering.has(peer));
      if (quiet === undefined) return void socket.destroy();
      this.#sockets.get(quiet)?.destroy();
      this.#sockets.delete(quiet);
    }
    const peer = peerOf(socket);
    this.#sockets.set(peer, socket);
    socket.once("close", () => this.#sockets.get(peer) === socket && this.#sockets.delete(peer));
  }

  /** Moves a connection to the end: it is now the most recently used. */
  #touch(peer: string): void {
    const socket = this.#sockets.get(peer);
    if (socket === undefined) return;
    this.#sockets.delete(peer);
    this.#sockets.set(peer, socket);
  }
}

/** The same key for a socket, the TLS socket around it and the proxy object that HTTP/2 exposes. */
function peerOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}
