import { describe, expect, it } from "vitest";
import { manualClock } from "../concurrency/manual-clock.ts";
import { eventually, NeverHeldError } from "./eventually.ts";

describe("eventually", () => {
  it("returns what it saw once it holds, and lets manual time pass meanwhile", async () => {
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

  it("takes an error for not yet", async () => {
    const clock = manualClock();
    const read = async () => {
      if (clock.monotonic() < 100) throw new Error("not found");
      return "here";
    };
    expect(await eventually(read, () => true, { clock })).toBe("here");
  });

  it("says what it saw last when time is over", async () => {
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

  it("keeps the error of the last look as its cause", async () => {
    const cause = new Error("connection refused");
    const failure = eventually(
      () => Promise.reject(cause),
      () => true,
      { clock: manualClock(), timeoutMs: 1 },
    );
    await expect(failure).rejects.toBeInstanceOf(NeverHeldError);
    await expect(failure).rejects.toMatchObject({ cause });
  });

  it("ends with its signal", async () => {
    const stop = new AbortController();
    const waiting = eventually(() => false, Boolean, { signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
  });

  it("works on the system's clock", async () => {
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
