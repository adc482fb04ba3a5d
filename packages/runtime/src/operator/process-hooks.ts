// The process around an operator: how it is asked to stop, and how it ends. Handed in, so that a test can be asked to stop,
// and can see the end without meeting it.
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
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
 * that mostly waits. It takes a moment, before anybody waits for us.
 */
function saveMemory(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--heap-growing-percent=50");
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (options: object) => void;
  setFlagsFromString("--no-expose-gc");
  const isLarge = () => youngGenerationBytes() > smallBytes;
  // A full collection is nearly always due when a program has just been loaded. While size matters most, a small one makes it
  // happen, or the next small one does, and everything free is given back. (Later, such collections would take too long.)
  setFlagsFromString("--optimize-for-size");
  for (let tries = 0; tries < 2 && isLarge(); tries += 1) collect({ type: "minor", execution: "sync" });
  setFlagsFromString("--no-optimize-for-size");
  // The only kind that is sure to shrink it, in twice the time.
  if (isLarge()) collect({ type: "major", execution: "sync", flavor: "last-resort" });
}

const smallBytes = 2 * 2 ** 20;

function youngGenerationBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")?.space_size ?? 0;
}
