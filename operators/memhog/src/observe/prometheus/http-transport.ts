// Sends queries to Prometheus over HTTP. One connection stays open between queries. Redirects are not followed, because they would
// receive the token.

import { readFile } from "node:fs/promises";
import { Agent, type Dispatcher } from "undici";
import { dateIn, formType, type PrometheusAnswer, PrometheusError, type PrometheusTransport, queryPath } from "./transport.ts";

const connectTimeoutMs = 10_000;

/** @throws PrometheusError if the address is malformed */
export function httpTransport(options: PrometheusOptions): PrometheusTransport {
  const address = parseAddress(options.address, queryPath);
  let current: { readonly agent: Agent; readonly ca: string | undefined } | undefined;

  /** New CA certificates need new connections. */
  const agentFor = (ca: string | undefined): Agent => {
    if (current !== undefined && current.ca === ca) return current.agent;
    void current?.agent.close();
    const connect = { timeout: connectTimeoutMs, ...(ca !== undefined && { ca }) };
    current = { ca, agent: new Agent({ connect, connections: 1, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 }) };
    return current.agent;
  };

  return {
    query: async (parameters, signal) => {
      signal.throwIfAborted();
      const { caFile } = options;
      const ca = caFile === undefined ? undefined : await textIn(caFile, "certificates");
      const given = await headersFor(options, address);
      const headers = { accept: "application/json", "user-agent": "memhog-operator", ...given, "content-type": formType };
      const body = new URLSearchParams(parameters).toString();
      return exchange(agentFor(ca), { address, headers, body, signal });
    },
    close: async () => {
      await current?.agent.destroy();
      current = undefined;
    },
  };
}

interface Exchange {
  readonly address: Address;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly signal: AbortSignal;
}

function exchange(agent: Agent, { address, headers, body, signal }: Exchange): Promise<PrometheusAnswer> {
  const { origin, path } = address;
  return new Promise((resolve, reject) => {
    const options = { origin, path, method: "POST", headers, body } as const;
    agent.dispatch(options, new Handler({ shown: address.shown, signal, resolve, reject }));
  });
}

interface Waiting {
  readonly shown: string;
  readonly signal: AbortSignal;
  readonly resolve: (answer: PrometheusAnswer) => void;
  readonly reject: (error: unknown) => void;
}

class Handler implements Dispatcher.DispatchHandler {
  readonly #waiting: Waiting;
  readonly #chunks = new ChunkQueue();
  #controller: Dispatcher.DispatchController | undefined;

  constructor(waiting: Waiting) {
    this.#waiting = waiting;
    waiting.signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#waiting.signal.aborted) controller.abort(new Error("nobody waits any more"));
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return; // 100 Continue and its kin come before the answer
    const { date } = headers;
    this.#chunks.onFull = (isFull) => (isFull ? controller.pause() : controller.resume());
    this.#chunks.onLeave = () => controller.abort(new Error("the reader left"));
    this.#waiting.resolve({ status, dateMs: dateIn(Array.isArray(date) ? date[0] : date), body: this.#chunks });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#unlink();
    this.#chunks.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, cause: Error): void {
    this.#unlink();
    const { signal, shown, reject } = this.#waiting;
    const error = signal.aborted
      ? signal.reason
      : new PrometheusError("PROMETHEUS_UNREACHABLE", `expected a response from ${shown}, found ${described(cause)}`, { cause });
    reject(error);
    this.#chunks.fail(error);
  }

  /** Rejects immediately, even while undici is still connecting. */
  readonly #onAbort = (): void => {
    const { signal, reject } = this.#waiting;
    reject(signal.reason);
    this.#chunks.fail(signal.reason);
    this.#controller?.abort(new Error("nobody waits any more"));
  };

  #unlink(): void {
    this.#waiting.signal.removeEventListener("abort", this.#onAbort);
  }
}

/** If Node tried several addresses, its AggregateError has no message; the errors of the attempts do. */
function described(error: Error): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map((each) => described(each)).join("; ");
  return error.message || String((error as NodeJS.ErrnoException).code ?? error.name);
}

