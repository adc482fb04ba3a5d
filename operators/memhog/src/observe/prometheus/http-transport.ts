// HTTP, by undici's agent alone: its front door would load fetch, caches and mocks too, 13 MiB for nothing. One connection is kept
// open between questions. Redirects are not followed: our token would go wherever they point.
import { createRequire } from "node:module";
import type { Agent, Dispatcher } from "undici";
import { ChunkQueue } from "./chunk-queue.ts";
import { headersFor, textIn } from "./credentials.ts";
import { PrometheusError } from "./errors.ts";
import { type Address, type PrometheusOptions, parseAddress } from "./options.ts";
import { dateIn, formType, type PrometheusAnswer, type PrometheusTransport, queryPath } from "./transport.ts";

const UndiciAgent = createRequire(import.meta.url)("undici/lib/dispatcher/agent.js") as new (options: Agent.Options) => Agent;

const connectTimeoutMs = 10_000;

/** @throws PrometheusError if the address is none */
export function httpTransport(options: PrometheusOptions): PrometheusTransport {
  const address = parseAddress(options.address, queryPath);
  let current: { readonly agent: Agent; readonly ca: string | undefined } | undefined;

  /** Another authority needs other connections. */
  const agentFor = (ca: string | undefined): Agent => {
    if (current !== undefined && current.ca === ca) return current.agent;
    void current?.agent.close();
    const connect = { timeout: connectTimeoutMs, ...(ca !== undefined && { ca }) };
    current = { ca, agent: new UndiciAgent({ connect, connections: 1, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 }) };
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
      : new PrometheusError("PROMETHEUS_UNREACHABLE", `expected an answer from ${shown}, found ${described(cause)}`, { cause });
    reject(error);
    this.#chunks.fail(error);
  }

  /** Whoever waits hears at once, even while undici is still connecting. */
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

/** With several addresses tried, Node's error has no message of its own, only those of the attempts. */
function described(error: Error): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map((each) => described(each)).join("; ");
  return error.message || String((error as NodeJS.ErrnoException).code ?? error.name);
}
