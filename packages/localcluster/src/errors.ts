// Every error that localcluster throws on purpose. Programs go by `code`, which is stable. The message says what was expected, what
// was found and, where possible, what to do. The underlying error is kept as `cause`.

/** The base class: `error instanceof LocalClusterError` means that the message is written for the user. */
export class LocalClusterError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** The innermost reason: Node's fetch reports only "fetch failed" and keeps the rest in its cause. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return reasonOf(error.cause);
  return error.message || ("code" in error ? String(error.code) : error.name);
}

/** One item per line; further lines of an item are indented below it. */
function list(items: readonly string[]): string {
  return items.map((item) => `  - ${item.replaceAll("\n", "\n    ")}`).join("\n");
}

// Options and names

/** An option or flag with a value that cannot be used. */
export class InvalidOptionsError extends LocalClusterError {
  constructor(option: string, expected: string, found: unknown) {
    super("INVALID_OPTIONS", `${option}: expected ${expected}; found ${JSON.stringify(found)}`);
  }
}

/** A cluster's name becomes a path and part of host names. */
export class InvalidNameError extends LocalClusterError {
  constructor(name: string) {
    super(
      "INVALID_NAME",
      `expected a cluster name of 1 to 40 lowercase letters, digits and inner dashes; found ${JSON.stringify(name)}`,
    );
  }
}

/** The version is not in the table of versions.ts. */
export class UnknownVersionError extends LocalClusterError {
  constructor(found: string, supported: readonly string[]) {
    super("UNKNOWN_VERSION", `unknown Kubernetes version ${JSON.stringify(found)}: expected one of ${supported.join(", ")}`);
  }
}

export class UnsupportedPlatformError extends LocalClusterError {
  constructor(found: string) {
    super("UNSUPPORTED_PLATFORM", `localcluster runs on Linux on x64 or arm64; this is ${found}`);
  }
}

/** A port that the user asked for cannot be used. For a port that we choose, another one is tried instead. */
export class PortInUseError extends LocalClusterError {
  constructor(port: number, why: string, options?: ErrorOptions) {
    super("PORT_IN_USE", `port ${port}: ${why}; choose another port, or none to get a free one`, options);
  }
}

/** A file that would have to be replaced and that the user may want to keep. */
export class FileExistsError extends LocalClusterError {
  constructor(path: string) {
    super("FILE_EXISTS", `${path} exists and is not overwritten: choose another file, or remove it`);
  }
}

export class FileMissingError extends LocalClusterError {
  constructor(path: string) {
    super("FILE_MISSING", `no such file: ${path}`);
  }
}

/** The kernel allows 107 characters for the path of a unix socket, and sockets live below the state folder. */
export class StatePathTooLongError extends LocalClusterError {
  constructor(path: string, allowed: number) {
    super(
      "STATE_PATH_TOO_LONG",
      `expected at most ${allowed} characters, found ${path.length} in ${path}: set LOCALCLUSTER_HOME to a shorter path, or use a shorter name`,
    );
  }
}

/** Simulated nodes or a simulated cluster were asked for, and no simulator is configured. */
export class NoSimulatorError extends LocalClusterError {
  constructor() {
    super(
      "NO_SIMULATOR",
      "expected LOCALCLUSTER_SIMULATOR to name the simulator program, found nothing; `npm run localcluster` sets it",
    );
  }
}

// Clusters and their components

export class ClusterExistsError extends LocalClusterError {
  constructor(name: string, options?: ErrorOptions) {
    super(
      "CLUSTER_EXISTS",
      `a cluster named ${name} exists: remove it (localcluster down ${name}) or choose another name (--name)`,
      options,
    );
  }
}

export class ClusterNotFoundError extends LocalClusterError {
  constructor(name: string, known: readonly string[]) {
    super("CLUSTER_NOT_FOUND", `no cluster named ${name}; found ${known.length === 0 ? "none" : known.join(", ")}`);
  }
}

/** A component exited or did not become ready in time. */
export class ComponentFailedError extends LocalClusterError {
  readonly logFile: string;
  /** The end of its log. */
  readonly log: string;

