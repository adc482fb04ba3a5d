import { describe, expect, it } from "vitest";
import { manualClock, manualEnvironment, seededRandom } from "./manual-clock.ts";

describe("manual clock", () => {
  it("stands still until it is advanced", async () => {
    const clock = manualClock({ now: 1_000 });
    await clock.advance(0);
    expect([clock.now(), clock.monotonic()]).toEqual([1_000, 0]);
    await clock.advance(250);
    expect([clock.now(), clock.monotonic()]).toEqual([1_250, 250]);
  });

  it("runs due timers in order of due time, then of creation, each at its own instant", async () => {
    const clock = manualClock();
    const fired: string[] = [];
    const note = (name: string) => () => fired.push(`${name}@${clock.monotonic()}`);
    clock.after(20, note("c"));
    clock.after(10, note("a"));
    clock.after(10, note("b"));
    clock.after(31, note("too late"));
    await clock.advance(30);
    expect(fired).toEqual(["a@10", "b@10", "c@20"]);
    expect([clock.pending, clock.nextDueIn]).toEqual([1, 1]);
  });

  it("runs timers that are set while it advances, if they are due in time", async () => {
    const clock = manualClock();
    const fired: number[] = [];
    async function tick() {
      for (;;) {
        await clock.sleep(10);
        fired.push(clock.monotonic());
      }
    }
    tick();
    await clock.advance(35);
    expect(fired).toEqual([10, 20, 30]);
  });

  it("lets long promise chains settle between two timers", async () => {
    const clock = manualClock();
    const order: string[] = [];
    clock.after(1, async () => {
      for (let turn = 0; turn < 500; turn += 1) await Promise.resolve();
      order.push("consequence of the first");
    });
    clock.after(1, () => order.push("second"));
    await clock.advance(1);
    expect(order).toEqual(["consequence of the first", "second"]);
  });

  it("does not fire canceled timers", async () => {
    const clock = manualClock();
    const cancel = clock.after(5, () => expect.unreachable());
    cancel();
    cancel();
    expect([clock.pending, clock.nextDueIn]).toEqual([0, undefined]);
    await clock.advance(10);
  });

  it("rejects a sleep with the signal's reason and leaves no timer", async () => {
    const clock = manualClock();
    const stop = new AbortController();
    const asleep = clock.sleep(1_000, stop.signal);
    stop.abort(new Error("enough"));
    await expect(asleep).rejects.toThrow("enough");
    await expect(clock.sleep(1_000, stop.signal)).rejects.toThrow("enough");
    expect(clock.pending).toBe(0);
  });

  it("steps the wall clock without affecting timers or monotonic time", async () => {
    const clock = manualClock({ now: 0 });
    let fired = false;
    clock.after(10, () => {
      fired = true;
    });
    clock.stepWallClock(3_600_000);
    await clock.advance(9);
    expect([clock.now(), clock.monotonic(), fired]).toEqual([3_600_009, 9, false]);
    await clock.advance(1);
    expect(fired).toBe(true);
  });
});

describe("seeded random numbers", () => {
  it("repeat for the same seed and differ for another", () => {
    const draw = (seed: number) => Array.from({ length: 5 }, seededRandom(seed));
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
  });

  it("stay within [0, 1) and cover it", () => {
    const drawn = Array.from({ length: 10_000 }, seededRandom(3));
    expect(Math.min(...drawn)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...drawn)).toBeLessThan(1);
    const tenths = new Set(drawn.map((value) => Math.floor(value * 10)));
    expect(tenths.size).toBe(10);
  });

  it("produce valid, repeatable UUIDs", () => {
    const [a, b] = [manualEnvironment({ seed: 5 }), manualEnvironment({ seed: 5 })];
    const first = a.uuid();
    expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(b.uuid()).toBe(first);
    expect(a.uuid()).not.toBe(first);
  });
});
