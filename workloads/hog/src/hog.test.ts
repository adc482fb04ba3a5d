import { describe, expect, it } from "vitest";
import { type Environment, Memory, run, type Schedule, scheduleOf } from "./hog.ts";
import { mebibyte } from "./options.ts";

/** A world in which a sleep takes as long as `late` says, and which ends after so many milliseconds. */
async function linesOf(schedule: Schedule, { endsMs, late = (ms) => ms }: { endsMs: number; late?: (ms: number) => number }) {
  const lines: string[] = [];
  const ends = new AbortController();
  let now = 5000; // no clock starts at zero for our sake
  const environment: Environment = {
    monotonic: () => now,
    random: () => 0,
    print: (line) => lines.push(line),
    sleep: async (ms) => {
      now += late(ms);
      if (now - 5000 >= endsMs) ends.abort("the test ended it");
    },
  };
  await run(schedule, environment, ends.signal);
  return lines;
}

describe("the loop", () => {
  const oneAMillisecond: Schedule = (ms) => Math.floor(ms * 0.001 * mebibyte);

  it("prints its memory each second, and a summary at the end", async () => {
    expect(await linesOf(oneAMillisecond, { endsMs: 2500 })).toEqual([
      "holding 0.0 MiB",
      "holding 1.0 MiB",
      "holding 2.0 MiB",
      "the test ended it after 2.5 s: held 2.4 MiB, at most 2.4 MiB",
    ]);
  });

  it("holds the scheduled memory after a late tick, and skips missed lines", async () => {
    expect(await linesOf(oneAMillisecond, { endsMs: 7000, late: () => 3300 })).toEqual([
      "holding 0.0 MiB",
      "holding 3.3 MiB",
      "holding 6.6 MiB",
      "the test ended it after 9.9 s: held 6.6 MiB, at most 6.6 MiB",
    ]);
  });

  it("releases memory that the schedule no longer requires, and remembers its peak", async () => {
    const downhill: Schedule = (ms) => (ms < 1000 ? 9 : 4) * mebibyte;
    const lines = await linesOf(downhill, { endsMs: 1500 });
    expect(lines.at(-1)).toBe("the test ended it after 1.5 s: held 4.0 MiB, at most 9.0 MiB");
  });
});

const never = { random: () => expect.fail("nothing here is left to chance") };

describe("a ramp", () => {
  const ramp = scheduleOf(
    { kind: "ramp", start: 5 * mebibyte, idleMs: 0, bytesPerSecond: 2 * mebibyte, to: 20 * mebibyte },
    never,
  );
  const moments: readonly { ms: number; mib: number }[] = [
    { ms: 0, mib: 5 },
    { ms: 250, mib: 5.5 },
    { ms: 1000, mib: 7 },
    { ms: 7500, mib: 20 },
    { ms: 7501, mib: 20 },
    { ms: 1e9, mib: 20 },
  ];
  it.each(moments)("from 5 MiB by 2 MiB/s to 20 MiB has $mib MiB after $ms ms", ({ ms, mib }) => {
    expect(ramp(ms)).toBe(mib * mebibyte);
  });

  it("holds its start while it idles, and then grows as if it had just begun", () => {
    const plan = { kind: "ramp", start: 5 * mebibyte, idleMs: 60_000, bytesPerSecond: 2 * mebibyte, to: 20 * mebibyte } as const;
    const idling = scheduleOf(plan, never);
    expect([0, 59_999, 60_000, 61_000, 67_500, 1e9].map((ms) => idling(ms) / mebibyte)).toEqual([5, 5, 5, 7, 20, 20]);
  });

  it("depends on time alone, not on how often it is read", () => {
    const slow = scheduleOf({ kind: "ramp", start: 0, idleMs: 0, bytesPerSecond: 1 / 3, to: Number.POSITIVE_INFINITY }, never);
    for (let ms = 0; ms < 9000; ms += 7) slow(ms);
    expect(slow(9000)).toBe(3);
  });
});

describe("buffers", () => {
  /** Chance that plays what it is given, over and over. */
  const played = (...values: readonly number[]) => {
    let at = 0;
    return { random: () => values[at++ % values.length] ?? 0 };
  };
  const plan = { kind: "buffers", start: mebibyte } as const;

  it("start one per second, the first at once, in addition to the initial size", () => {
    const held = scheduleOf(plan, played(0, 0, 0.5, 0.5)); // slot 0 of 5 MiB, slot 10 of 7.5 MiB
    expect([0, 999, 1000, 1999].map(held)).toEqual([6, 6, 13.5, 13.5].map((mib) => mib * mebibyte));
  });

  it("replace the memory of their slot", () => {
    const held = scheduleOf(plan, played(0, 0, 0, 0.5));
    expect([0, 1000, 2000].map(held)).toEqual([6, 8.5, 6].map((mib) => mib * mebibyte));
  });

  it("catch up after a late tick", () => {
    const often = scheduleOf(plan, played(0, 0.1, 0.3, 0.5, 0.9, 0.7));
    const late = scheduleOf(plan, played(0, 0.1, 0.3, 0.5, 0.9, 0.7));
    for (let ms = 0; ms <= 60_000; ms += 100) often(ms);
    expect(late(60_000)).toBe(often(60_000));
  });

  it("stay between twenty small and twenty large ones", () => {
    const held = scheduleOf({ kind: "buffers", start: 0 }, { random: Math.random });
    held(1e6); // a thousand buffers: an empty slot is a chance of 1 in 10^21
    for (let ms = 1e6; ms < 2e6; ms += 1000) {
      expect(held(ms)).toBeGreaterThanOrEqual(100 * mebibyte);
      expect(held(ms)).toBeLessThan(200 * mebibyte);
    }
  });
});

const residentMib = () => process.memoryUsage.rss() / mebibyte;

it("allocates and releases memory at once, without garbage collection", () => {
  const memory = new Memory();
  const before = residentMib();
  memory.hold(400 * mebibyte);
  const full = residentMib();
  memory.hold(100 * mebibyte);
  const after = residentMib();
  // Half of each step is room for whatever else this process does meanwhile.
  expect(full - before).toBeGreaterThan(200);
  expect(full - after).toBeGreaterThan(150);
  expect(after - before).toBeGreaterThan(50);
  memory.hold(0);
});

it("holds nothing at first", () => {
  const before = residentMib();
  const memory = new Memory();
  expect(memory.held).toBe(0);
  expect(residentMib() - before).toBeLessThan(50);
});
