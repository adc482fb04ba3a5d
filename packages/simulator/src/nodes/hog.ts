// The memory of the hog (workloads/hog). Without flags, it fills a buffer of 5 to 10 MiB every second and puts it into one of 20 slots at
// random, replacing what was there. It settles at about 160 MiB; the path differs per seed.
import { HogError, type HogPlan, parseHogFlags } from "@memhog/hog/options";
import type { MemoryModel, Stretch } from "./memory-model.ts";

const mib = 1024 * 1024;
const slots = 20;
const smallest = 5 * mib;
const largest = 10 * mib;
/** Memory of the program besides its buffers, measured on a real node. */
export const hogBaseline = 11.5 * mib;

/** The random buffers of the hog, in addition to its initial memory. The same seed gives the same path. */
export function hogBuffers(seed: number, start = 0): MemoryModel {
  const base = hogBaseline + start;
  const held = new Array<number>(slots).fill(0);
  /** totals[n]: bytes after n seconds, computed on demand. */
  const totals: number[] = [];
  const totalAfter = (seconds: number): number => {
    for (let n = totals.length; n <= seconds; n += 1) {
      const slot = Math.floor(chance(seed, 2 * n) * slots);
      const size = Math.floor(smallest + chance(seed, 2 * n + 1) * (largest - smallest));
      totals.push((totals[n - 1] ?? base) - (held[slot] ?? 0) + size);
      held[slot] = size;
    }
    return totals[seconds] ?? base;
  };
  return {
    ceiling: base + slots * largest,
    stretchAt(ms: number): Stretch {
      const seconds = Math.floor(ms / 1_000);
      return { fromMs: seconds * 1_000, untilMs: (seconds + 1) * 1_000, bytes: totalAfter(seconds), perMs: 0 };
    },
  };
}

/** The nth pseudo-random number of a seed, in [0, 1), without state. */
function chance(seed: number, n: number): number {
  let mixed = Math.imul((seed ^ n) + 0x9e3779b9, 0x85ebca6b) ^ Math.imul(n + 1, 0xc2b2ae35);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
  return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
}

/** The behavior of a hog container: it follows a plan, or it exits immediately because of --help or invalid flags. */
export type HogBehavior = HogPlan | { readonly kind: "exit"; readonly exitCode: 0 | 2; readonly message: string };

/** Uses the parser of the hog itself, so a container exits with 2 here exactly when it does on a real node. */
export function hogBehaviorOf(args: readonly string[]): HogBehavior {
  try {
    const plan = parseHogFlags(args);
    return plan === "help" ? { kind: "exit", exitCode: 0, message: "help requested" } : plan;
  } catch (error) {
    if (!(error instanceof HogError)) throw error;
    return { kind: "exit", exitCode: 2, message: error.message };
  }
}