/** The connection settings. They come from flags only, never from a namespaced object (S3). */
export interface PrometheusOptions {
  /** For example "http://prometheus.monitoring:9090", with a path prefix if there is one. */
  readonly address: string;
  /** File with a bearer token. Read for every query, because tokens are rotated. */
  readonly bearerTokenFile?: string | undefined;
  /** User name for basic authentication. User name and password may be in the address instead. */
  readonly username?: string | undefined;
  /** Read for every query. */
  readonly passwordFile?: string | undefined;
  /** CA certificates in PEM format. @default those of Node.js */
  readonly caFile?: string | undefined;
  /** Sent with every query, for example X-Scope-OrgID. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The parsed address. `shown` has no credentials. */
export interface Address {
  readonly origin: string;
  /** The path of the query API. */
  readonly path: string;
  readonly shown: string;
  readonly userinfo: string | undefined;
}

/** @throws PrometheusError that does not contain the address, which may contain a password */
export function parseAddress(address: string, queryPath: string): Address {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw new PrometheusError("PROMETHEUS_CONFIG", "expected a URL like http://localhost:9090, found something else");
  const prefix = url.pathname.replace(/\/+$/, "");
  const userinfo = url.username === "" ? undefined : `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { origin: url.origin, path: `${prefix}${queryPath}`, shown: `${url.origin}${prefix}`, userinfo };
}

/** @throws PrometheusError if a file cannot be read */
export async function headersFor(
  options: PrometheusOptions,
  { userinfo }: Pick<Address, "userinfo">,
): Promise<Record<string, string>> {
  const own = Object.fromEntries(Object.entries(options.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  const authorization = await authorizationFor(options, userinfo);
  return authorization === undefined ? own : { ...own, authorization };
}

async function authorizationFor(options: PrometheusOptions, userinfo: string | undefined): Promise<string | undefined> {
  const { bearerTokenFile, username, passwordFile } = options;
  if (bearerTokenFile !== undefined) return `Bearer ${await secretIn(bearerTokenFile, "a bearer token")}`;
  if (username !== undefined) {
    const password = passwordFile === undefined ? "" : await secretIn(passwordFile, "a password");
    return basic(`${username}:${password}`);
  }
  return userinfo === undefined ? undefined : basic(userinfo);
}

function basic(userAndPassword: string): string {
  return `Basic ${Buffer.from(userAndPassword).toString("base64")}`;
}

async function secretIn(path: string, what: string): Promise<string> {
  const text = (await textIn(path, what)).trim();
  // A line break would allow header injection.
  if (text === "" || /[\r\n]/.test(text))
    throw new PrometheusError("PROMETHEUS_CONFIG", `expected ${what} on one line in ${path}, found something else`);
  return text;
}

export async function textIn(path: string, what: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    const { code = "an error" } = cause as NodeJS.ErrnoException;
    throw new PrometheusError("PROMETHEUS_CONFIG", `expected ${what} in ${path}, found ${code}`, { cause });
  }
}

/** Above this size the connection is paused until the reader has caught up. */
const fullBytes = 1024 * 1024;

export class ChunkQueue implements AsyncIterable<Uint8Array> {
  /** Called with true when the queue is full, and with false when it has been read. */
  onFull: (isFull: boolean) => void = () => {};
  /** Called when the reader stops before the end. */
  onLeave: () => void = () => {};
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #ended = false;
  #error: unknown;
  #wake: (() => void) | undefined;

  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.byteLength;
    if (this.#bytes > fullBytes) this.onFull(true);
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  fail(error: unknown): void {
    if (this.#ended) return;
    this.#error = error;
    this.end();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, undefined> {
    try {
      for (;;) {
        if (this.#error !== undefined) throw this.#error;
        const chunks = this.#take();
        yield* chunks;
        if (chunks.length > 0) continue;
        if (this.#ended) return;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      if (!this.#ended) this.onLeave();
    }
  }

  #take(): readonly Uint8Array[] {
    const taken = this.#chunks;
    const wasFull = this.#bytes > fullBytes;
    this.#chunks = [];
    this.#bytes = 0;
    if (wasFull) this.onFull(false);
    return taken;
  }
}
