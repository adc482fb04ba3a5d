// Errors of a real node: what it needs, and the sandbox it runs in.
import { LocalClusterError, list, reasonOf } from "./error.ts";

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
