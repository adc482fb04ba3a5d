// Errors of a cluster and its control plane: asking for one, starting it, talking to it.
import { LocalClusterError, reasonOf } from "./error.ts";

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

/** Something is to be simulated, and nobody said by what. */
export class NoSimulatorError extends LocalClusterError {
  constructor() {
    const how = "LOCALCLUSTER_SIMULATOR names the program that simulates; npm run localcluster sets it";
    super("NO_SIMULATOR", `simulated nodes and clusters need a simulator: ${how}`);
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

export class HelmError extends LocalClusterError {
  constructor(args: readonly string[], outcome: string, stderr: string) {
    super("HELM", `helm ${args.join(" ")}: ${outcome}\n${stderr.trimEnd()}`);
  }
}

export class KubectlError extends LocalClusterError {
  constructor(args: readonly string[], outcome: string, stderr: string) {
    super("KUBECTL", `kubectl ${args.join(" ")}: ${outcome}\n${stderr.trimEnd()}`);
  }
}
