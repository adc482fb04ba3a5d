import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Backoff, type BackoffOptions, delayFor, jittered } from "./backoff.ts";
import { manualEnvironment } from "./manual-clock.ts";

const watch: BackoffOptions = { initialMs: 800, maxMs: 30_000, resetAfterMs: 120_000 };
const never = () => 0;

describe("delayFor", () => {
  const cases = [
    { name: "returns the initial delay before the first retry", failures: 0, expected: 800 },
    { name: "doubles the delay with each failure", failures: 1, expected: 1_600 },
    { name: "stays below the maximum after five failures", failures: 5, expected: 25_600 },
    { name: "is capped at the maximum", failures: 6, expected: 30_000 },
    { name: "is capped at the maximum when the power overflows", failures: 5_000, expected: 30_000 },
  ];
  it.each(cases)("$name", ({ failures, expected }) => expect(delayFor(failures, watch, never)).toBe(expected));

  it("uses the given factor", () => expect(delayFor(2, { ...watch, factor: 3 }, never)).toBe(7_200));

  it("stays between the delay and the delay plus jitter", () => {
    fc.assert(
      fc.property(fc.nat(2_000), fc.double({ min: 0, max: 0.999, noNaN: true }), (failures, chance) => {
        const bare = delayFor(failures, watch, never);
        const delay = delayFor(failures, { ...watch, jitter: 0.5 }, () => chance);
        expect(delay).toBeGreaterThanOrEqual(bare);
        expect(delay).toBeLessThanOrEqual(bare * 1.5);
      }),
    );
  });

  it("adds jitter of up to the given fraction", () => expect(jittered(100, 0.5, () => 0.5)).toBe(125));
});

describe("Backoff", () => {
  it("counts failures and restarts with the initial delay after a reset", () => {
    const backoff = new Backoff(watch, manualEnvironment());
    expect([backoff.next(), backoff.next(), backoff.failures]).toEqual([800, 1_600, 2]);
    backoff.reset();
    expect([backoff.failures, backoff.next()]).toEqual([0, 800]);
  });

  it("resets after resetAfterMs without a failure, counted from the end of the delay", async () => {
    const environment = manualEnvironment();
    const backoff = new Backoff(watch, environment);
    backoff.next();
    await environment.clock.advance(800 + 119_999);
    expect(backoff.next()).toBe(1_600);
    await environment.clock.advance(1_600 + 120_000);
    expect(backoff.next()).toBe(800);
  });

  it("sleeps on the given clock and rejects when the signal aborts", async () => {
    const environment = manualEnvironment();
    const backoff = new Backoff(watch, environment);
    let awake = false;
    backoff.sleep().then(() => {
      awake = true;
    });
    await environment.clock.advance(799);
    expect(awake).toBe(false);
    await environment.clock.advance(1);
    expect(awake).toBe(true);
    await expect(backoff.sleep(AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
  });
});
