import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { manualClock } from "./manual-clock.ts";
import { TokenBucket } from "./token-bucket.ts";

function bucketOf({ perSecond = 10, burst = 2 } = {}) {
  const clock = manualClock();
  const bucket = new TokenBucket({ clock, perSecond, burst });
  const taken: number[] = [];
  const take = (signal?: AbortSignal) => bucket.take(signal).then(() => void taken.push(clock.monotonic()));
  return { clock, bucket, take, taken };
}

describe("token bucket", () => {
  it("hands out its burst immediately, then one token at a time at its rate", async () => {
    const { clock, take, taken } = bucketOf();
    for (let at = 0; at < 5; at += 1) take();
    await clock.advance(1_000);
    expect(taken).toEqual([0, 0, 100, 200, 300]);
  });

  it("sets one timer for the next token, regardless of the number of callers", async () => {
    const { clock, take, taken } = bucketOf({ burst: 1 });
    const after = vi.spyOn(clock, "after");
    for (let at = 0; at < 3; at += 1) take();
    expect(clock.pending).toBe(1);
    after.mockClear();
    await clock.advance(200);
    expect([taken, after.mock.calls.length]).toEqual([[0, 100, 200], 1]);
  });

  it("refills up to its burst", async () => {
    const { clock, take, taken } = bucketOf();
    await clock.advance(3_600_000);
    for (let at = 0; at < 3; at += 1) take();
    await clock.advance(100);
    expect(taken.map((time) => time - 3_600_000)).toEqual([0, 0, 100]);
  });

  it("pauses all callers until the given time", async () => {
    const { clock, bucket, take, taken } = bucketOf();
    bucket.pauseUntil(5_000);
    bucket.pauseUntil(1_000);
    take();
    expect(bucket.tryTake()).toBe(false);
    await clock.advance(4_999);
    expect(taken).toEqual([]);
    await clock.advance(1);
    expect(taken).toEqual([5_000]);
  });

  it("also pauses callers that already wait", async () => {
    const { clock, bucket, take, taken } = bucketOf({ burst: 1 });
    take();
    take();
    bucket.pauseUntil(2_000);
    await clock.advance(3_000);
    expect(taken).toEqual([0, 2_000]);
  });

  it("takes no token for an aborted caller and leaves no timer when all callers have aborted", async () => {
    const { clock, take, taken } = bucketOf({ burst: 1 });
    const stop = new AbortController();
    take();
    const left = take(stop.signal);
    take();
    stop.abort(new Error("enough"));
    await expect(left).rejects.toThrow("enough");
    await clock.advance(100);
    expect(taken).toEqual([0, 100]);
    expect(clock.pending).toBe(0);
    await expect(take(stop.signal)).rejects.toThrow("enough");
  });

  it("tryTake takes a token only if no caller waits", async () => {
    const { clock, bucket, take, taken } = bucketOf({ burst: 1 });
    expect([bucket.tryTake(), bucket.tryTake()]).toEqual([true, false]);
    let stolen = true;
    clock.after(100, () => {
      stolen = bucket.tryTake();
    });
    take();
    await clock.advance(100);
    expect([stolen, taken]).toEqual([false, [100]]);
    await clock.advance(100);
    expect(bucket.tryTake()).toBe(true);
  });

  it.each([
    { perSecond: 0, burst: 1 },
    { perSecond: 1, burst: 0 },
    { perSecond: Number.NaN, burst: 1 },
  ])("rejects perSecond $perSecond with burst $burst", (options) => {
    expect(() => new TokenBucket({ clock: manualClock(), ...options })).toThrow(RangeError);
  });

  it("never exceeds burst + rate × time and never idles while a caller waits", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 10 }),
        fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 40 }),
        async (perSecond, burst, gaps) => {
          const { clock, take, taken } = bucketOf({ perSecond, burst });
          for (const gap of gaps) {
            take();
            await clock.advance(gap);
          }
          taken.forEach((time, at) => {
            const since = taken.slice(0, at + 1).map((earlier, index) => ({ ms: time - earlier, count: at - index + 1 }));
            for (const { ms, count } of since) expect(count).toBeLessThanOrEqual(burst + (ms / 1_000) * perSecond + 1e-3);
          });
          await clock.advance(((gaps.length + 1) / perSecond) * 1_000);
          expect(taken).toHaveLength(gaps.length);
        },
      ),
      { numRuns: 50 },
    );
  });
});
