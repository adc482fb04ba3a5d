import { describe, expect, it } from "vitest";
import { settled, systemClock, systemEnvironment } from "./system-environment.ts";

describe("system environment", () => {
  it("never calls back early", async () => {
    const clock = systemClock();
    for (let round = 0; round < 20; round += 1) {
      const since = clock.monotonic();
      await clock.sleep(1.5);
      expect(clock.monotonic() - since).toBeGreaterThanOrEqual(1.5);
    }
  });

  it("does not fire a timer of more than 24 days immediately, as setTimeout does", async () => {
    const clock = systemClock();
    let fired = false;
    const cancel = clock.after(2 ** 31 + 1, () => {
      fired = true;
    });
    await clock.sleep(5);
    cancel();
    expect(fired).toBe(false);
  });

  it("does not fire a canceled timer", async () => {
    const clock = systemClock();
    clock.after(1, () => expect.unreachable())();
    await clock.sleep(5);
  });

  it("rejects a sleep as soon as its signal aborts", async () => {
    const stop = new AbortController();
    const asleep = systemClock().sleep(3_600_000, stop.signal);
    stop.abort(new Error("enough"));
    await expect(asleep).rejects.toThrow("enough");
  });

  it("provides random numbers and UUIDs that differ", () => {
    const { random, uuid } = systemEnvironment();
    expect(random()).toBeLessThan(1);
    expect(uuid()).not.toBe(uuid());
  });

  it("settles after microtasks and ticks", async () => {
    const order: string[] = [];
    process.nextTick(() => order.push("tick"));
    Promise.resolve().then(() => order.push("microtask"));
    await settled();
    expect(order).toHaveLength(2);
  });
});
