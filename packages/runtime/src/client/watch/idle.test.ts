import { describe, expect, it } from "vitest";
import { manualClock } from "../../concurrency/manual-clock.ts";
import { UnansweredError } from "../transport/transport.ts";
import { idleWatchdog } from "./idle.ts";

describe("the idle watchdog", () => {
  it("aborts after listening in vain for the whole time", async () => {
    const clock = manualClock();
    using idle = idleWatchdog(clock, 1000, "watch Pod");
    await clock.advance(999);
    expect(idle.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(idle.signal.reason).toBeInstanceOf(UnansweredError);
  });

  it("starts over with everything that is heard", async () => {
    const clock = manualClock();
    using idle = idleWatchdog(clock, 1000, "watch Pod");
    for (let chunk = 0; chunk < 10; chunk += 1) {
      await clock.advance(900);
      idle.heard();
      idle.listen();
    }
    expect(idle.signal.aborted).toBe(false);
    await clock.advance(1000);
    expect(idle.signal.aborted).toBe(true);
  });

  it("does not count the time a slow consumer takes", async () => {
    const clock = manualClock();
    using idle = idleWatchdog(clock, 1000, "watch Pod");
    idle.heard();
    await clock.advance(60_000);
    expect(idle.signal.aborted).toBe(false);
    idle.listen();
    await clock.advance(999);
    expect(idle.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(idle.signal.aborted).toBe(true);
  });

  it("leaves no timer behind", () => {
    const clock = manualClock();
    idleWatchdog(clock, 1000, "watch Pod")[Symbol.dispose]();
    expect(clock.pending).toBe(0);
  });
});
