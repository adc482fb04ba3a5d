// The process around an operator: how it is asked to stop, and how it ends. Handed in, so that a test can be asked to stop,
// and can see the end without meeting it.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Cancel } from "../concurrency/environment.ts";

export interface ProcessHooks {
  /** Calls back whenever the process is asked to stop, with the name of the signal. */
  onStop(listener: (signal: string) => void): Cancel;
  /** Calls back for promises that were rejected and nobody cared. */
  onForgotten(listener: (error: unknown) => void): Cancel;
  /** Ends the process at once. */
  exit(code: number): void;
  /** Has it use less memory from now on, and more time. */
  saveMemory?(): void;
}

/** The process we are. */
export function thisProcess(): ProcessHooks {
  return {
    onStop(listener) {
      process.on("SIGTERM", listener);
      process.on("SIGINT", listener);
      return () => {
        process.off("SIGTERM", listener);
        process.off("SIGINT", listener);
      };
    },
    onForgotten(listener) {
      process.on("unhandledRejection", listener);
      return () => process.off("unhandledRejection", listener);
    },
    exit: (code) => process.exit(code),
    saveMemory,
  };
}

/**
 * Node's young generation begins at 1 MiB and doubles in busy moments, one of which is loading a program: 16 MiB by then, and
 * up to 32 later; and the old one may double before it is looked through. Here the former is emptied once, shrunk and kept
 * so, and the latter may grow by half. Garbage is then collected in more and shorter pauses: the right trade for a process
 * that mostly waits. It takes a moment (0.1 s on a busy machine), before anybody waits for us.
 */
function saveMemory(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--heap-growing-percent=50");
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (options: object) => void;
  setFlagsFromString("--no-expose-gc");
  collect({ type: "major", execution: "sync", flavor: "last-resort" }); // the only kind of collection that shrinks
}
