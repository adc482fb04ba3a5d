// Where a process runs. A control plane alone runs on the host; a cluster with a real node runs all of its processes in
// a sandbox of Linux namespaces (node/sandbox.ts). What starts a process does not care which: it asks the place for the
// command line that gets there.

export interface Place {
  /** For people: `host`, or the name of the sandbox. */
  readonly name: string;
  /** The command line, as seen from the host, that runs this argv in the place. */
  command(argv: readonly string[]): readonly string[];
}

/** This machine, as it is. */
export const host: Place = { name: "host", command: (argv) => argv };
