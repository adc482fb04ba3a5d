// Bytes that come when they like, for a reader who takes them when it likes. A reader that falls behind makes the sender
// wait (the connection is paused) instead of filling the memory.

export interface Tap {
  pause(): void;
  resume(): void;
  /** The reader wants no more. */
  cancel(): void;
}

/** Ask the sender to wait when this much is unread. */
const highWaterBytes = 256 * 1024;

export class ChunkStream implements AsyncIterableIterator<Uint8Array> {
  readonly #tap: Tap;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #paused = false;
  #ended = false;
  #error: { readonly reason: unknown } | undefined;
  #reader: PromiseWithResolvers<IteratorResult<Uint8Array>> | undefined;

  constructor(tap: Tap) {
    this.#tap = tap;
  }

  push(chunk: Uint8Array): void {
    if (this.#ended) return;
    const reader = this.#takeReader();
    if (reader === undefined) this.#keep(chunk);
    else reader.resolve({ done: false, value: chunk });
  }

  /** What was pushed before is still read. */
  end(): void {
    this.#ended = true;
    this.#takeReader()?.resolve({ done: true, value: undefined });
  }

  /** The connection broke. What was pushed before is still read. */
  fail(reason: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    const reader = this.#takeReader();
    if (reader === undefined) this.#error = { reason };
    else reader.reject(reason);
  }

  /** The caller wants to hear no more: what is unread is dropped. */
  abort(reason: unknown): void {
    this.#chunks = [];
    this.fail(reason);
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    const value = this.#chunks.shift();
    if (value !== undefined) {
      this.#bytes -= value.length;
      this.#resume();
      return Promise.resolve({ done: false, value });
    }
    if (this.#error !== undefined) return Promise.reject(this.#takeError());
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    this.#reader = Promise.withResolvers();
    return this.#reader.promise;
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    if (!this.#ended) this.#tap.cancel();
    this.#ended = true;
    this.#chunks = [];
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #keep(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < highWaterBytes || this.#paused) return;
    this.#paused = true;
    this.#tap.pause();
  }

  #resume(): void {
    if (!this.#paused || this.#bytes > highWaterBytes / 2) return;
    this.#paused = false;
    this.#tap.resume();
  }

  #takeReader() {
    const reader = this.#reader;
    this.#reader = undefined;
    return reader;
  }

  /** Told once; afterwards the stream is simply at its end. */
  #takeError(): unknown {
    const reason = this.#error?.reason;
    this.#error = undefined;
    return reason;
  }
}