  constructor(component: string, why: string, { logFile, log = "", cause }: { logFile: string; log?: string; cause?: unknown }) {
    const tail = log ? `; the last lines of its log:\n${log.replace(/^/gm, "  ")}\n` : "; ";
    super("COMPONENT_FAILED", `${component} ${why}${tail}the full log is ${logFile}`, { cause });
    this.logFile = logFile;
    this.log = log;
  }
}

export class UnknownComponentError extends LocalClusterError {
  constructor(found: string, known: readonly string[]) {
    super("UNKNOWN_COMPONENT", `no component ${JSON.stringify(found)} in this cluster: expected one of ${known.join(", ")}`);
  }
}

/** A signal ended the start. Everything that was started has been removed. */
export class InterruptedError extends LocalClusterError {
  constructor(cluster: string) {
    super("INTERRUPTED", `interrupted; cluster ${cluster} has been removed`);
  }
}

/** Processes that survive SIGKILL hang in the kernel, for example on a dead mount. */
export class UnkillableError extends LocalClusterError {
  constructor(processes: readonly string[]) {
    super("UNKILLABLE", `these processes did not exit within 30 s of SIGKILL: ${processes.join(", ")}`);
  }
}

// The API server and its clients

/** The API server answered with an error. */
export class ApiError extends LocalClusterError {
  /** The HTTP status. */
  readonly status: number;
  /** The reason of the API: `Forbidden`, `NotFound`, `AlreadyExists`, … */
  readonly reason: string;

  constructor(call: string, { status, reason, message }: { status: number; reason: string; message: string }) {
    super("API_ERROR", `${call}: ${status} ${reason}: ${message}`);
    this.status = status;
    this.reason = reason;
  }
}

/** The API server did not answer: it is not running, or was stopped. */
export class ApiUnreachableError extends LocalClusterError {
  constructor(call: string, cause: unknown) {
    super("API_UNREACHABLE", `${call}: no answer (${reasonOf(cause)})`, { cause });
  }
}

/** A manifest that cannot be sent: a document without a kind, or a kind that the API server does not serve. */
export class InvalidManifestError extends LocalClusterError {
  constructor(message: string, options?: ErrorOptions) {
    super("INVALID_MANIFEST", message, options);
  }
}

/** A condition was not met in time. */
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

export class HelmError extends LocalClusterError {
  constructor(args: readonly string[], outcome: string, stderr: string) {
    super("HELM", `helm ${args.join(" ")}: ${outcome}\n${stderr.trimEnd()}`);
  }
}

// Binaries

/** An environment variable names a program that cannot be run. No other source is tried. */
export class NotExecutableError extends LocalClusterError {
  constructor(variable: string, path: string) {
    super("NOT_EXECUTABLE", `${variable}: expected the absolute path of an executable file, found ${JSON.stringify(path)}`);
  }
}

export class CacheUnwritableError extends LocalClusterError {
  constructor(folder: string, cause: unknown) {
    super(
      "CACHE_UNWRITABLE",
      `cannot write to the cache ${folder} (${reasonOf(cause)}): set LOCALCLUSTER_CACHE to a folder you own`,
      { cause },
    );
  }
}

/** The host cannot be reached, the answer is not 200, or the stream broke off. */
export class DownloadError extends LocalClusterError {
  constructor(url: string, reason: string, cause?: unknown) {
    super("DOWNLOAD", `${url}: ${reason}`, { cause });
  }
}

/** The download does not match its published checksum. It is deleted and never run. */
export class ChecksumError extends LocalClusterError {
  constructor(url: string, expected: string, found: string) {
    super("CHECKSUM", `${url}: expected SHA-256 ${expected}, found ${found}`);
  }
}

export class GoMissingError extends LocalClusterError {
  constructor(command: string, wanted: string, cause: unknown) {
    super("GO_MISSING", `expected Go ${wanted} or newer; cannot run ${JSON.stringify(command)} (${reasonOf(cause)})`, { cause });
  }
}

