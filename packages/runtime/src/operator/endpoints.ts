// HTTP servers for probes, metrics and debugging: GET only, answered from memory. Any pod in the cluster can reach them, so no request
// may crash the process, hold a connection for long, or block other clients.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ReconcileRecord } from "../controller/explain.ts";
import { arrivalLimits, Connections } from "../http/connections.ts";
import { isLoopbackAddress, isLoopbackHost, parseTarget } from "../http/requests.ts";
import { keyOf, type ObjectRef } from "../objects/object.ts";
import { AddressError } from "./errors.ts";

export interface Reply {
  readonly status?: number;
  /** @default text/plain */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** In chunks if it is large: other work continues between two chunks. */
  readonly body: string | Uint8Array | AsyncIterable<string>;
}

/** Answers a request to one path. */
export type Route = (url: URL, request: IncomingMessage) => Reply | Promise<Reply>;

export interface Endpoint {
  readonly port: number;
  close(): Promise<void>;
}

export interface EndpointOptions {
  /** Called when a route throws. The client only gets a 500. */
  readonly onError?: (error: unknown, path: string) => void;
  /** Maximum number of connections; a further one closes the connection that has been idle longest. @default 200 */
  readonly maxConnections?: number;
  /** Closes a connection that has been idle for this many milliseconds. @default 30 s */
  readonly idleTimeoutMs?: number;
}

/** Listens at ":8080", "127.0.0.1:8080" or "[::1]:8080"; port 0 selects a free port. The address "0" disables the server. */
export async function listenAt(
  address: string,
  routes: Readonly<Record<string, Route>>,
  { onError = () => {}, maxConnections = 200, idleTimeoutMs = 30_000 }: EndpointOptions = {},
): Promise<Endpoint | undefined> {
  if (address === "0") return undefined;
  const { host, port } = parseAddress(address);
  // Not by `import`, which evaluates every export of the module: WebSocket is one, and loads all of Node's fetch.
  const { createServer } = process.getBuiltinModule("node:http");
  const connections = new Connections(maxConnections);
  const server = createServer({ ...arrivalLimits }, async (request, response) => {
    if (connections.isAnswering(request)) return void response.writeHead(503, { connection: "close" }).end();
    using _ = connections.answering(request);
    const url = parseTarget(request.url);
    try {
      await send(response, await replyTo(request, url, routes));
    } catch (error) {
      onError(error, url?.pathname ?? "");
      if (response.headersSent) response.destroy();
      else await send(response, { status: 500, body: "internal error; see the log of the operator\n" });
    }
  });
  server.timeout = idleTimeoutMs;
  connections.follow(server);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // Never removed: an "error" event without a listener would end the process.
  server.on("error", (cause) => {
    reject(
      new AddressError(
        `expected to listen at ${address}, found: ${cause.message} → choose another address, or "0" to disable it`,
        {
          cause,
        },
      ),
    );
  });
  server.listen({ port, host }, resolve);
  await promise;
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      const closed = new Promise<void>((done) => server.close(() => done()));
      connections.closeAll();
      return closed;
    },
  };
}

async function replyTo(request: IncomingMessage, url: URL | undefined, routes: Readonly<Record<string, Route>>): Promise<Reply> {
  if (url === undefined) return { status: 400, body: "expected a path\n" };
  const route = Object.hasOwn(routes, url.pathname) ? routes[url.pathname] : undefined;
  if (route === undefined) return { status: 404, body: `expected one of ${Object.keys(routes).join(", ")}\n` };
  if (request.method !== "GET" && request.method !== "HEAD")
    return { status: 405, headers: { allow: "GET, HEAD" }, body: "expected GET\n" };
  return route(url, request);
}

async function send(response: ServerResponse, reply: Reply): Promise<void> {
  const { status = 200, type = "text/plain; charset=utf-8", headers, body } = reply;
  response.writeHead(status, { "content-type": type, "x-content-type-options": "nosniff", ...headers });
  if (typeof body === "string" || body instanceof Uint8Array) return void response.end(body);
  for await (const chunk of body) {
    if (response.destroyed) return;
    if (!response.write(chunk)) await drained(response);
  }
  response.end();
}

