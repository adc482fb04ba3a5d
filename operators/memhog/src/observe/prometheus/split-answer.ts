// An answer may have a hundred thousand series, a hundred megabytes of JSON. Parsed as one value it would block the event loop for
// a second, and a blocked event loop loses the Lease. So the text is only scanned for where one series ends and the next begins,
// while it comes in; each series is parsed on its own and forgotten. What is left, a few words around an empty list, is parsed at
// the end.
//
//     {"status":"success","data":{"resultType":"matrix","result":[ {…} , {…} , … ]},"warnings":["…"]}
//     depth 1             2                                      3 └──┴ series: an object that begins at depth 3
const [quote, comma, backslash, openBrace, closeBrace, openBracket, closeBracket] = [0x22, 0x2c, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d];
const seriesDepth = 3;
/** Longer than any series can be: an id, a name, an image and two minutes of samples. */
const longestSeries = 1024 * 1024;

export class AnswerSplitter {
  readonly #onSeries: (json: string) => void;
  readonly #rest: Buffer[] = [];
  /** The beginning of a series whose end has not come yet. */
  #begun: Buffer[] = [];
  #begunBytes = 0;
  #depth = 0;
  #inText = false;
  #escaped = false;
  #inSeries = false;

  /** Calls back with the JSON of each element of the result. */
  constructor(onSeries: (json: string) => void) {
    this.#onSeries = onSeries;
  }

  push(bytes: Uint8Array): void {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (this.#inText) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === backslash) this.#escaped = true;
        else if (byte === quote) this.#inText = false;
      } else if (byte === quote) this.#inText = true;
      else if (byte === openBrace || byte === openBracket) {
        if (byte === openBrace && this.#depth === seriesDepth && !this.#inSeries) {
          this.#keep(chunk.subarray(from, at));
          this.#inSeries = true;
          from = at;
        }
        this.#depth += 1;
      } else if (byte === closeBrace || byte === closeBracket) {
        this.#depth -= 1;
        if (this.#inSeries && this.#depth === seriesDepth) {
          this.#finishSeries(chunk.subarray(from, at + 1));
          from = at + 1;
        }
      }
    }
    this.#keep(chunk.subarray(from));
  }

  /** The answer without its series; where it came with white space, commas are left over and taken out. */
  end(): string {
    return Buffer.concat([...this.#rest, ...this.#begun])
      .toString("utf8")
      .replace(/\[[\s,]+\]/, "[]");
  }

  #finishSeries(last: Buffer): void {
    this.#inSeries = false;
    this.#onSeries(Buffer.concat([...this.#begun, last]).toString("utf8"));
    this.#begun = [];
    this.#begunBytes = 0;
  }

  #keep(part: Buffer): void {
    if (!this.#inSeries) {
      // Copied, since a part would keep its whole chunk alive; the comma between two series is nobody's.
      const isSeparator = part.length === 1 && part[0] === comma && this.#depth === seriesDepth;
      if (part.length > 0 && !isSeparator) this.#rest.push(Buffer.from(part));
    } else {
      this.#begunBytes += part.length;
      // What is this? Nothing we asked for. It is dropped as it comes, and the answer will not parse.
      if (this.#begunBytes <= longestSeries) this.#begun.push(part);
    }
  }
}