/** The installed Go is older than the source requires and is configured not to download a newer toolchain. */
export class GoTooOldError extends LocalClusterError {
  constructor(found: string, wanted: string) {
    super("GO_TOO_OLD", `expected Go ${wanted} or newer (or GOTOOLCHAIN=auto on Go 1.21 or newer), found Go ${found}`);
  }
}

/** The build failed. The message has the end of Go's output, which names a module that could not be fetched. */
export class GoFailedError extends LocalClusterError {
  constructor(command: string, output: string) {
    super("GO_FAILED", `${command} failed:\n${output}`);
  }
}

/** A source of binaries, and why it did not provide one. */
export interface Attempt {
  readonly source: string;
  readonly outcome: string;
}

/** No source provides the binary: what was tried, why each attempt failed, and what the user can do. */
export class BinaryUnavailableError extends LocalClusterError {
  readonly tried: readonly Attempt[];

  constructor(binary: string, tried: readonly Attempt[], remedies: readonly string[]) {
    const attempts = tried.map(({ source, outcome }) => `${source}: ${outcome}`);
    const lines = [`${binary} is not on this machine and cannot be downloaded or built.`, "Tried:", list(attempts)];
    super("BINARY_UNAVAILABLE", [...lines, "You can:", list(remedies)].join("\n"));
    this.tried = tried;
  }
}

// Real nodes

/** Something was asked for that only a real node offers. */
export class NodeRequiredError extends LocalClusterError {
  constructor(cluster: string, what: string) {
    super("NODE_REQUIRED", `${what} needs a real node; cluster ${cluster} has none: start it with nodes: "real" (--nodes real)`);
  }
}

/** A requirement of real nodes that this machine does not meet. `code` is stable. */
export interface UnmetRequirement {
  readonly code: "NOT_ROOT" | "CAPABILITY_MISSING" | "NAMESPACE_MISSING" | "CGROUP_MISSING" | "DEVICE_MISSING";
  readonly message: string;
}

export class NodeUnsupportedError extends LocalClusterError {
  readonly requirements: readonly UnmetRequirement[];

  constructor(requirements: readonly UnmetRequirement[]) {
    const messages = requirements.map(({ message }) => message);
    super(
      "NODE_UNSUPPORTED",
      `a real node cannot run here:\n${list(messages)}\nA cluster without a real node works (--nodes none)`,
    );
    this.requirements = requirements;
  }
}

/** The Debian packages with the programs of a real node cannot be downloaded. */
export class PackagesUnavailableError extends LocalClusterError {
  constructor(packages: readonly string[], why: string, options?: ErrorOptions) {
    super(
      "PACKAGES_UNAVAILABLE",
      `cannot download the Debian packages ${packages.join(", ")}, whose programs a real node needs: ${why}\n` +
        `On Debian or Ubuntu, check that apt works (apt-get update) or install them; elsewhere, put the programs on PATH`,
      options,
    );
  }
}

/** An image cannot be built because this machine lacks libraries that the program needs. */
export class LibraryMissingError extends LocalClusterError {
  constructor(program: string, libraries: readonly string[]) {
    super("LIBRARY_MISSING", `${program} needs ${libraries.join(", ")}, which the dynamic loader of this machine does not find`);
  }
}

/** The sandbox has ended. Its programs must not run on the host instead. */
export class SandboxGoneError extends LocalClusterError {
  constructor(name: string) {
    super("SANDBOX_GONE", `the sandbox of cluster ${name} has ended; remove the cluster and start it again`);
  }
}

/** The kernel rejected a change to the cgroups of a node. */
export class CgroupError extends LocalClusterError {
  constructor(what: string, cause: unknown) {
    super("CGROUP", `${what}: ${reasonOf(cause)}`, { cause });
  }
}

/** A command that was run in the sandbox failed. */
export class CommandFailedError extends LocalClusterError {
  constructor(command: string, output: string) {
    super("COMMAND_FAILED", `${command} failed: ${output}`);
  }
}

export class PortForwardError extends LocalClusterError {
  constructor(why: string) {
    super("PORT_FORWARD", `cannot forward a port of the sandbox: ${why}; see forwarder.log among the cluster's logs`);
  }
}
