// Sends one request over HTTP/2 or HTTP/1.1. A failure says whether the request was written to a connection: a write that failed before
// that certainly did not happen and may be retried.
import { type Agent, request as http1Request, type IncomingMessage } from "node:http";
import { type ClientHttp2Session, constants } from "node:http2";
import type { Readable } from "node:stream";
import { TransportError } from "../errors.ts";
import type { TransportRequest, TransportResponse } from "./transport.ts";

export interface Outline {
  /** The host and port of the server, as in its URL. */
  readonly host: string;
  /** Including the query. */
  readonly path: string;
  readonly headers: Record<string, string | string[]>;
  readonly request: TransportRequest;
}

/** Calls `onEnd` when the response has ended, or will not come. */
export function overHttp2(session: ClientHttp2Session, outline: Outline, onEnd: () => void): Promise<TransportResponse> {
  const { request, path, headers } = outline;
  const stream = session.request(
    { ":method": request.method, ":path": path, ...headers },
    { endStream: request.body === undefined },
  );
  const reply = new Reply(request, (error) => stream.destroy(error));
  reply.sent = true;
  let isComplete = false;
  stream
    .on("response", ({ ":status": status = 0, ...fields }) => reply.start(status, fields, stream))
    .on("end", () => {
      isComplete = reply.started; // "end" also comes if the session ends before the response
    })
    .on("error", (error) => reply.fail(error))
    .on("close", () => {
      if (isComplete && stream.rstCode === constants.NGHTTP2_NO_ERROR) reply.end();
      else reply.fail(new Error("a closed connection"));
      onEnd();
    });
  if (request.body !== undefined) stream.end(request.body);
  return reply.promise;
}

/** Calls `onEnd` when the response has ended, or will not come. */
export function overHttp1(agent: Agent, outline: Outline, onEnd: () => void): Promise<TransportResponse> {
  const { request, host, path, headers } = outline;
  const sending = http1Request({ agent, method: request.method, path, headers: { ...headers, host }, setHost: false });
  const reply = new Reply(request, (error) => sending.destroy(error));
  sending
    .on("socket", () => {
      reply.sent = true; // the agent waits until it is connected
    })
    .on("response", (incoming: IncomingMessage) => {
      incoming.on("error", () => reply.fail(new Error("a closed connection"))).on("end", () => reply.end());
      reply.start(incoming.statusCode ?? 0, incoming.headers, incoming);
    })
    .on("error", (error) => reply.fail(error))
    .on("close", onEnd)
    .end(request.body);
  return reply.promise;
}

/** Turns the events of a response into a TransportResponse or an error. */
class Reply {
  readonly promise: Promise<TransportResponse>;
  /** Whether the request was, or is about to be, written to a connection. */
  sent = false;
  readonly #request: TransportRequest;
  readonly #cancel: (error: Error) => void;
  readonly #resolve: (response: TransportResponse) => void;
  readonly #reject: (error: unknown) => void;
  readonly #text: Buffer[] = [];
  #response: Pick<TransportResponse, "status" | "headers"> = { status: 0, headers: {} };
  #incoming: Readable | undefined;
  #stream: ChunkStream | undefined;

