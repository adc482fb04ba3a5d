// A watch is one JSON document per line, in chunks that know nothing of lines. A line that spans chunks keeps the pieces
// apart until its end is there and joins them once: joining as they come would copy the beginning of a large object over
// and over. Bytes become text only when a line is whole, so a character cut in two by a chunk is no special case.
import { BrokenStreamError } from "../errors.ts";

const newline = 0x0a;

export class LineSplitter {
  readonly #what: string;
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #bytes = 0;

  /** A line longer than `maxBytes` is an error: no object is that large, and waiting for its end would fill the memory. */
  constructor(what: string, maxBytes: number) {
    this.#what = what;
    this.#maxBytes = maxBytes;
  }

  /** Bytes of a line whose end has not come yet. */
  get unfinished(): number {
    return this.#bytes;
  }

  /** The lines that this chunk completes, without their ends. Empty lines are left out. */
  *push(chunk: Uint8Array): Generator<string, void, undefined> {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
      const line = this.#finish(bytes.subarray(start, end));
      start = end + 1;
      if (line !== "") yield line;
    }
    if (start < bytes.length) this.#keep(bytes.subarray(start));
  }

  #keep(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes > this.#maxBytes) {
      throw new BrokenStreamError(`${this.#what}: expected lines of at most ${this.#maxBytes} bytes, found a longer one`);
    }
  }

  #finish(last: Buffer): string {
    if (this.#pieces.length === 0) return last.toString("utf8");
    const whole = Buffer.concat([...this.#pieces, last], this.#bytes + last.length);
    this.#pieces = [];
    this.#bytes = 0;
    return whole.toString("utf8");
  }
}
