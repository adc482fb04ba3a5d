// Two buffers for a stream of any length: one is filled while the other is read, then they change places. A large list comes in
// ten thousand pieces; to keep each as an object of its own until it is read costs more than to copy its bytes.
import type { Held } from "../chunk-stream.ts";

const initialBytes = 64 * 1024;

export class TwoBuffers implements Held {
  #filling = Buffer.allocUnsafeSlow(initialBytes);
  #reading = Buffer.allocUnsafeSlow(initialBytes);
  bytes = 0;

  add(from: Buffer, start: number, end: number): void {
    const needed = this.bytes + end - start;
    if (needed > this.#filling.length) this.#grow(needed);
    from.copy(this.#filling, this.bytes, start, end);
    this.bytes = needed;
  }

  /** All there is. It is good until the next call. */
  take(): Uint8Array | undefined {
    if (this.bytes === 0) return undefined;
    const full = this.#filling;
    this.#filling = this.#reading;
    this.#reading = full;
    const all = full.subarray(0, this.bytes);
    this.bytes = 0;
    return all;
  }

  clear(): void {
    this.bytes = 0;
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#filling.length));
    this.#filling.copy(larger, 0, 0, this.bytes);
    this.#filling = larger;
  }
}
