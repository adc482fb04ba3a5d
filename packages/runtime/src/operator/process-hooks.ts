// The process around an operator: how it is asked to stop, and how it ends. Handed in, so that a test can be asked to stop,
// and can see the end without meeting it.
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Cancel, Clock } from "../concurrency/environment.ts";

export interface ProcessHooks {
  /** Calls back whenever the process is asked to stop, with the name of the signal. */
  onStop(listener: (signal: string) => void): Cancel;
  /** Calls back for promises that were rejected and nobody cared. */
  onForgotten(listener: (error: unknown) => void): Cancel;
  /** Ends the process at once. */
  exit(code: number): void;
  /** Has it use less memory from now on, and more time. Cancelled, it sees to nothing more. */
  saveMemory?(clock: Clock): Cancel;
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
 * up to 32 later; and the old one may double before it is looked through. From here on the former no longer grows, and the latter
 * may grow by half. Garbage is then collected in more and shorter pauses: the right trade for a process that mostly waits.
 *
 * What has grown already is given back by the next full collection, which is nearly always due when a program has just been
 * loaded, and takes 10 ms; such collections are asked for until there was one. If none came, one is made, which takes 50 ms.
 */
function saveMemory(clock: Clock): Cancel {
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--heap-growing-percent=50");
  setFlagsFromString("--optimize-for-size");
  const until = clock.monotonic() + patienceMs;
  let cancel: Cancel = () => {};
  const look = () => {
    const isLarge = youngGenerationBytes() > smallBytes;
    if (isLarge && clock.monotonic() < until) {
      cancel = clock.after(lookEveryMs, look);
      return;
    }
    setFlagsFromString("--no-optimize-for-size"); // which would make every later collection longer than need be
    if (isLarge) collect();
  };
  look();
  return () => cancel();
}

const patienceMs = 10_000;
const lookEveryMs = 50;
const smallBytes = 4 * 2 ** 20;

function youngGenerationBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")?.space_size ?? 0;
}

/** The only kind of collection that is sure to shrink the young generation. */
function collect(): void {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as (options: object) => void;
  setFlagsFromString("--no-expose-gc");
  gc({ type: "major", execution: "sync", flavor: "last-resort" });
}