  constructor(request: TransportRequest, cancel: (error: Error) => void) {
    this.#request = request;
    this.#cancel = cancel;
    ({ promise: this.promise, resolve: this.#resolve, reject: this.#reject } = Promise.withResolvers<TransportResponse>());
    request.signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  get started(): boolean {
    return this.#incoming !== undefined;
  }

  start(status: number, headers: Readonly<Record<string, string | string[] | undefined>>, incoming: Readable): void {
    this.#incoming = incoming;
    this.#response = { status, headers: joined(headers) };
    const { stream, chunks } = this.#request;
    if ((stream || chunks) && status < 300) {
      this.#stream = new ChunkStream({
        pause: () => incoming.pause(),
        resume: () => incoming.resume(),
        cancel: () => this.#cancel(new Error("the reader left")),
      });
      this.#resolve({ ...this.#response, body: this.#stream });
    }
    incoming.on("data", this.#onData);
  }

  end(): void {
    this.#unlink();
    if (this.#stream !== undefined) this.#stream.end();
    else this.#resolve({ ...this.#response, body: Buffer.concat(this.#text).toString("utf8") });
  }

  fail(cause: Error): void {
    this.#unlink();
    const { signal } = this.#request;
    const error = signal?.aborted ? signal.reason : failureOf(this.#request, { sent: this.sent, cause });
    this.#reject(error);
    // Chunks that arrived together with the end of the connection have not been emitted yet.
    this.#incoming?.off("data", this.#onData);
    for (let chunk = this.#incoming?.read(); chunk; chunk = this.#incoming?.read()) this.#stream?.push(chunk);
    this.#stream?.fail(error);
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#stream === undefined) this.#text.push(chunk);
    else this.#stream.push(chunk);
  };

  readonly #onAbort = (): void => {
    const reason: unknown = this.#request.signal?.reason;
    this.#reject(reason);
    this.#stream?.abort(reason);
    this.#cancel(reason instanceof Error ? reason : new Error("aborted", { cause: reason }));
  };

  #unlink(): void {
    this.#request.signal?.removeEventListener("abort", this.#onAbort);
  }
}

function joined(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) result[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return result;
}

/** The outcome is "unknown" only if the request was sent. */
export function failureOf(
  { method, path }: Pick<TransportRequest, "method" | "path">,
  { sent, cause }: { readonly sent: boolean; readonly cause: Error },
): TransportError {
  const expected = sent ? "an answer" : "a connection";
  const outcome = sent ? "unknown" : "not-sent";
  return new TransportError(`${method} ${path}: expected ${expected}, found ${described(cause)}`, { outcome, cause });
}

/** If Node tried several addresses, its error has no message; those of the attempts do. */
function described(error: Error): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map((each) => described(each)).join("; ");
  return error.message || String((error as NodeJS.ErrnoException).code ?? error.name);
}

// The body of a streamed response. A reader that falls behind makes the sender wait (the connection is paused) instead of filling the
// memory.

interface Flow {
  pause(): void;
  resume(): void;
  /** The reader has stopped. */
  cancel(): void;
}

/** Pause the connection when this much is unread. */
const highWaterBytes = 256 * 1024;

class ChunkStream implements AsyncIterableIterator<Uint8Array> {
  readonly #flow: Flow;
  #chunks: Uint8Array[] = [];
  #unread = 0;
  #paused = false;
  #ended = false;
  #error: { readonly reason: unknown } | undefined;
  #reader: PromiseWithResolvers<IteratorResult<Uint8Array>> | undefined;

  constructor(flow: Flow) {
    this.#flow = flow;
  }

  push(chunk: Uint8Array): void {
    if (this.#ended) return;
    const reader = this.#takeReader();
    if (reader !== undefined) {
      reader.resolve({ done: false, value: chunk });
      return;
    }
    this.#chunks.push(chunk);
    this.#unread += chunk.length;
    if (this.#paused || this.#unread < highWaterBytes) return;
    this.#paused = true;
    this.#flow.pause();
  }

  /** Ends the stream. Unread chunks remain readable. */
  end(): void {
    this.#ended = true;
    this.#takeReader()?.resolve({ done: true, value: undefined });
  }

  /** The connection failed. Unread chunks remain readable. */
  fail(reason: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    const reader = this.#takeReader();
    if (reader === undefined) this.#error = { reason };
    else reader.reject(reason);
  }

  /** The caller aborted. Drops unread chunks. */
  abort(reason: unknown): void {
    this.#clear();
    this.fail(reason);
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) {
      this.#unread -= chunk.length;
      if (this.#paused && this.#unread <= highWaterBytes / 2) {
        this.#paused = false;
        this.#flow.resume();
      }
      return Promise.resolve({ done: false, value: chunk });
    }
    const error = this.#error;
    this.#error = undefined; // reported once; afterwards the stream is at its end
    if (error !== undefined) return Promise.reject(error.reason);
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    this.#reader = Promise.withResolvers();
    return this.#reader.promise;
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    if (!this.#ended) this.#flow.cancel();
    this.#ended = true;
    this.#clear();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #clear(): void {
    this.#chunks = [];
    this.#unread = 0;
  }

  #takeReader() {
    const reader = this.#reader;
    this.#reader = undefined;
    return reader;
  }
}
