// Bytes that come when they like, for a reader who takes them when it likes. A reader that falls behind makes the sender
// wait (the connection is paused) instead of filling the memory.

export interface Tap {
  pause(): void;
  resume(): void;
  /** The reader wants no more. */
  cancel(): void;
}

/** What has come and is unread. */
export interface Held {
  readonly bytes: number;
  /** The next piece; undefined if there is none. */
  take(): Uint8Array | undefined;
  clear(): void;
}

/** Ask the sender to wait when this much is unread. */
const highWaterBytes = 256 * 1024;

/** Pieces of what is held, as soon as there are some. Whoever fills it says so (`arrived`). */
export class HeldStream implements AsyncIterableIterator<Uint8Array> {
  readonly #tap: Tap;
  readonly #held: Held;
  #paused = false;
  #ended = false;
  #error: { readonly reason: unknown } | undefined;
  #reader: PromiseWithResolvers<IteratorResult<Uint8Array>> | undefined;

  constructor(tap: Tap, held: Held) {
    this.#tap = tap;
    this.#held = held;
  }

  protected get ended(): boolean {
    return this.#ended;
  }

  /** There is more in what is held: the reader may have it. */
  arrived(): void {
    if (this.#ended) return;
    const value = this.#reader && this.#held.take();
    if (value !== undefined) {
      this.#takeReader()?.resolve({ done: false, value });
      this.#resume();
    } else this.stem();
  }

  /** Has the sender wait if too much is held. */
  stem(): void {
    if (this.#paused || this.#held.bytes < highWaterBytes) return;
    this.#paused = true;
    this.#tap.pause();
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
    this.#held.clear();
    this.fail(reason);
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    const value = this.#held.take();
    if (value !== undefined) {
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
    this.#held.clear();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #resume(): void {
    if (!this.#paused || this.#held.bytes > highWaterBytes / 2) return;
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

/** Chunks as they come, each for whoever reads it to keep. */
export class ChunkStream extends HeldStream {
  readonly #chunks: Chunks;

  constructor(tap: Tap) {
    const chunks = new Chunks();
    super(tap, chunks);
    this.#chunks = chunks;
  }

  push(chunk: Uint8Array): void {
    if (this.ended) return;
    this.#chunks.add(chunk);
    this.arrived();
  }
}

class Chunks implements Held {
  #chunks: Uint8Array[] = [];
  bytes = 0;

  add(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.bytes += chunk.length;
  }

  take(): Uint8Array | undefined {
    const chunk = this.#chunks.shift();
    this.bytes -= chunk?.length ?? 0;
    return chunk;
  }

  clear(): void {
    this.#chunks = [];
    this.bytes = 0;
  }
}
