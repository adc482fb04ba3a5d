// A proxy that injects faults between a client and a real API server. It listens with plain HTTP/1.1 on loopback, so that it can
// modify single responses and events, and forwards to any Transport, which has its own credentials; the client needs none.
//
//     await using proxy = await startFaultProxy(httpTransport(config, { environment }), { clock });
//     proxy.plan = ({ watch }) => (watch ? { kind: "watch", afterEvents: 3, ending: "reset" } : undefined);
//     const client = createClient({ config: proxy.config, environment });
//
// For faults below HTTP, in connections with TLS and HTTP/2, use startTcpProxy (loopback.ts).
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { ConnectionConfig } from "../client/config/config.ts";
import type { Method, Transport } from "../client/transport/transport.ts";
import { LineSplitter } from "../client/watch.ts";
import type { Clock } from "../concurrency/environment.ts";
import { parseTarget, readBody } from "../http/requests.ts";

export interface FaultProxy extends AsyncDisposable {
  /** "http://127.0.0.1:PORT" */
  readonly url: string;
  /** Config for a client that connects through the proxy. */
  readonly config: ConnectionConfig;
  /** Selects the fault for each request; can be replaced at any time. @default no faults */
  plan: FaultPlan;
  /** Number of requests received. */
  readonly requests: number;
  /** Resets every connection that is open now. */
  cut(): void;
  /** Stops all traffic on every connection that is open now, without closing it, like a peer that lost power. New ones work. */
  freeze(): void;
  close(): Promise<void>;
}

export interface FaultProxyOptions {
  readonly clock: Clock;
  readonly plan?: FaultPlan;
}

export async function startFaultProxy(
  transport: Transport,
  { clock, plan = () => undefined }: FaultProxyOptions,
): Promise<FaultProxy> {
  const sockets = new Set<Socket>();
  const frozen = new WeakSet<Socket>();
  let requests = 0;
  const server = createServer((incoming, answer) => {
    requests += 1;
    const url = parseTarget(incoming.url);
    if (url === undefined) return void answer.writeHead(400).end();
    const request = describe(incoming, url, requests);
    const fault: Fault | undefined = frozen.has(incoming.socket) ? { kind: "silence" } : proxy.plan(request);
    const relay = new Relay({ transport, clock, request, incoming, answer, fault, isFrozen: () => frozen.has(incoming.socket) });
    relay.run().catch(() => incoming.socket.destroy());
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const proxy: FaultProxy = {
    url,
    config: { server: url, namespace: "default", tls: {}, user: {}, origin: "fault proxy" },
    plan,
    get requests() {
      return requests;
    },
    cut: () => {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    freeze: () => {
      for (const socket of sockets) frozen.add(socket);
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
      await transport.close?.();
    },
    [Symbol.asyncDispose]: () => proxy.close(),
  };
  return proxy;
}

function describe({ method = "GET" }: IncomingMessage, { pathname, searchParams }: URL, number: number): ProxiedRequest {
  return { number, method, path: pathname, query: searchParams, watch: searchParams.get("watch") === "true" };
}

/** More than any API server accepts. */
const maxBodyBytes = 16 * 1024 * 1024;

interface Passage {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly request: ProxiedRequest;
  readonly incoming: IncomingMessage;
  readonly answer: ServerResponse;
  readonly fault: Fault | undefined;
  isFrozen(): boolean;
}

/** Forwards one request and its response. */
class Relay {
  readonly #passage: Passage;

  constructor(passage: Passage) {
    this.#passage = passage;
  }

  async run(): Promise<void> {
    const { fault, clock, incoming } = this.#passage;
    const body = (await readBody(incoming, maxBodyBytes)).toString("utf8");
    if (fault?.kind === "silence") return;
    if (fault?.kind === "reset") return this.#reset();
    if (fault?.kind === "answer") return this.#answerInstead(fault);
    if (fault?.kind === "delay") await clock.sleep(fault.ms);
    await this.#pass(body);
  }

  async #pass(body: string): Promise<void> {
    const { transport, request, incoming, answer, fault } = this.#passage;
    const gone = new AbortController();
    answer.on("close", () => gone.abort());
    const {
      status,
      headers,
      body: found,
    } = await transport.request({
      method: request.method as Method,
      path: request.path,
      query: Object.fromEntries(request.query),
      headers: contentTypeOf(incoming),
      signal: gone.signal,
      stream: request.watch,
      ...(body && { body }),
    });
    if (fault?.kind === "lose") return this.#reset();
    const { "content-length": _length, "transfer-encoding": _encoding, connection: _connection, ...kept } = headers;
    answer.writeHead(status, kept);
    answer.flushHeaders();
    if (typeof found === "string") return this.#end(found);
    for await (const piece of spoil(found, fault)) {
      if (this.#passage.isFrozen() || piece === "silence") return; // the connection stays open without further data
      if (piece === "reset") return this.#resetAfterArrival();
      if (piece === "cut") return this.#cut("");
      answer.write(piece);
    }
    answer.end();
  }

  #end(text: string): void {
    const { fault, answer } = this.#passage;
    if (this.#passage.isFrozen()) return;
    if (fault?.kind === "truncate") this.#cut(Buffer.from(text).subarray(0, fault.afterBytes).toString());
    else answer.end(text);
  }

  /** Writes the start of a chunk that is shorter than announced, then closes the connection. */
  #cut(text: string): void {
    const { answer, incoming } = this.#passage;
    answer.flushHeaders();
    incoming.socket.end(`${(Buffer.byteLength(text) + 1000).toString(16)}\r\n${text}`);
  }

  #answerInstead({ status, retryAfterSeconds, body = "" }: Extract<Fault, { kind: "answer" }>): void {
    const headers = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
    this.#passage.answer.writeHead(status, headers).end(body);
  }

  /** Waits first: a reset discards data that is still in the buffers of either side. */
  async #resetAfterArrival(): Promise<void> {
    await this.#passage.clock.sleep(50);
    this.#reset();
  }

  #reset(): void {
    this.#passage.incoming.socket.resetAndDestroy();
  }
}

