// Every error that localcluster throws on purpose, in one place. A program goes by `code`, which never changes; a person reads
// `message`, which says what was expected, what was found and, where there is something, what to do about it. Whatever went
// wrong underneath is kept as `cause`.

/** The parent of them all: `error instanceof LocalClusterError` means that the message is fit for a person. */
export class LocalClusterError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

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

/** A cluster's name becomes a path and part of host names. */
export class InvalidNameError extends LocalClusterError {
  constructor(name: string) {
    super(
      "INVALID_NAME",
      `a cluster's name has 1 to 40 lower-case letters, digits and inner dashes; found ${JSON.stringify(name)}`,
    );
  }
}

export class ClusterExistsError extends LocalClusterError {
  constructor(name: string, options?: ErrorOptions) {
    super(
      "CLUSTER_EXISTS",
      `there is a cluster named ${name} already; take it down first (localcluster down ${name}) or choose another name (--name)`,
      options,
    );
  }
}

/** A program of the cluster did not come up, or not in time. */
export class ComponentFailedError extends LocalClusterError {
  readonly logFile: string;

  constructor(component: string, why: string, { logFile, log, cause }: { logFile: string; log?: string; cause?: unknown }) {
    const tail = log ? `; the last lines of its log:\n${log.replace(/^/gm, "  ")}\n` : "; ";
    super("COMPONENT_FAILED", `${component} ${why}${tail}the whole log is ${logFile}`, { cause });
    this.logFile = logFile;
  }
}

/** A port that the user asked for cannot be had. A port of our own choosing never leads here: another one is tried. */
export class PortTakenError extends LocalClusterError {
  constructor(port: number, why: string, options?: ErrorOptions) {
    super("PORT_TAKEN", `port ${port}: ${why}; choose another one, or none and a free one is found`, options);
  }
}

/** The kernel allows 107 characters for the path of a unix socket, and several of ours live below the state folder. */
export class StatePathTooLongError extends LocalClusterError {
  constructor(path: string, allowed: number) {
    super(
      "STATE_PATH_TOO_LONG",
      `${path} is ${path.length} characters long, expected at most ${allowed}: set LOCALCLUSTER_HOME to a shorter path, or use a shorter name`,
    );
  }
}

/** An option, or a flag, that means nothing. */
export class InvalidOptionsError extends LocalClusterError {
  constructor(option: string, expected: string, found: unknown) {
    super("INVALID_OPTIONS", `${option}: expected ${expected}; found ${JSON.stringify(found)}`);
  }
}

/** A file that we would have to replace, and that somebody may want to keep. */
export class FileExistsError extends LocalClusterError {
  constructor(path: string) {
    super("FILE_EXISTS", `${path} exists already, and is not overwritten: choose another file, or remove it`);
  }
}

export class FileMissingError extends LocalClusterError {
  constructor(path: string) {
    super("FILE_MISSING", `there is no file ${path}`);
  }
}

/** A signal ended the start; everything that was started is gone again. */
export class InterruptedError extends LocalClusterError {
  constructor(cluster: string) {
    super("INTERRUPTED", `interrupted; nothing is left of cluster ${cluster}`);
  }
}

/** Not even SIGKILL ended them: they hang in the kernel, on a dead mount or a broken disk. */
export class UnkillableError extends LocalClusterError {
  constructor(processes: readonly string[]) {
    super("UNKILLABLE", `these processes did not end within 30 s of SIGKILL: ${processes.join(", ")}`);
  }
}

export class NoSuchClusterError extends LocalClusterError {
  constructor(name: string, known: readonly string[]) {
    super(
      "NO_SUCH_CLUSTER",
      `there is no cluster named ${name}; ${known.length === 0 ? "there are none" : `there is ${known.join(", ")}`}`,
    );
  }
}

/** Asked for something that only a real node has, of a cluster that has none. */
export class NoNodeError extends LocalClusterError {
  constructor(cluster: string, what: string) {
    super("NO_NODE", `${what} needs a node, and cluster ${cluster} has none: start it with nodes: "real" (--nodes real)`);
  }
}

export class UnknownComponentError extends LocalClusterError {
  constructor(found: string, known: readonly string[]) {
    super("UNKNOWN_COMPONENT", `no component ${JSON.stringify(found)} in this cluster: expected one of ${known.join(", ")}`);
  }
}

