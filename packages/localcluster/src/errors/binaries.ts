// Errors of finding and making binaries.
import { LocalClusterError, list, reasonOf } from "./error.ts";

/** Kubernetes nodes are Linux, and so are the binaries we look for. There is nothing to retry here. */
export class UnsupportedPlatformError extends LocalClusterError {
  constructor(found: string) {
    super("UNSUPPORTED_PLATFORM", `localcluster runs on Linux on x64 or arm64; this is ${found}`);
  }
}

/** The version is not one of the small table in versions.ts. */
export class UnknownVersionError extends LocalClusterError {
  constructor(found: string, supported: readonly string[]) {
    super("UNKNOWN_VERSION", `unknown Kubernetes version ${JSON.stringify(found)}: expected one of ${supported.join(", ")}`);
  }
}

/** A variable of the environment names a program that cannot be run. Somebody meant it, so nothing else is tried. */
export class NotExecutableError extends LocalClusterError {
  constructor(variable: string, path: string) {
    super("NOT_EXECUTABLE", `${variable} names ${JSON.stringify(path)}: expected the absolute path of an executable file`);
  }
}

/** The folder that keeps binaries for the next run cannot be written. */
export class CacheUnwritableError extends LocalClusterError {
  constructor(folder: string, cause: unknown) {
    super(
      "CACHE_UNWRITABLE",
      `cannot write to the cache ${folder} (${reasonOf(cause)}): set LOCALCLUSTER_CACHE to a folder you own`,
      { cause },
    );
  }
}

/** A file of a release could not be fetched: no way to the host, an answer that is not 200, a stream that broke off. */
export class DownloadError extends LocalClusterError {
  constructor(url: string, reason: string, cause?: unknown) {
    super("DOWNLOAD", `${url}: ${reason}`, { cause });
  }
}

/** What was downloaded is not what was released. It is thrown away; nobody ever runs it. */
export class ChecksumError extends LocalClusterError {
  constructor(url: string, expected: string, found: string) {
    super("CHECKSUM", `${url}: expected SHA-256 ${expected}, found ${found}`);
  }
}

/** There is no Go to build with. */
export class GoMissingError extends LocalClusterError {
  constructor(command: string, wanted: string, cause: unknown) {
    super("GO_MISSING", `cannot run ${JSON.stringify(command)} (${reasonOf(cause)}): expected Go ${wanted} or newer`, { cause });
  }
}

/** There is a Go, but it is older than the source asks for and may not fetch a newer one by itself. */
export class GoTooOldError extends LocalClusterError {
  constructor(found: string, wanted: string) {
    super("GO_TOO_OLD", `found Go ${found}, expected ${wanted} or newer (or GOTOOLCHAIN=auto on Go 1.21 or newer)`);
  }
}

/** Go ran and gave up; the message carries its last words, among them the module that was refused. */
export class GoFailedError extends LocalClusterError {
  constructor(command: string, lastWords: string) {
    super("GO_FAILED", `${command} failed:\n${lastWords}`);
  }
}

/** One way to come by a binary, and why it led nowhere. */
export interface Attempt {
  readonly way: string;
  readonly outcome: string;
}

/** No way led to the binary: what was tried, why each failed, and what the user can do. */
export class NoBinariesError extends LocalClusterError {
  readonly tried: readonly Attempt[];
  constructor(binary: string, tried: readonly Attempt[], remedies: readonly string[]) {
    const attempts = tried.map(({ way, outcome }) => `${way}: ${outcome}`);
    super(
      "NO_BINARIES",
      [`${binary} is not on this machine, and could not be made.`, "Tried:", list(attempts), "You can:", list(remedies)].join(
        "\n",
      ),
    );
    this.tried = tried;
  }
}
