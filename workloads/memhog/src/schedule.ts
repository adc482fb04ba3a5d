// How much to hold when. A schedule is asked with the time since the start and answers with bytes; it does not count how often it
// is asked. So a tick that comes late, on a machine that is busy or out of CPU quota, catches up, and a ramp of 1 MiB/s is one.
import type { Plan } from "./options.ts";
import { mebibyte } from "./quantity.ts";

/** Bytes to hold so many milliseconds after the start. Time does not go back between two calls. */
export type Schedule = (elapsedMs: number) => number;

export interface Chance {
  /** At least 0, below 1. */
  readonly random: () => number;
}

export function scheduleOf(plan: Plan, chance: Chance): Schedule {
  switch (plan.kind) {
    case "ramp":
      return (elapsedMs) => Math.min(plan.to, plan.start + Math.floor((plan.bytesPerSecond * elapsedMs) / 1000));
    case "hold":
      return () => plan.start;
    case "buffers":
      return buffers(plan.start, chance);
  }
}

const slotCount = 20;

/** The seed's program: each second a buffer of 5 to 10 MiB, the first one at once, in place of whatever a random slot had. */
function buffers(start: number, { random }: Chance): Schedule {
  const slots = new Array<number>(slotCount).fill(0);
  let made = 0;
  return (elapsedMs) => {
    for (const due = Math.floor(elapsedMs / 1000) + 1; made < due; made++) {
      const slot = Math.floor(random() * slotCount);
      slots[slot] = 5 * mebibyte + Math.floor(random() * 5 * mebibyte);
    }
    return slots.reduce((sum, bytes) => sum + bytes, start);
  };
}