/** The API server answered, and the answer was no. */
export class ApiError extends LocalClusterError {
  /** The HTTP status. */
  readonly status: number;
  /** Kubernetes' own word for it: `Forbidden`, `NotFound`, `AlreadyExists`, … */
  readonly reason: string;

  constructor(call: string, { status, reason, message }: { status: number; reason: string; message: string }) {
    super("API_ERROR", `${call}: ${status} ${reason}: ${message}`);
    this.status = status;
    this.reason = reason;
  }
}

/** The API server did not answer at all: it is not running, or was stopped. */
export class ApiUnreachableError extends LocalClusterError {
  constructor(call: string, cause: unknown) {
    super("API_UNREACHABLE", `${call}: no answer (${reasonOf(cause)})`, { cause });
  }
}

/** Not something the API server could know: a document without a kind, a kind that nothing defines. */
export class InvalidManifestError extends LocalClusterError {
  constructor(message: string, options?: ErrorOptions) {
    super("INVALID_MANIFEST", message, options);
  }
}

/** What was waited for did not come to pass. */
export class EventuallyError extends LocalClusterError {
  constructor(message: string, options?: ErrorOptions) {
    super("EVENTUALLY", message, options);
  }
}

export class KubectlError extends LocalClusterError {
  constructor(args: readonly string[], outcome: string, stderr: string) {
    super("KUBECTL", `kubectl ${args.join(" ")}: ${outcome}\n${stderr.trimEnd()}`);
  }
}

/** The innermost reason: Node's fetch says only "fetch failed" and hides the rest in its cause. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return reasonOf(error.cause);
  return error.message || ("code" in error ? String(error.code) : error.name);
}

/** One item a line; further lines of an item are indented below it. */
function list(items: readonly string[]): string {
  return items.map((item) => `  - ${item.replaceAll("\n", "\n    ")}`).join("\n");
}

/** The programs of a real node that are not Kubernetes' own could not be had. */
export class PackagesUnavailableError extends LocalClusterError {
  constructor(packages: readonly string[], why: string, options?: ErrorOptions) {
    super(
      "PACKAGES_UNAVAILABLE",
      `a real node needs programs of the Debian packages ${packages.join(", ")}, which could not be fetched: ${why}\n` +
        `On Debian or Ubuntu, see that apt works (apt-get update) or install them; elsewhere, put the programs on PATH`,
      options,
    );
  }
}

/** A program cannot go into an image, because libraries that it needs are not on this machine. */
export class LibraryMissingError extends LocalClusterError {
  constructor(program: string, libraries: readonly string[]) {
    super("LIBRARY_MISSING", `${program} needs ${libraries.join(", ")}, which the loader of this machine does not find`);
  }
}

/** One thing that stands against a real node; `code` is stable. */
export interface Obstacle {
  readonly code: "NOT_ROOT" | "CAPABILITY_MISSING" | "NAMESPACE_MISSING" | "CGROUP_MISSING" | "DEVICE_MISSING";
  readonly message: string;
}

/** This machine, or what we may do on it, does not allow a real node. A control plane without one still works. */
export class NodeImpossibleError extends LocalClusterError {
  readonly obstacles: readonly Obstacle[];

  constructor(obstacles: readonly Obstacle[]) {
    const messages = obstacles.map(({ message }) => message);
    super(
      "NODE_IMPOSSIBLE",
      `a real node cannot work here:\n${list(messages)}\nA control plane without nodes works all the same`,
    );
    this.obstacles = obstacles;
  }
}

/** The sandbox has gone, or never was: what was to run in it must not run on the host instead. */
export class SandboxGoneError extends LocalClusterError {
  constructor(name: string) {
    super("SANDBOX_GONE", `the sandbox of cluster ${name} is no longer there; take the cluster down and start it again`);
  }
}

/** The kernel refused a change to the cgroups of a node. */
export class CgroupError extends LocalClusterError {
  constructor(what: string, cause: unknown) {
    super("CGROUP", `${what}: ${reasonOf(cause)}`, { cause });
  }
}

/** A program that was run inside the sandbox, to its end, ended badly. */
export class CommandFailedError extends LocalClusterError {
  constructor(command: string, lastWords: string, cause: unknown) {
    super("COMMAND_FAILED", `${command} failed: ${lastWords}`, { cause });
  }
}

/** The way into a sandbox, or out of it, could not be opened. */
export class GateError extends LocalClusterError {
  constructor(why: string) {
    super("GATE", `the gate of the sandbox could not do it: ${why}; its log is gate.log among the cluster's logs`);
  }
}
