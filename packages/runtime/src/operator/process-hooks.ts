// The process around an operator: how it is asked to stop, and how it ends. Handed in, so that a test can be asked to stop,
// and can see the end without meeting it.
import { setFlagsFromString } from "node:v8";
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
    // Node's young generation begins small and doubles with every busy moment, up to 16 MiB twice, and never gives back what
    // it took. Without growth garbage is collected in more and shorter pauses: the right trade for a process that mostly waits.
    saveMemory: () => setFlagsFromString("--semi-space-growth-factor=1"),
  };
}
