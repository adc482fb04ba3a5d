// Politeness to the event loop. Thousands of events can be waiting in memory when a watch starts; parsing them all in one
// go would hold up everything else of this process, and a held-up Lease renewal loses the Lease. So whoever works through
// a burst asks for a pause after each step, and gets one when the turn of the loop has lasted long enough.
//
// The pace is shared by all watches of a client, and one of them goes on per turn of the loop: twenty watches that start
// together take a few milliseconds each time around, not twenty times that.
import type { Clock } from "../../concurrency/environment.ts";
import { settled } from "../../concurrency/system-environment.ts";

/** Undefined: go on. A promise: wait for it first. */
export type Pause = () => Promise<void> | undefined;

/** @param turnMs How long a burst may hold the event loop; one step more at most. */
export function pace(clock: Clock, turnMs = 3): Pause {
  const waiting: (() => void)[] = [];
  let turnBegan = clock.monotonic();

  const turn = async () => {
    while (waiting.length > 0) {
      await settled();
      turnBegan = clock.monotonic();
      waiting.shift()?.();
    }
  };
  return () => {
    // By the clock, not by counting: with a manual clock no time passes while we work, so a simulated run never pauses.
    if (waiting.length === 0 && clock.monotonic() - turnBegan < turnMs) return undefined;
    return new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) void turn();
    });
  };
}
