// Text that comes piece by piece, for one reader. What is not read yet waits here: the other end is in this process, or
// is a socket that says when it has had enough (http-server.ts).

const encoder = new TextEncoder();

export class TextStream implements AsyncIterableIterator<Uint8Array> {
  readonly #onLeave: () => void;
  #waiting: string[] = [];
  #ended = false;
  #failure: { readonly reason: unknown } | undefined;
  #reader: PromiseWithResolvers<IteratorResult<Uint8Array>> | undefined;

  /** `onLeave`: the reader wants no more. */
  constructor(onLeave: () => void = () => {}) {
    this.#onLeave = onLeave;
  }

  push(text: string): void {
    if (this.#ended) return;
    const reader = this.#takeReader();
    if (reader === undefined) this.#waiting.push(text);
    else reader.resolve({ done: false, value: encoder.encode(text) });
  }

  /** What was pushed before is still read. */
  end(): void {
    this.#ended = true;
    this.#takeReader()?.resolve({ done: true, value: undefined });
  }

  /** The connection breaks; what was pushed before is still read. */
  fail(reason: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    const reader = this.#takeReader();
    if (reader === undefined) this.#failure = { reason };
    else reader.reject(reason);
  }

  /** All that waits, as one piece: a reader that was busy catches up in one step. */
  next(): Promise<IteratorResult<Uint8Array>> {
    if (this.#waiting.length > 0) {
      const text = this.#waiting.length === 1 ? (this.#waiting[0] ?? "") : this.#waiting.join("");
      this.#waiting = [];
      return Promise.resolve({ done: false, value: encoder.encode(text) });
    }
    if (this.#failure !== undefined) {
      const { reason } = this.#failure;
      this.#failure = undefined;
      return Promise.reject(reason);
    }
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    this.#reader = Promise.withResolvers();
    return this.#reader.promise;
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.#ended = true;
    this.#waiting = [];
    this.#onLeave();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #takeReader() {
    const reader = this.#reader;
    this.#reader = undefined;
    return reader;
  }
}
