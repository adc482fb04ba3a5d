// Certificates that somebody else puts into files: cert-manager, a Secret mounted as a volume, an administrator. A change
// is noticed by a watch on the folder, and by looking now and then: watches miss changes on some network file systems.
//
// Kubernetes exchanges a mounted Secret by moving one symbolic link, so certificate and key change together. Others write
// one file after the other; a pair that does not match is left alone until it does.
import { type FSWatcher, watch } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { anySignal } from "../concurrency/abort.ts";
import type { Clock } from "../concurrency/environment.ts";
import type { CertificateSource, ServingCertificate } from "./certificate-source.ts";
import { belongTogether } from "./certificates.ts";
import { CertificateError } from "./errors.ts";

export interface FileCertificatesOptions {
  /** PEM file: the certificate, followed by intermediates if there are any. As in a mounted kubernetes.io/tls Secret: tls.crt */
  readonly certificate: string;
  /** PEM file: its private key; tls.key. */
  readonly key: string;
  /** PEM file with what callers must trust, to be put into caBundle. @default none: somebody else does that */
  readonly trust?: string;
  /** Milliseconds between two looks, beside the watch. @default 60 s */
  readonly everyMs?: number;
  readonly clock: Clock;
  /** Told when new files cannot be used; what was there before stays in use. */
  readonly onProblem?: (error: CertificateError) => void;
}

/** Certificates read from files, again whenever the files change. */
export function fileCertificates(options: FileCertificatesOptions): CertificateSource {
  return async function* (signal) {
    // Watching begins before the first look: a change in between must not go unnoticed.
    using changes = new FolderChanges([dirname(options.certificate), dirname(options.key)]);
    let current = await readPair(options);
    yield current;
    while (await changes.next(options, signal)) {
      const next = await readPair(options).catch((error: CertificateError) => options.onProblem?.(error));
      if (next === undefined || same(next, current)) continue;
      current = next;
      yield current;
    }
  };
}

async function readPair({ certificate, key, trust }: FileCertificatesOptions): Promise<ServingCertificate> {
  const read = (path: string) =>
    readFile(path, "utf8").catch((cause: Error) => {
      throw new CertificateError(`expected a PEM file at ${path}, found none that can be read`, { cause });
    });
  const pair = { certificate: await read(certificate), key: await read(key) };
  if (!belongTogether(pair))
    throw new CertificateError(`expected ${certificate} and ${key} to belong together, found that they do not`);
  return trust === undefined ? pair : { ...pair, trust: await read(trust) };
}

/** Tells that something changed in a folder, no matter what. */
class FolderChanges implements Disposable {
  readonly #watchers: readonly FSWatcher[];
  #changed = new AbortController();

  constructor(folders: readonly string[]) {
    this.#watchers = [...new Set(folders)].flatMap((folder) => this.#watch(folder));
  }

  /** True after the next change, or after a while without one; false when it is over. */
  async next({ everyMs = 60_000, clock }: FileCertificatesOptions, signal: AbortSignal): Promise<boolean> {
    using either = anySignal([signal, this.#changed.signal]);
    await clock.sleep(everyMs, either.signal).catch(() => {}); // woken early
    this.#changed = new AbortController();
    return !signal.aborted;
  }

  [Symbol.dispose](): void {
    for (const watcher of this.#watchers) watcher.close();
  }

  /** Not every file system can be watched; then looking now and then has to do. */
  #watch(folder: string): readonly FSWatcher[] {
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#changed.abort());
      watcher.on("error", () => this.#changed.abort());
      return [watcher];
    } catch {
      return [];
    }
  }
}

const same = (a: ServingCertificate, b: ServingCertificate): boolean =>
  a.certificate === b.certificate && a.key === b.key && a.trust === b.trust;
