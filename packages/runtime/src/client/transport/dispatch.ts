// One request through an undici dispatcher. Its low-level interface is used because it tells what the comfortable one
// hides: whether a request was ever written to a connection. Only then is a failed write unknown; before, it surely did
// not happen and may be sent again.
import type { Dispatcher } from "undici";
import type { TransportError } from "../errors.ts";
import { ChunkStream } from "./chunk-stream.ts";
import { failureOf } from "./failure.ts";
import { type TransportRequest, type TransportResponse, textIn } from "./transport.ts";

export interface Exchange {
  readonly dispatcher: Dispatcher;
  readonly origin: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Record<string, string | string[]>;
  readonly request: TransportRequest;
}

/** The answer; rejects as Transport.request does. */
export function exchange({ dispatcher, origin, path, headers, request }: Exchange): Promise<TransportResponse> {
  const { method, body } = request;
  // Our own clock sets the deadlines, through the signal: two that disagree are worse than one.
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

  /** A connection is there and the request is about to be written to it. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    const { signal } = this.#request;
    if (signal?.aborted) controller.abort(errorIn(signal.reason)); // while it was waiting for the connection
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return; // 100 Continue and its kin come before the answer
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
      this.#resolve({ status: this.#status, headers: this.#headers, body: textIn(Buffer.concat(this.#text)) });
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

  /** Whoever waits hears at once, even if undici is still busy connecting and cannot be told yet. */
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

/** Undici wants an Error; a signal's reason may be anything. */
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
