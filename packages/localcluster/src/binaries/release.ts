// Official releases, downloaded and verified by their published SHA-256.
//
//     https://dl.k8s.io/release/v1.37.1/bin/linux/amd64/kube-apiserver (.sha256)
//     https://github.com/etcd-io/etcd/releases/download/v3.7.3/etcd-v3.7.3-linux-amd64.tar.gz (SHA256SUMS)
//     https://get.helm.sh/helm-v4.3.1-linux-amd64.tar.gz (.sha256sum)
//
// A mirror (LOCALCLUSTER_RELEASE_URL) serves all of them below one URL: <mirror>/v1.37.1/bin/…, <mirror>/v3.7.3/etcd-…, <mirror>/helm-….
// The checksum is requested first: it is small, so a machine without internet access fails quickly.
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { ChecksumError, DownloadError, reasonOf } from "../errors.ts";
import { run } from "../process/command.ts";
import type { Search } from "./search.ts";
import { type Binary, describe } from "./search.ts";

/** Downloads the binary into a folder and returns its path there. */
export function downloadRelease(binary: Binary, folder: string, search: Search): Promise<string> {
  if (binary.project === "kubernetes") return downloadKubernetes(binary, folder, search);
  return downloadArchived(
    binary,
    binary.project === "etcd" ? etcdArchive(binary, search) : helmArchive(binary, search),
    folder,
    search,
  );
}

async function downloadKubernetes(binary: Binary, folder: string, search: Search): Promise<string> {
  const site = search.mirror ?? "https://dl.k8s.io/release";
  const url = `${site}/v${binary.version}/bin/linux/${search.architecture}/${binary.name}`;
  return downloadVerified(binary, { url, sums: `${url}.sha256`, to: join(folder, binary.name) }, search);
}

interface Archive {
  readonly url: string;
  /** The URL of its checksum. */
  readonly sums: string;
  /** The path of the binary in the archive. */
  readonly member: string;
}

function etcdArchive({ version }: Binary, { mirror, architecture }: Search): Archive {
  const folder = `${mirror ?? "https://github.com/etcd-io/etcd/releases/download"}/v${version}`;
  const stem = `etcd-v${version}-linux-${architecture}`;
  return { url: `${folder}/${stem}.tar.gz`, sums: `${folder}/SHA256SUMS`, member: `${stem}/etcd` };
}

function helmArchive({ version }: Binary, { mirror, architecture }: Search): Archive {
  const url = `${mirror ?? "https://get.helm.sh"}/helm-v${version}-linux-${architecture}.tar.gz`;
  return { url, sums: `${url}.sha256sum`, member: `linux-${architecture}/helm` };
}

async function downloadArchived(binary: Binary, archive: Archive, folder: string, search: Search): Promise<string> {
  const { url, sums, member } = archive;
  const { env, signal } = search;
  const to = join(folder, "archive.tar.gz");
  await downloadVerified(binary, { url, sums, to }, search);
  // Run by root, tar would otherwise give the file to the local user with the uid of the archive.
  const extract = ["-xzf", to, "-C", folder, "--no-same-owner", "--strip-components=1", member];
  await run("tar", extract, { env, signal }).catch((error) => {
    signal?.throwIfAborted();
    throw new DownloadError(url, `cannot be unpacked: ${reasonOf(error)}`, error);
  });
  return join(folder, binary.name);
}

interface Source {
  readonly url: string;
  /** The URL of its checksum. */
  readonly sums: string;
  readonly to: string;
}

async function downloadVerified(binary: Binary, { url, sums, to }: Source, { downloads, progress }: Search): Promise<string> {
  const expected = checksumIn(await downloads.text(sums), url, sums);
  const found = await progress.during(`downloading ${describe(binary)}`, (detail) => downloads.file(url, to, detail));
  if (found !== expected) throw new ChecksumError(url, expected, found);
  return to;
}

/** Reads "<sum>  <file>" lines, or a text that is only a checksum. */
function checksumIn(text: string, url: string, sums: string): string {
  const file = url.slice(url.lastIndexOf("/") + 1);
  const lines = text.trim().split("\n");
  const line = lines.find((each) => each.trim().endsWith(file)) ?? (lines.length === 1 ? lines[0] : undefined);
  const sum = /^[0-9a-f]{64}(?=\s|$)/i.exec(line?.trim() ?? "")?.[0];
  if (sum === undefined)
    throw new DownloadError(sums, `expected a SHA-256 of ${file}, found ${JSON.stringify(text.slice(0, 40))}`);
  return sum.toLowerCase();
}

export interface DownloadsOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long to wait for a response, in milliseconds. @default 5000 */
  readonly responseWithin?: number;
  /** How long to wait for the next bytes of a response, in milliseconds. @default 30000 */
  readonly bytesWithin?: number;
}

/**
 * Downloads files over HTTP and gives up early, because many machines have no internet access. A host that did not answer is not tried
 * again. Behind a proxy, set HTTPS_PROXY and NODE_USE_ENV_PROXY=1.
 */
export class Downloads {
  readonly #options: Required<Pick<DownloadsOptions, "responseWithin" | "bytesWithin">> & DownloadsOptions;
  /** Why a host did not answer, by origin. */
  readonly #unreachable = new Map<string, string>();

  constructor(options: DownloadsOptions = {}) {
    this.#options = { responseWithin: 5_000, bytesWithin: 30_000, ...options };
  }

  async text(url: string): Promise<string> {
    return this.#get(url, (response) => response.text());
  }

  /** Writes the response to a file, reports progress, and returns the SHA-256. */
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
    const response = await this.#respond(url, watchdog);
    const alive = () => watchdog.expect("more bytes", this.#options.bytesWithin);
    try {
      alive();
      return await read(response, alive);
    } catch (error) {
      this.#options.signal?.throwIfAborted();
      throw new DownloadError(url, `broke off: ${reasonOf(error)}`, error);
    }
  }

  async #respond(url: string, watchdog: Watchdog): Promise<Response> {
    const { origin } = new URL(url);
    const reason = this.#unreachable.get(origin);
    if (reason !== undefined) throw new DownloadError(url, reason);
    watchdog.expect("response", this.#options.responseWithin);
    const response = await fetch(url, { signal: watchdog.signal }).catch((error) => {
      this.#options.signal?.throwIfAborted();
      this.#unreachable.set(origin, reasonOf(error));
      throw new DownloadError(url, reasonOf(error), error);
    });
    if (response.ok) return response;
    await response.body?.cancel();
    throw new DownloadError(url, `answered ${response.status} ${response.statusText}`);
  }
}

/** Aborts its signal when an expected event does not happen in time, or when the outer signal aborts. */
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

/** "12 of 120 MB", or "12 MB" if the total is unknown. */
function sizes(bytes: number, response: Response): string {
  const megabytes = (count: number) => Math.round(count / 1e6);
  const total = Number(response.headers.get("content-length") ?? 0);
  return total > 0 ? `${megabytes(bytes)} of ${megabytes(total)} MB` : `${megabytes(bytes)} MB`;
}
