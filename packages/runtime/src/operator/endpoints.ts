// Small HTTP servers for probes, Prometheus and people: plain text and JSON, GET only, never more than a page.
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { AddressError } from "./errors.ts";

export interface Reply {
  readonly status?: number;
  /** @default text/plain */
  readonly type?: string;
  readonly body: string;
}

/** Answers a request to one path. */
export type Route = (url: URL, request: IncomingMessage) => Reply | Promise<Reply>;

export interface Endpoint {
  readonly port: number;
  close(): Promise<void>;
}

/** Listens at ":8080", "127.0.0.1:8080" or "[::1]:8080"; port 0 takes a free one. "0" alone means not at all. */
export async function listenAt(address: string, routes: Readonly<Record<string, Route>>): Promise<Endpoint | undefined> {
  if (address === "0") return undefined;
  const { host, port } = parseAddress(address);
  // Not by `import`: that looks at every export of the module, one of which is WebSocket, which loads all of Node's fetch.
  const { createServer } = process.getBuiltinModule("node:http");
  const server = createServer(async (request, response) => {
    const { status = 200, type = "text/plain; charset=utf-8", body } = await replyTo(request, routes);
    response.writeHead(status, { "content-type": type, "x-content-type-options": "nosniff" }).end(body);
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.on("error", (cause) => {
    reject(
      new AddressError(`expected to be able to listen at ${address}, found: ${cause.message} → choose another, or "0" for none`, {
        cause,
      }),
    );
  });
  server.listen({ port, host }, resolve);
  await promise;
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeAllConnections();
      return closed;
    },
  };
}

async function replyTo(request: IncomingMessage, routes: Readonly<Record<string, Route>>): Promise<Reply> {
  const url = URL.parse(request.url ?? "/", "http://operator"); // null for what is none, like //
  if (url === null) return { status: 400, body: "expected a path\n" };
  const route = Object.hasOwn(routes, url.pathname) ? routes[url.pathname] : undefined;
  if (route === undefined) return { status: 404, body: `expected one of ${Object.keys(routes).join(", ")}\n` };
  if (request.method !== "GET" && request.method !== "HEAD") return { status: 405, body: "expected GET\n" };
  try {
    return await route(url, request);
  } catch (error) {
    return { status: 500, body: `${error instanceof Error ? error.message : String(error)}\n` };
  }
}

/** A route for this machine only: kubectl port-forward counts as that. */
export function onlyFromHere(route: Route): Route {
  return (url, request) => {
    const from = request.socket.remoteAddress ?? "";
    if (/^(::1|(::ffff:)?127\.)/.test(from)) return route(url, request);
    return { status: 403, body: "expected a caller on this machine → use kubectl port-forward\n" };
  };
}

/** Where ":8080", "127.0.0.1:8080" or "[::1]:8080" is; no host: everywhere. @throws AddressError */
export function parseAddress(address: string): { readonly host: string | undefined; readonly port: number } {
  const found = /^(?:\[([^\]]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(address);
  const port = Number(found?.[3]);
  if (found === null || port > 65_535) {
    throw new AddressError(
      `expected an address like ":8080" or "127.0.0.1:8080", or "0" for none, found ${JSON.stringify(address)}`,
    );
  }
  return { host: found[1] ?? (found[2] || undefined), port };
}
