// The workload that gave the project its name (workloads/memhog): once a second, and for the first time at once, it fills a
// buffer of 5 to 10 MiB and puts it into one of 20 slots, at random, so that what was there may go. It ends up around
// 160 MiB, by a path that is different for every seed. Its flags are read in memhog-flags.ts.
import type { MemoryModel, Stretch } from "./model.ts";

const mib = 1024 * 1024;
const slots = 20;
const smallest = 5 * mib;
const largest = 10 * mib;
/** What the program itself takes, beside what it holds: measured on a real node. */
export const memhogItself = 11.5 * mib;

/** The memory of memhog, on top of what it holds from the start. The same seed, the same path. */
export function memhog(seed: number, start = 0): MemoryModel {
  const base = memhogItself + start;
  const held = new Array<number>(slots).fill(0);
  /** totals[n]: bytes after n seconds; worked out as far as somebody asked. */
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

/** A number in [0, 1) for the nth question: chance that needs no memory of the questions before. */
function chance(seed: number, n: number): number {
  let mixed = Math.imul((seed ^ n) + 0x9e3779b9, 0x85ebca6b) ^ Math.imul(n + 1, 0xc2b2ae35);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
  return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
}
