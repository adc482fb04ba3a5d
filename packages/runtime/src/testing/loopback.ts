// Loopback servers and fake transports for tests of the protocol: behavior that a real API server never or rarely shows.

import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { createSecureServer, type Http2SecureServer, type Settings } from "node:http2";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConnectionConfig } from "../client/config/config.ts";
import { type ClientOptions, createClient } from "../client/create-client.ts";
import { Journal } from "../client/journal.ts";
import type { Transport, TransportRequest, TransportResponse } from "../client/transport/transport.ts";
import { manualEnvironment } from "../concurrency/manual-clock.ts";

export interface LoopbackOptions {
  /** PEM. Enables TLS. Serves HTTP/2 and HTTP/1.1, unless one of them is off. */
  readonly tls?: {
    readonly cert: string;
    readonly key: string;
    readonly requestCert?: boolean;
    readonly allowHTTP1?: boolean;
    readonly allowHTTP2?: boolean;
    /** The settings of HTTP/2 that the server announces. */
    readonly settings?: Settings;
  };
}

export interface Loopback extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** Config for a client of this server, without TLS or user. */
  readonly config: ConnectionConfig;
  /** Connections accepted so far. */
  readonly connections: number;
  /** Connections that are open now. */
  readonly open: number;
  /** Resets every open connection. */
  reset(): void;
}

/** Starts an HTTP server on loopback. */
export async function loopback(listener: RequestListener, { tls }: LoopbackOptions = {}): Promise<Loopback> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = tls === undefined ? createServer(listener) : secureServer(tls, listener);
  server.on("connection", (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  const url = `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`;
  return {
    port,
    url,
    config: { server: url, namespace: "default", tls: {}, user: {}, origin: "test" },
    get connections() {
      return connections;
    },
    get open() {
      return sockets.size;
    },
    reset: () => {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function secureServer(tls: NonNullable<LoopbackOptions["tls"]>, listener: RequestListener): TlsServer | Http2SecureServer {
  const options = { allowHTTP1: true, rejectUnauthorized: false, ...tls };
  return tls.allowHTTP2 === false ? createTlsServer(options, listener) : createSecureServer(options, listener as never);
}

/** Finds a free port of 127.0.0.1, for servers whose address must be known before they listen, such as webhooks. */
export async function freePort(): Promise<number> {
  const server = createTcpServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** A TCP proxy. It forwards bytes unchanged, including TLS and HTTP/2, and can reset connections or drop their traffic. */
export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  /** Connections accepted so far. */
  readonly connections: number;
  /** Resets every connection that is open now. */
  cut(): void;
  /** Drops all traffic of the connections that are open now, in both directions; they stay open. New ones work. */
  freeze(): void;
  /** Resets new connections while true. */
  refusing: boolean;
  close(): Promise<void>;
}

export async function startTcpProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let connections = 0;
  const server = createTcpServer((near) => {
    if (proxy.refusing) {
      near.resetAndDestroy();
      return;
    }
    connections += 1;
    const far = connect(target);
    const pair = [near, far] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [far, near] as const]) {
      from.pipe(to);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        pairs.delete(pair);
        to.destroy();
      });
    }
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const proxy: TcpProxy = {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    refusing: false,
    cut: () => {
      for (const [near] of pairs) near.resetAndDestroy();
    },
    freeze: () => {
      for (const [near, far] of pairs) {
        // Read and discard, so that neither side notices a full buffer.
        near.unpipe(far).resume();
        far.unpipe(near).resume();
      }
    },
    close: async () => {
      for (const [near, far] of pairs) {
        near.destroy();
        far.destroy();
      }
      await new Promise((closed) => server.close(closed));
    },
    [Symbol.asyncDispose]: () => proxy.close(),
  };
  return proxy;
}

/** The response to a request, by default 200 and {}; an error is thrown. */
export type Answers = (
  request: TransportRequest,
  /** 1 for the first. */
  call: number,
) => Partial<TransportResponse> | Error | Promise<never>;

/** Creates a client with a fake transport, a manual clock and a journal. */
export function clientAnswering(answers: Answers, options: Partial<ClientOptions> = {}) {
  const environment = manualEnvironment();
  let calls = 0;
  const transport: Transport = {
    request: async (request) => {
      calls += 1;
      const answer = await answers(request, calls);
      if (answer instanceof Error) throw answer;
      return { status: 200, headers: {}, body: "{}", ...answer };
    },
  };
  const journal = new Journal(transport, environment);
  return { client: createClient({ transport: journal, environment, ...options }), journal, clock: environment.clock };
}

/** Creates a temporary directory that is removed when disposed. */
export async function temporaryFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "memhog-test-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
