// What a list has said lately. Of the texts in it most come again and again: names of labels, policies, times of what
// was made together. To make texts of bytes was a fifth of the work on a pod, to see that they are the same text as before is
// much less, and the objects then share it from the beginning (cache/sharing.ts).

/** Longer texts seldom come twice. */
const longest = 128;
const places = 512;

export class Recent {
  /** Each text has one place; of two that want the same one, the last has it. */
  readonly #texts: string[] = new Array<string>(places).fill("");
  #seconds = Number.NaN;
  #secondsText = "";

  /** The text that is written in these bytes, in UTF-8. */
  text(buffer: Buffer, start: number, end: number): string {
    const length = end - start;
    if (length === 0) return "";
    if (length > longest) return buffer.toString("utf8", start, end);
    const place = placeOf(buffer, start, length);
    const known = this.#texts[place] ?? "";
    if (known.length === length && isWritten(known, buffer, start)) return known;
    const text = buffer.toString("utf8", start, end);
    if (text.length === length) this.#texts[place] = text; // one byte for each character: only then may they be compared
    return text;
  }

  /** Seconds since 1970 as RFC 3339 writes them. */
  second(seconds: number): string {
    if (seconds !== this.#seconds) {
      this.#seconds = seconds;
      this.#secondsText = `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
    }
    return this.#secondsText;
  }
}

function placeOf(buffer: Buffer, start: number, length: number): number {
  const first = buffer[start] ?? 0;
  const middle = buffer[start + (length >> 1)] ?? 0;
  const last = buffer[start + length - 1] ?? 0;
  return (length * 37 + first * 5 + middle * 17 + last * 3) % places;
}

function isWritten(text: string, buffer: Buffer, start: number): boolean {
  // From the end: what differs at all (names, versions) mostly differs there.
  for (let at = text.length - 1; at >= 0; at -= 1) if (buffer[start + at] !== text.charCodeAt(at)) return false;
  return true;
}
