import { expect, it } from "vitest";
import type { Clock } from "../concurrency/environment.ts";
import { manualClock } from "../concurrency/manual-clock.ts";
import { Breather } from "./breather.ts";

/** A manual clock on which time also passes while we work. */
function workingClock() {
  const clock = manualClock();
  let worked = 0;
  const busy: Clock = {
    ...clock,
    now: () => clock.now(),
    monotonic: () => clock.monotonic() + worked,
    after: (ms, f) => clock.after(ms, f),
    sleep: (ms, signal) => clock.sleep(ms, signal),
  };
  return { clock, busy, work: (ms: number) => (worked += ms) };
}

it("goes on while a turn is short, and lets the loop turn when it is not", async () => {
  const { clock, busy, work } = workingClock();
  const breather = new Breather(busy, 5);
  expect(breather.breathe()).toBeUndefined();
  work(4);
  expect(breather.breathe()).toBeUndefined();
  work(4);
  const pause = breather.breathe();
  expect(pause).toBeInstanceOf(Promise);
  await clock.advance(0);
  await pause;
  expect(breather.breathe()).toBeUndefined();
});

it("does not hold up what comes after a quiet time", async () => {
  const { clock, busy } = workingClock();
  const breather = new Breather(busy, 5);
  breather.breathe();
  await clock.advance(60_000);
  expect(breather.breathe()).toBeUndefined();
  breather.stop();
  expect(clock.pending).toBe(0);
});
