import { describe, expect, it } from "vitest";
import { manualClock } from "../concurrency/manual-clock.ts";
import { EventuallyTimeoutError, eventually } from "./eventually.ts";

describe("eventually", () => {
  it("returns the value once the condition holds, and advances a manual clock meanwhile", async () => {
    const clock = manualClock();
    let phase = "Pending";
    clock.after(5_000, () => {
      phase = "Running";
    });
    const seen = await eventually(
      () => phase,
      (value) => value === "Running",
      { clock },
    );
    expect(seen).toBe("Running");
    expect(clock.monotonic()).toBe(5_000);
  });

  it("treats an error as not yet", async () => {
    const clock = manualClock();
    const read = async () => {
      if (clock.monotonic() < 100) throw new Error("not found");
      return "here";
    };
    expect(await eventually(read, () => true, { clock })).toBe("here");
  });

  it("reports the last value on timeout", async () => {
    const failure = eventually(
      () => ({ replicas: 2n }),
      ({ replicas }) => replicas === 3n,
      { clock: manualClock(), timeoutMs: 200 },
    );
    await expect(failure).rejects.toMatchObject({
      code: "NEVER_HELD",
      lastSeen: { replicas: 2n },
      message: 'expected it to hold within 200 ms; the last look saw {"replicas":"2"}',
    });
  });

  it("reports the error of the last read as the cause", async () => {
    const cause = new Error("connection refused");
    const failure = eventually(
      () => Promise.reject(cause),
      () => true,
      { clock: manualClock(), timeoutMs: 1 },
    );
    await expect(failure).rejects.toBeInstanceOf(EventuallyTimeoutError);
    await expect(failure).rejects.toMatchObject({ cause });
  });

  it("ends when its signal aborts", async () => {
    const stop = new AbortController();
    const waiting = eventually(() => false, Boolean, { signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
  });

  it("works with the system clock", async () => {
    let looks = 0;
    expect(
      await eventually(
        () => ++looks,
        (count) => count === 3,
        { everyMs: 1 },
      ),
    ).toBe(3);
  });
});
