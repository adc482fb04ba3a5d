// A transport that records calls. Tests put it between a client and another transport to check which requests were sent, to what and
// in which order. It can also inject faults: tests of C1 and C2 (docs/invariants.md) crash or lose the response at any write.
import type { Clock } from "../concurrency/environment.ts";
import { TransportError } from "./errors.ts";
import type { Transport, TransportRequest, TransportResponse } from "./transport/transport.ts";
import { LineSplitter } from "./watch.ts";

export interface JournalEntry {
  /** 1 for the first call. */
  readonly number: number;
  /** On the monotonic clock. */
  readonly at: number;
  readonly method: TransportRequest["method"];
  readonly path: string;
  readonly query: NonNullable<TransportRequest["query"]>;
  /** The parsed request body. */
  readonly body: unknown;
  /** Whether it is a watch. */
  readonly stream: boolean;
  /** Undefined while the call is in progress, and if there was no response. */
  status?: number;
  /** Why there was no response. */
  error?: string;
}

/** One event of a watch. */
export interface JournalEvent {
  /** The number of the call that opened the watch. */
  readonly call: number;
  readonly type: string;
  /** "namespace/name" */
  readonly key: string;
  readonly resourceVersion: string;
}

/** How a call fails. */
export type CallFault =
  /** The server does not receive the call, and the client knows. */
  | { readonly kind: "refuse" }
  /** The server does not receive the call, but the client cannot know. */
  | { readonly kind: "vanish" }
  /** The server processes the call; the response is lost. */
  | { readonly kind: "lose" }
  /** The call gets this response instead of the server's. */
  | { readonly kind: "answer"; readonly status: number; readonly headers?: Record<string, string>; readonly body?: string };

export interface JournalOptions {
  readonly clock: Clock;
  /** Called before each call. */
  readonly fault?: ((call: JournalEntry) => CallFault | undefined) | undefined;
}

export class Journal implements Transport {
  readonly calls: JournalEntry[] = [];
  readonly events: JournalEvent[] = [];
  /** Can be changed at any time. */
  fault: JournalOptions["fault"];
  readonly #transport: Transport;
  readonly #clock: Clock;
  #number = 0;

  constructor(transport: Transport, { clock, fault }: JournalOptions) {
    this.#transport = transport;
    this.#clock = clock;
    this.fault = fault;
  }

  /** The calls that write. */
  get writes(): readonly JournalEntry[] {
    return this.calls.filter(({ method }) => method !== "GET");
  }

  /** Removes all entries. Numbers continue. */
  clear(): void {
    this.calls.length = 0;
    this.events.length = 0;
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    const entry = this.#note(request);
    try {
      const response = await this.#pass(request, this.fault?.(entry), entry);
      entry.status = response.status;
      return response;
    } catch (error) {
      entry.error = error instanceof Error ? error.message : String(error);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#transport.close?.();
  }

  #note({ method, path, query = {}, body, stream = false }: TransportRequest): JournalEntry {
    this.#number += 1;
    const parsed: unknown = body === undefined ? undefined : JSON.parse(body);
    const entry = { number: this.#number, at: this.#clock.monotonic(), method, path, query, body: parsed, stream };
    this.calls.push(entry);
    return entry;
  }

  async #pass(request: TransportRequest, fault: CallFault | undefined, entry: JournalEntry): Promise<TransportResponse> {
    const what = `${request.method} ${request.path}: ${fault?.kind} (a fault of the test)`;
    if (fault?.kind === "refuse") throw new TransportError(what, { outcome: "not-sent" });
    if (fault?.kind === "vanish") throw new TransportError(what, { outcome: "unknown" });
    if (fault?.kind === "answer") return { status: fault.status, headers: fault.headers ?? {}, body: fault.body ?? "" };
    const response = await this.#transport.request(request);
    if (fault?.kind === "lose") throw new TransportError(what, { outcome: "unknown" });
    if (typeof response.body === "string" || !request.stream) return response;
    return { ...response, body: this.#overhear(response.body, entry.number) };
  }

  async *#overhear(body: AsyncIterable<Uint8Array>, call: number): AsyncGenerator<Uint8Array, void, undefined> {
    const lines = new LineSplitter("journal", Number.POSITIVE_INFINITY);
    for await (const chunk of body) {
      for (const line of lines.push(chunk)) this.events.push(eventIn(line, call));
      yield chunk;
    }
  }
}

/** A readable form of a call: `PATCH /api/v1/… → 200`. */
export function describeCall({ method, path, status, error }: JournalEntry): string {
  return `${method} ${path} → ${status ?? error ?? "…"}`;
}

function eventIn(line: string, call: number): JournalEvent {
  const { type = "", object } = JSON.parse(line) as { type?: string; object?: { metadata?: Record<string, string> } };
  const { namespace, name = "", resourceVersion = "" } = object?.metadata ?? {};
  return { call, type, key: namespace === undefined ? name : `${namespace}/${name}`, resourceVersion };
}
