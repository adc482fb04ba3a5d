// Many lives of one container, whenever the kubelet and we happen to look: whoever keeps growing is never too late, and one jump is
// answered once.
import { describe, expect, it } from "vitest";
import { live, schedules } from "./ramps.fixture.ts";

describe.each([1.2, 1.5, 2, 3])("an endless ramp, times %d", (multiplier) => {
  const policy = { multiplier, maxRaisesPerHour: 1000 };
  it.each([0.5, 1, 2, 5, 10])("of %d MiB/s is never killed", (rate) => {
    const life = { uses: (second: number) => rate * second, seconds: Math.floor(3_000 / rate), policy };
    expect(schedules.filter((schedule) => live(life, schedule).killed)).toEqual([]);
  });
});

describe("one jump is answered once", () => {
  it.each([
    { name: "at the start, to 150 MiB", at: 2, from: 5, to: 150 },
    { name: "at the start, to 250 MiB", at: 2, from: 5, to: 250 },
    { name: "at the start, beyond the threshold", at: 2, from: 5, to: 300 },
    { name: "at the start, nearly to the limit", at: 4, from: 5, to: 370 },
    { name: "soon after the start", at: 20, from: 100, to: 300 },
    { name: "later", at: 100, from: 100, to: 300 },
  ])("$name", ({ at, from, to }) => {
    const life = { uses: (second: number) => (second < at ? from : to), seconds: 300 };
    const lives = schedules.map((schedule) => live(life, schedule));
    expect(lives.filter(({ killed, limits }) => killed || limits.length > 1)).toEqual([]);
    expect(lives.some(({ limits }) => limits.length === 1)).toBe(true);
  });
});
