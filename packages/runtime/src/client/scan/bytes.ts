// Bytes that have come and are not read yet, in one piece. Readers of lists look at `buffer` from `start` to `end`, and move
// `start` on; both are plain fields, because they are touched for every byte of a large list.

const initialBytes = 64 * 1024;

export class Bytes {
  buffer: Buffer = Buffer.allocUnsafeSlow(initialBytes);
  start = 0;
  end = 0;

  push(chunk: Uint8Array): void {
    if (this.end + chunk.length > this.buffer.length) this.#makeRoom(chunk.length);
    this.buffer.set(chunk, this.end);
    this.end += chunk.length;
  }

  text(from: number, to: number): string {
    return this.buffer.toString("utf8", from, to);
  }

  /** What is unread moves to the beginning; twice as much room if that is not enough, so that it is moved seldom. */
  #makeRoom(more: number): void {
    const unread = this.end - this.start;
    const before = this.buffer;
    let size = before.length;
    while (unread + more > size) size *= 2;
    if (size > before.length) this.buffer = Buffer.allocUnsafeSlow(size);
    before.copy(this.buffer, 0, this.start, this.end);
    this.start = 0;
    this.end = unread;
  }
}
