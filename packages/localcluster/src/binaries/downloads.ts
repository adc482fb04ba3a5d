// Fetches files over HTTP, and gives up early: many machines have no way out, and an honest "no" after five seconds is worth
// more than a hang. A host that did not answer is not asked again.
//
// Behind a proxy, Node 24 goes by HTTPS_PROXY where NODE_USE_ENV_PROXY=1 is set.
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { DownloadError, reasonOf } from "../errors.ts";

export interface DownloadsOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long to wait for a host to answer, in milliseconds. @default 5000 */
  readonly answerWithin?: number;
  /** How long to wait for the next bytes of an answer, in milliseconds. @default 30000 */
  readonly bytesWithin?: number;
}

export class Downloads {
  readonly #options: Required<Pick<DownloadsOptions, "answerWithin" | "bytesWithin">> & DownloadsOptions;
  /** Why a host did not answer, by its origin. */
  readonly #silentHosts = new Map<string, string>();

  constructor(options: DownloadsOptions = {}) {
    this.#options = { answerWithin: 5_000, bytesWithin: 30_000, ...options };
  }

  /** A small text. */
  async text(url: string): Promise<string> {
    return this.#get(url, (response) => response.text());
  }

  /** Writes a file, tells how far it is, and returns its SHA-256. */
  async file(url: string, to: string, detail: (text: string) => void): Promise<string> {
    return this.#get(url, async (response, alive) => {
      const hash = createHash("sha256");
      let bytes = 0;
      const count = async function* (chunks: AsyncIterable<Uint8Array>) {
        for await (const chunk of chunks) {
          alive();
          hash.update(chunk);
          bytes += chunk.length;
          detail(sizes(bytes, response));
          yield chunk;
        }
      };
      const body = response.body === null ? Readable.from([]) : Readable.fromWeb(response.body);
      await pipeline(body, count, createWriteStream(to, { flags: "wx" }));
      return hash.digest("hex");
    });
  }

  async #get<T>(url: string, read: (response: Response, alive: () => void) => Promise<T>): Promise<T> {
    using watchdog = new Watchdog(this.#options.signal);
    const response = await this.#answer(url, watchdog);
    const alive = () => watchdog.expect("more bytes", this.#options.bytesWithin);
    try {
      alive();
      return await read(response, alive);
    } catch (error) {
      this.#options.signal?.throwIfAborted();
      throw new DownloadError(url, `broke off: ${reasonOf(error)}`, error);
    }
  }

  async #answer(url: string, watchdog: Watchdog): Promise<Response> {
    const { origin } = new URL(url);
    const silence = this.#silentHosts.get(origin);
    if (silence !== undefined) throw new DownloadError(url, silence);
    watchdog.expect("answer", this.#options.answerWithin);
    const response = await fetch(url, { signal: watchdog.signal }).catch((error) => {
      this.#options.signal?.throwIfAborted();
      this.#silentHosts.set(origin, reasonOf(error));
      throw new DownloadError(url, reasonOf(error), error);
    });
    if (response.ok) return response;
    await response.body?.cancel();
    throw new DownloadError(url, `answered ${response.status} ${response.statusText}`);
  }
}

/** Aborts its signal when what was expected last does not come in time, or when the outer signal aborts. */
class Watchdog implements Disposable {
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(outer: AbortSignal | undefined) {
    this.signal = AbortSignal.any([this.#controller.signal, ...(outer ? [outer] : [])]);
  }

  expect(what: string, within: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#controller.abort(new Error(`no ${what} within ${within / 1000} s`)), within);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}

/** "12 of 120 MB", or "12 MB" where the server does not say how much there is. */
function sizes(bytes: number, response: Response): string {
  const megabytes = (count: number) => Math.round(count / 1e6);
  const total = Number(response.headers.get("content-length") ?? 0);
  return total > 0 ? `${megabytes(bytes)} of ${megabytes(total)} MB` : `${megabytes(bytes)} MB`;
}
