// Every error that this package throws on purpose, in one list. The code is stable and is what a program goes by; the
// message says what was expected, what was found, and what can be done.

export class LocalClusterError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
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
