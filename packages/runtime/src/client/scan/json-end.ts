// Where an object of a list in JSON ends, found by counting brackets, once for every byte, however it is cut into chunks. Slower
// than to guess (json-reader.ts), and never misled.

const quote = 0x22;
const backslash = 0x5c;

export class JsonEnd {
  #depth = 0;
  #inString = false;
  /** Bytes of the object that have been looked at. */
  #seen = 0;
  #found = false;

  /** How many bytes the object takes that begins at `start`; undefined: its end has not come yet. */
  find(buffer: Buffer, start: number, end: number): number | undefined {
    let at = start + this.#seen;
    while (at < end && !this.#found) at = this.#inString ? this.#leaveString(buffer, at, end) : this.#step(buffer, at);
    this.#seen = at - start;
    return this.#found ? this.#seen : undefined;
  }

  #step(buffer: Buffer, at: number): number {
    const byte = buffer[at];
    if (byte === quote) this.#inString = true;
    else if (byte === 0x7b || byte === 0x5b) this.#depth += 1;
    else if (byte === 0x7d || byte === 0x5d) {
      this.#depth -= 1;
      this.#found = this.#depth <= 0;
    }
    return at + 1;
  }

  /** Behind the string, or behind what has come of it; what a backslash escapes goes with it, even if it is still to come. */
  #leaveString(buffer: Buffer, from: number, end: number): number {
    let at = from;
    while (at < end && this.#inString) {
      const byte = buffer[at];
      if (byte === quote) this.#inString = false;
      at += byte === backslash ? 2 : 1;
    }
    return at;
  }
}
