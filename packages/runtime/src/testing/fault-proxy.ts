// A proxy that has bad days on request. It stands between a client and a real API server: plain HTTP/1.1 on loopback in
// front, so that it can see and spoil single answers and events; behind it any Transport, so it brings its own
// credentials and the client needs none.
//
//     await using proxy = await startFaultProxy(undiciTransport(config, { environment }), { clock });
//     proxy.plan = ({ watch }) => (watch ? { kind: "watch", afterEvents: 3, ending: "reset" } : undefined);
//     const client = clientFor(proxy.config, { environment });
//
// Faults below HTTP, of connections with TLS and HTTP/2, are the trade of tcp-proxy.ts.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { ConnectionConfig } from "../client/config/config.ts";
import type { Method, Transport } from "../client/transport/transport.ts";
import type { Clock } from "../concurrency/environment.ts";
import type { Fault, FaultPlan, ProxiedRequest } from "./fault.ts";
import { spoil } from "./spoiled-watch.ts";

export interface FaultProxy extends AsyncDisposable {
  /** "http://127.0.0.1:PORT" */
  readonly url: string;
  /** For a client that goes through the proxy. */
  readonly config: ConnectionConfig;
  /** Decides about each request; may be changed at any time. @default no faults */
  plan: FaultPlan;
  /** How many requests came. */
  readonly requests: number;
  /** Resets every connection that is open now. */
  cut(): void;
  /** Every connection that is open now goes silent for ever: the peer has lost power. New ones work. */
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
    const request = describe(incoming, requests);
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

function describe({ method = "GET", url = "/" }: IncomingMessage, number: number): ProxiedRequest {
  const { pathname, searchParams } = new URL(url, "http://proxy");
  return { number, method, path: pathname, query: searchParams, watch: searchParams.get("watch") === "true" };
}

interface Passage {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly request: ProxiedRequest;
  readonly incoming: IncomingMessage;
  readonly answer: ServerResponse;
  readonly fault: Fault | undefined;
  isFrozen(): boolean;
}

/** One request on its way there and back. */
class Relay {
  readonly #passage: Passage;

  constructor(passage: Passage) {
    this.#passage = passage;
  }

  async run(): Promise<void> {
    const { fault, clock, incoming } = this.#passage;
    const body = await bodyOf(incoming);
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
      if (this.#passage.isFrozen() || piece === "silence") return; // the connection stays, and says nothing more
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

  /** The beginning of a chunk that promises more than it gives, and then the end of the connection. */
  #cut(text: string): void {
    const { answer, incoming } = this.#passage;
    answer.flushHeaders();
    incoming.socket.end(`${(Buffer.byteLength(text) + 1000).toString(16)}\r\n${text}`);
  }

  #answerInstead({ status, retryAfterSeconds, body = "" }: Extract<Fault, { kind: "answer" }>): void {
    const headers = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
    this.#passage.answer.writeHead(status, headers).end(body);
  }

  /** A reset overtakes what was written before it, in our buffers and in those of the other side. */
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

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
