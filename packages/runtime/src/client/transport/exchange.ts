// Sends one request through an undici dispatcher. Uses undici's low-level interface because only that reports whether the request was
// written to a connection. A write that failed before that certainly did not happen and may be retried.
import type { Dispatcher } from "undici";
import { TransportError } from "../errors.ts";
import type { TransportRequest, TransportResponse } from "./transport.ts";

export interface Exchange {
  readonly dispatcher: Dispatcher;
  readonly origin: string;
  /** Including the query. */
  readonly path: string;
  readonly headers: Record<string, string | string[]>;
  readonly request: TransportRequest;
}

/** Resolves and rejects as Transport.request does. */
export function exchange({ dispatcher, origin, path, headers, request }: Exchange): Promise<TransportResponse> {
  const { method, body } = request;
  // The signal carries the deadline, so undici's own timeouts are off.
  const options = { origin, path, method, headers, body: body ?? null, headersTimeout: 0, bodyTimeout: 0 };
  return new Promise((resolve, reject) => {
    dispatcher.dispatch(options, new Handler(request, resolve, reject));
  });
}

class Handler implements Dispatcher.DispatchHandler {
  readonly #request: TransportRequest;
  readonly #resolve: (response: TransportResponse) => void;
  readonly #reject: (error: unknown) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: TransportResponse["headers"] = {};
  #text: Buffer[] = [];
  #stream: ChunkStream | undefined;

  constructor(request: TransportRequest, resolve: (response: TransportResponse) => void, reject: (error: unknown) => void) {
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
    request.signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** A connection is available, and the request is about to be written to it. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    const { signal } = this.#request;
    if (signal?.aborted) controller.abort(errorIn(signal.reason)); // aborted while it waited for the connection
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return; // informational, such as 100 Continue
    this.#status = status;
    this.#headers = joined(headers);
    const { stream, chunks } = this.#request;
    if (!(stream || chunks) || status >= 300) return;
    this.#stream = new ChunkStream({
      pause: () => controller.pause(),
      resume: () => controller.resume(),
      cancel: () => controller.abort(new Error("the reader left")),
    });
    this.#resolve({ status, headers: this.#headers, body: this.#stream });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#stream === undefined) this.#text.push(chunk);
    else this.#stream.push(chunk);
  }

  onResponseEnd(): void {
    this.#unlink();
    if (this.#stream === undefined) {
      this.#resolve({ status: this.#status, headers: this.#headers, body: Buffer.concat(this.#text).toString("utf8") });
      this.#text = [];
    } else this.#stream.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, cause: Error): void {
    this.#unlink();
    const { signal } = this.#request;
    const error = signal?.aborted ? signal.reason : this.#failure(cause);
    this.#reject(error);
    this.#stream?.fail(error);
  }

  /** Rejects at once, even if undici is still connecting and cannot be aborted yet. */
  readonly #onAbort = (): void => {
    const { signal } = this.#request;
    this.#reject(signal?.reason);
    this.#stream?.abort(signal?.reason);
    this.#controller?.abort(errorIn(signal?.reason));
  };

  #unlink(): void {
    this.#request.signal?.removeEventListener("abort", this.#onAbort);
  }

  #failure(cause: Error): TransportError {
    return failureOf(this.#request, { sent: this.#controller !== undefined, cause });
  }
}

/** Undici requires an Error; the reason of a signal can be any value. */
function errorIn(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error("aborted", { cause: reason });
}

function joined(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) result[name.toLowerCase()] = Array.isArray(value) ? value.join(", ") : value;
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
