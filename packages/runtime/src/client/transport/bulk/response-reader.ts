// An answer in HTTP/1.1, read as its bytes come (RFC 9112): a head, and a body that is told apart by its length, by chunks
// or by the end of the connection. Bodies are handed on in place, without a copy and without an object for each piece.

/** What there is to be told of an answer: first its head, then the body, in pieces that are good during the call only. */
export interface ResponseParts {
  head(status: number, headers: Readonly<Record<string, string>>): void;
  body(bytes: Buffer, from: number, to: number): void;
}

/** What was found instead of an answer. Its bytes are never quoted: they may be a Secret. */
export class ResponseError extends Error {
  override readonly name = "ResponseError";
}

/** There was nothing wrong with what came, but more should have. */
export class CutError extends Error {
  override readonly name = "CutError";
}

type Place = "head" | "body" | "chunk size" | "chunk" | "chunk end" | "trailers" | "until the end" | "over";

/** Of a line, and of all lines of a head together. */
const longestHead = 64 * 1024;

export class ResponseReader {
  readonly #parts: ResponseParts;
  #place: Place = "head";
  /** The line that has begun. */
  #line = "";
  #head: string[] = [];
  #headLength = 0;
  /** Bytes of the body or chunk that are still to come. */
  #left = 0;

  constructor(parts: ResponseParts) {
    this.#parts = parts;
  }

  /** All of the answer was there. */
  get over(): boolean {
    return this.#place === "over";
  }

  /** @throws ResponseError */
  push(bytes: Buffer, length = bytes.length): void {
    let at = 0;
    while (at < length && this.#place !== "over") {
      const isBody = this.#place === "body" || this.#place === "chunk" || this.#place === "until the end";
      at = isBody ? this.#takeBody(bytes, at, length) : this.#takeLine(bytes, at, length);
    }
  }

  /** The other side has closed the connection. @throws CutError if there should be more */
  close(): void {
    if (this.#place === "until the end") this.#place = "over";
    if (!this.over) throw new CutError("the connection closed before the end of it");
  }

  #takeBody(bytes: Buffer, from: number, length: number): number {
    const to = this.#place === "until the end" ? length : Math.min(length, from + this.#left);
    this.#parts.body(bytes, from, to);
    this.#left -= to - from;
    if (this.#left === 0 && this.#place === "body") this.#place = "over";
    else if (this.#left === 0 && this.#place === "chunk") this.#place = "chunk end";
    return to;
  }

  #takeLine(bytes: Buffer, from: number, length: number): number {
    const newline = bytes.indexOf(0x0a, from);
    const isWhole = newline !== -1 && newline < length;
    const end = isWhole ? newline : length;
    this.#line += bytes.toString("latin1", from, end);
    // At once: something that speaks another protocol may end no line, and wait for us.
    if (this.#place === "head" && this.#head.length === 0) checkStart(this.#line);
    if (this.#line.length > longestHead) throw new ResponseError(`a line of more than ${longestHead} bytes`);
    if (!isWhole) return length;
    const line = this.#line.endsWith("\r") ? this.#line.slice(0, -1) : this.#line;
    this.#line = "";
    this.#read(line);
    return newline + 1;
  }

  #read(line: string): void {
    if (this.#place === "head") this.#readHead(line);
    else if (this.#place === "chunk size") this.#readSize(line);
    else if (this.#place === "trailers") this.#readTrailer(line);
    else if (line === "") this.#place = "chunk size";
    else throw new ResponseError("a chunk longer than it said");
  }

  #readHead(line: string): void {
    this.#headLength += line.length;
    if (this.#headLength > longestHead) throw new ResponseError(`a head of more than ${longestHead} bytes`);
    if (line !== "") {
      this.#head.push(line);
      return;
    }
    const [first = "", ...lines] = this.#head;
    this.#head = [];
    this.#headLength = 0;
    const status = statusIn(first);
    if (status < 200) return; // 100 Continue and its kin come before the answer
    const headers = headersIn(lines);
    this.#parts.head(status, headers);
    this.#beginBody(status, headers);
  }

  #beginBody(status: number, headers: Readonly<Record<string, string>>): void {
    const { "transfer-encoding": coding, "content-length": length } = headers;
    if (status === 204 || status === 304) this.#place = "over";
    else if (coding !== undefined) {
      if (coding.toLowerCase() !== "chunked") throw new ResponseError(`the transfer-encoding ${coding} instead of chunked`);
      this.#place = "chunk size";
    } else if (length === undefined) this.#place = "until the end";
    else {
      this.#left = numberIn(length, /^\d{1,15}$/, 10, "a content-length");
      this.#place = this.#left === 0 ? "over" : "body";
    }
  }

  #readSize(line: string): void {
    const semicolon = line.indexOf(";"); // extensions, which mean nothing to us
    const size = (semicolon === -1 ? line : line.slice(0, semicolon)).trim();
    this.#left = numberIn(size, /^[\da-f]{1,12}$/i, 16, "the size of a chunk");
    this.#place = this.#left === 0 ? "trailers" : "chunk";
  }

  #readTrailer(line: string): void {
    this.#headLength += line.length;
    if (this.#headLength > longestHead) throw new ResponseError(`trailers of more than ${longestHead} bytes`);
    if (line === "") this.#place = "over";
  }
}

function checkStart(line: string): void {
  const expected = "HTTP/1.";
  if (!line.startsWith(expected.slice(0, line.length))) throw new ResponseError(`something that is not ${expected}1`);
}

function statusIn(line: string): number {
  const status = /^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(line)?.[1];
  if (status === undefined) throw new ResponseError("something that is not HTTP/1.1");
  return Number(status);
}

/** Lower-case names; a header that came several times has its values joined by ", ". */
function headersIn(lines: readonly string[]): Record<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    if (colon < 1) throw new ResponseError("a header without a name");
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(headers);
}

function numberIn(text: string, form: RegExp, base: number, what: string): number {
  if (!form.test(text)) throw new ResponseError(`${what} that is no number`);
  return Number.parseInt(text, base);
}