function contentTypeOf({ headers }: IncomingMessage): Record<string, string> {
  const type = headers["content-type"];
  return type === undefined ? {} : { "content-type": type };
}

/** The request that a plan selects a fault for. */
export interface ProxiedRequest {
  /** 1 for the first. */
  readonly number: number;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly watch: boolean;
}

/** A fault that the proxy injects into a request. */
export type Fault =
  /** The connection is reset before the server sees anything. */
  | { readonly kind: "reset" }
  /** Half-open: the request is dropped, the connection stays open, and no response follows. */
  | { readonly kind: "silence" }
  /** The server executes the request; the connection is reset instead of the response. */
  | { readonly kind: "lose" }
  /** The request is forwarded after a delay. */
  | { readonly kind: "delay"; readonly ms: number }
  /** The proxy responds itself: 429 with retryAfterSeconds, 500, a login page. */
  | { readonly kind: "answer"; readonly status: number; readonly retryAfterSeconds?: number; readonly body?: string }
  /** The body is cut after this many bytes; then the connection is closed in the middle of a chunk. */
  | { readonly kind: "truncate"; readonly afterBytes: number }
  /** A watch ends after this many events, in the given way. */
  | { readonly kind: "watch"; readonly afterEvents: number; readonly ending: WatchEnding }
  /** Events of a watch that contain this text are dropped; the others are forwarded. */
  | { readonly kind: "swallow"; readonly containing: string }
  /** Every event of a watch is sent twice. */
  | { readonly kind: "duplicate" };

export type WatchEnding =
  | "reset"
  | "silence"
  /** Half of the next event, then a regular end. */
  | "truncate"
  /** An ERROR event with code 410: the resource version is too old. */
  | "expire"
  /** A regular end, but early. */
  | "close";

export type FaultPlan = (request: ProxiedRequest) => Fault | undefined;

const expired = JSON.stringify({
  type: "ERROR",
  object: {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: "too old resource version (a fault of the test)",
    reason: "Expired",
    code: 410,
  },
});

/** Data to write, or an action on the connection ("cut" closes it in the middle of a chunk). */
export type Piece = Uint8Array | string | "reset" | "silence" | "cut";

/** Applies a fault to the body of a response. */
export async function* spoil(body: AsyncIterable<Uint8Array>, fault: Fault | undefined): AsyncGenerator<Piece, void, undefined> {
  if (fault?.kind === "watch") yield* stopAfter(body, fault);
  else if (fault?.kind === "duplicate") for await (const line of linesOf(body)) yield `${line}\n${line}\n`;
  else if (fault?.kind === "swallow") yield* leavingOut(body, fault.containing);
  else if (fault?.kind === "truncate") yield* firstBytes(body, fault.afterBytes);
  else yield* body;
}

async function* stopAfter(
  body: AsyncIterable<Uint8Array>,
  { afterEvents, ending }: Extract<Fault, { kind: "watch" }>,
): AsyncGenerator<Piece, void, undefined> {
  let left = afterEvents;
  if (left > 0 || ending === "truncate") {
    for await (const line of linesOf(body)) {
      if (left === 0) {
        yield line.slice(0, line.length / 2);
        break;
      }
      yield `${line}\n`;
      left -= 1;
      if (left === 0 && ending !== "truncate") break;
    }
  }
  if (ending === "expire") yield `${expired}\n`;
  if (ending === "reset" || ending === "silence") yield ending;
}

async function* firstBytes(body: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Piece, void, undefined> {
  let left = bytes;
  for await (const chunk of body) {
    yield chunk.subarray(0, left);
    left -= chunk.length;
    if (left <= 0) break;
  }
  yield "cut";
}

async function* leavingOut(body: AsyncIterable<Uint8Array>, text: string): AsyncGenerator<Piece, void, undefined> {
  for await (const line of linesOf(body)) if (!line.includes(text)) yield `${line}\n`;
}

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const lines = new LineSplitter("fault proxy", Number.POSITIVE_INFINITY);
  for await (const chunk of body) yield* lines.push(chunk);
}