/** Resolves when the buffer has room again, or the connection is closed. */
async function drained(response: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  response.once("drain", resolve).once("close", resolve);
  await promise;
  response.off("drain", resolve).off("close", resolve);
}

/**
 * Restricts a route to clients on this machine, which includes kubectl port-forward. The Host header must be a loopback name, too:
 * otherwise a website could resolve its own name to 127.0.0.1 and read the response in a browser (DNS rebinding).
 */
export function loopbackOnly(route: Route): Route {
  return (url, request) => {
    const { socket, headers } = request;
    if (isLoopbackAddress(socket.remoteAddress ?? "") && isLoopbackHost(headers.host)) return route(url, request);
    return { status: 403, body: "expected a client on this machine that connects to localhost → use kubectl port-forward\n" };
  };
}

/** Parses ":8080", "127.0.0.1:8080" or "[::1]:8080"; without a host it means all interfaces. @throws AddressError */
export function parseAddress(address: string): { readonly host: string | undefined; readonly port: number } {
  const found = /^(?:\[([^\]]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(address);
  const port = Number(found?.[3]);
  if (found === null || port > 65_535) {
    throw new AddressError(
      `expected an address like ":8080" or "127.0.0.1:8080", or "0" to disable it, found ${JSON.stringify(address)}`,
    );
  }
  return { host: found[1] ?? (found[2] || undefined), port };
}

// Probes. Live: the process responds, so its event loop is not blocked. Ready: every check passes, including synced caches. A replica
// that waits for the lease is ready.

/** Returns true, or a message that says what is wrong. A check that throws fails with the message of the error. */
export type HealthCheck = () => true | string | Promise<true | string>;

/** Responds "ok", or 500 and a line per check, like the API server's /readyz. `?verbose` always shows the lines. */
export function healthRoute(checks: Readonly<Record<string, HealthCheck>>): Route {
  return async (url): Promise<Reply> => {
    const all = Object.entries(checks).map(async ([name, check]) => ({ name, result: await runCheck(check) }));
    const results = await Promise.all(all);
    const ok = results.every(({ result }) => result === true);
    if (ok && !url.searchParams.has("verbose")) return { body: "ok" };
    const lines = results.map(({ name, result }) => (result === true ? `[+]${name} ok` : `[-]${name}: ${result}`));
    return { status: ok ? 200 : 500, body: `${lines.join("\n")}\n` };
  };
}

async function runCheck(check: HealthCheck): Promise<true | string> {
  try {
    return await check();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

// The last reconciles of an object: why it was reconciled, what was read and written, and the result.
//
//     curl localhost:8080/debug/explain?key=default/web

/** The part of a running controller that records reconciles. */
export interface ReconcileHistory {
  readonly controller: { readonly name: string };
  explain(ref: ObjectRef): readonly ReconcileRecord[];
  explained(): readonly string[];
}

/** With ?key=namespace/name, returns the records of that object by controller; without it, the known keys. */
export function explainRoute(runners: () => readonly ReconcileHistory[]): Route {
  return (url) => {
    const key = url.searchParams.get("key");
    const byController = (read: (runner: ReconcileHistory) => unknown) =>
      Object.fromEntries(runners().map((runner) => [runner.controller.name, read(runner)]));
    const found =
      key === null ? byController((runner) => runner.explained()) : byController((runner) => runner.explain(parseKey(key)));
    return { type: "application/json", body: `${JSON.stringify(found, undefined, 2)}\n` };
  };
}

/** The inverse of keyOf. */
function parseKey(key: string): ObjectRef {
  const [first = "", second] = key.split("/");
  const ref = second === undefined ? { name: first } : { namespace: first, name: second };
  return keyOf(ref) === key ? ref : { name: key };
}
