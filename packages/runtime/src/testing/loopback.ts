// A small HTTP server on loopback, for tests of the protocol: what a real API server never does, or does too rarely.
import { createServer, type RequestListener, type Server } from "node:http";
import { createSecureServer, type Http2SecureServer } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import type { ConnectionConfig } from "../client/config/config.ts";

export interface LoopbackOptions {
  /** PEM. With it the server speaks TLS, and HTTP/2 to those who ask for it; without `allowHTTP1` to nobody else. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly requestCert?: boolean; readonly allowHTTP1?: boolean };
}

export interface Loopback extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** For a client of this server, without TLS or user. */
  readonly config: ConnectionConfig;
  /** Connections accepted so far. */
  readonly connections: number;
  /** Resets every open connection. */
  reset(): void;
}

export async function loopback(listener: RequestListener, { tls }: LoopbackOptions = {}): Promise<Loopback> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server: Server | Http2SecureServer =
    tls === undefined
      ? createServer(listener)
      : createSecureServer({ allowHTTP1: true, rejectUnauthorized: false, ...tls }, listener as never);
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
    reset: () => {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}
