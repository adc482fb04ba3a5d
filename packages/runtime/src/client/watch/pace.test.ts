import { describe, expect, it } from "vitest";
import type { Clock } from "../../concurrency/environment.ts";
import { manualClock } from "../../concurrency/manual-clock.ts";
import { settled } from "../../concurrency/system-environment.ts";
import { pace } from "./pace.ts";

/** A clock on which every look costs a millisecond: work without working. */
function busyClock(): Clock {
  let now = 0;
  return { ...manualClock(), monotonic: () => (now += 1) };
}

async function work(steps: number, pause: ReturnType<typeof pace>, done: () => void): Promise<void> {
  for (let step = 0; step < steps; step += 1) {
    const rest = pause();
    if (rest !== undefined) await rest;
    done();
  }
}

describe("the pace of a burst", () => {
  it("lets the event loop turn before the burst is over", async () => {
    let steps = 0;
    const burst = work(100, pace(busyClock(), 5), () => (steps += 1));
    await settled();
    const whenTheLoopTurned = steps;
    await burst;
    expect(whenTheLoopTurned).toBeLessThan(10);
    expect(steps).toBe(100);
  });

  it("gives a turn of the loop to one of many bursts, and to each in its time", async () => {
    const steps = [0, 0, 0, 0];
    const pause = pace(busyClock(), 5);
    const bursts = steps.map((_, index) => work(50, pause, () => (steps[index] = (steps[index] ?? 0) + 1)));
    await settled();
    await settled();
    expect(Math.max(...steps)).toBeLessThan(15);
    await Promise.all(bursts);
    expect(steps).toEqual([50, 50, 50, 50]);
  });

  it("never pauses while no time passes, so a simulated run is the same each time", async () => {
    const pause = pace(manualClock(), 5);
    for (let step = 0; step < 1000; step += 1) expect(pause()).toBeUndefined();
  });
});
