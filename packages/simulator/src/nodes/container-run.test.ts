import { describe, expect, it } from "vitest";
import { CrashBackOff } from "./container-run.ts";

const noJitter = () => 0;

/** Starts, runs for `lifeMs`, terminates and waits, repeatedly: the duration of each wait. */
function waits(count: number, lifeMs: number, random = noJitter): readonly number[] {
  const backOff = new CrashBackOff(random);
  let now = 0;
  return Array.from({ length: count }, () => {
    const endedAt = now + lifeMs;
    const startsAt = backOff.startAfter(endedAt, endedAt);
    backOff.started(startsAt);
    now = startsAt;
    return startsAt - endedAt;
  });
}

describe("CrashLoopBackOff", () => {
  it("is 0 s, then 10 s, doubling to five minutes", () => {
    expect(waits(8, 1_000).map((ms) => ms / 1_000)).toEqual([0, 10, 20, 40, 80, 160, 300, 300]);
  });

  it("has jitter of up to half the delay", () => expect(waits(3, 1_000, () => 0.5)[1]).toBe(12_500));

  it("resets after ten minutes without a restart", () => expect(waits(3, 11 * 60_000)).toEqual([0, 0, 0]));

  it("counts from the termination: a run longer than the delay restarts immediately", () => {
    const backOff = new CrashBackOff(noJitter);
    backOff.started(0);
    expect(backOff.startAfter(1_000, 20_000)).toBe(20_000);
  });

  it("resets when the container changes", () => {
    const backOff = new CrashBackOff(noJitter);
    backOff.become("64Mi");
    backOff.started(0);
    backOff.become("128Mi");
    expect(backOff.startAfter(5_000, 5_000)).toBe(5_000);
  });
});
