// A piece of cable that can be cut. It passes bytes between a client and a server without understanding them, so TLS and
// HTTP/2 go through untouched, and it can do what a network does: reset connections, or swallow everything in silence.
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  /** Connections accepted so far. */
  readonly connections: number;
  /** Resets every connection that is open now. */
  cut(): void;
  /** Swallows every byte, in both directions, of the connections that are open now; they stay open. New ones work. */
  freeze(): void;
  /** Refuses new connections until told otherwise. */
  refusing: boolean;
  close(): Promise<void>;
}

export async function startTcpProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let connections = 0;
  const server = createServer((near) => {
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
        // Unpiped and unheard: what comes is read and thrown away, so neither side notices by a full buffer.
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
