import { describe, expect, it } from "vitest";
import { type Environment, run } from "./hog.ts";
import { mebibyte } from "./quantity.ts";
import type { Schedule } from "./schedule.ts";

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

  it("prints what it holds each second, and a summary at the end", async () => {
    expect(await linesOf(oneAMillisecond, { endsMs: 2500 })).toEqual([
      "holding 0.0 MiB",
      "holding 1.0 MiB",
      "holding 2.0 MiB",
      "the test ended it after 2.5 s: held 2.4 MiB, at most 2.4 MiB",
    ]);
  });

  it("holds what is due after a tick that came late, and does not make up for lines that it missed", async () => {
    expect(await linesOf(oneAMillisecond, { endsMs: 7000, late: () => 3300 })).toEqual([
      "holding 0.0 MiB",
      "holding 3.3 MiB",
      "holding 6.6 MiB",
      "the test ended it after 9.9 s: held 6.6 MiB, at most 6.6 MiB",
    ]);
  });

  it("gives back what the schedule no longer asks for, and remembers the most it had", async () => {
    const downhill: Schedule = (ms) => (ms < 1000 ? 9 : 4) * mebibyte;
    const lines = await linesOf(downhill, { endsMs: 1500 });
    expect(lines.at(-1)).toBe("the test ended it after 1.5 s: held 4.0 MiB, at most 9.0 MiB");
  });
});
