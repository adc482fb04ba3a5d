// Certificates from files that something else maintains: cert-manager, a Secret mounted as a volume, an administrator. Changes
// are detected by a watch on the directory and by polling, since watches miss changes on some network file systems.
//
// The kubelet updates a mounted Secret by replacing one symbolic link, so certificate and key change together. Other tools write
// one file after the other; a pair that does not match is ignored until it does.
import { type FSWatcher, watch } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { anySignal } from "../concurrency/abort.ts";
import type { Clock } from "../concurrency/environment.ts";
import type { CertificateSource, ServingCertificate } from "./certificates.ts";
import { belongTogether } from "./certificates.ts";
import { CertificateError } from "./errors.ts";

export interface FileCertificatesOptions {
  /** PEM file: the certificate, followed by any intermediates. tls.crt in a mounted kubernetes.io/tls Secret. */
  readonly certificate: string;
  /** PEM file: the private key of the certificate. tls.key in a mounted kubernetes.io/tls Secret. */
  readonly key: string;
  /** PEM file with the certificates that callers must trust, for caBundle. @default none: something else sets caBundle */
  readonly trust?: string;
  /** Polling interval in milliseconds, in addition to the watch. @default 60 s */
  readonly everyMs?: number;
  readonly clock: Clock;
  /** Called when new files cannot be used; the previous certificate stays in use. */
  readonly onProblem?: (error: CertificateError) => void;
}

/** Reads certificates from files, again whenever the files change. */
export function fileCertificates(options: FileCertificatesOptions): CertificateSource {
  return async function* (signal) {
    // Watch before the first read, so that no change in between is missed.
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

/** Signals changes in a directory. */
class FolderChanges implements Disposable {
  readonly #watchers: readonly FSWatcher[];
  #changed = new AbortController();

  constructor(folders: readonly string[]) {
    this.#watchers = [...new Set(folders)].flatMap((folder) => this.#watch(folder));
  }

  /** Resolves to true after the next change or the polling interval; to false when closed. */
  async next({ everyMs = 60_000, clock }: FileCertificatesOptions, signal: AbortSignal): Promise<boolean> {
    using either = anySignal([signal, this.#changed.signal]);
    await clock.sleep(everyMs, either.signal).catch(() => {}); // a change ends the sleep early
    this.#changed = new AbortController();
    return !signal.aborted;
  }

  [Symbol.dispose](): void {
    for (const watcher of this.#watchers) watcher.close();
  }

  /** Some file systems cannot be watched; polling covers those. */
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
