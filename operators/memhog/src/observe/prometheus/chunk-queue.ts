// Between a connection that pushes and a reader who takes: a few chunks wait here, and when there are too many the connection is
// asked to pause, so that a fast server cannot fill our memory before we have looked at anything.
const fullBytes = 1024 * 1024;

export class ChunkQueue implements AsyncIterable<Uint8Array> {
  /** Called when there is too much (true) and when there is room again (false). */
  onFull: (isFull: boolean) => void = () => {};
  /** Called when the reader leaves before the end. */
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
