import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatDuration, formatMicroTime, formatTime, hours, minutes, parseDuration, parseTime, seconds } from "./time.ts";

it("seconds, minutes and hours return milliseconds", () =>
  expect([seconds(1.5), minutes(2), hours(1)]).toEqual([1_500, 120_000, 3_600_000]));

describe("parseDuration, as Go", () => {
  const cases = [
    { text: "0", expected: 0 },
    { text: "-0", expected: 0 },
    { text: "5s", expected: 5_000 },
    { text: "300ms", expected: 300 },
    { text: "1h30m", expected: 5_400_000 },
    { text: "1h1h", expected: 7_200_000 },
    { text: "+5s", expected: 5_000 },
    { text: "-1.5h", expected: -5_400_000 },
    { text: ".5s", expected: 500 },
    { text: "5.s", expected: 5_000 },
    { text: "1.5us", expected: 0.0015 },
    { text: "12µs", expected: 0.012 },
    { text: "12μs", expected: 0.012 },
    { text: "1ns", expected: 1e-6 },
    { text: "0.3333333333333333333h", expected: 1_199_999.999999 },
    { text: "2562047h47m16.854775807s", expected: 9_223_372_036_854.775 },
  ];
  it.each(cases)("parses $text as $expected ms", ({ text, expected }) => expect(parseDuration(text)).toBeCloseTo(expected, 5));

  const refused = [
    { text: "", why: 'time: invalid duration ""' },
    { text: "-", why: 'time: invalid duration "-"' },
    { text: ".", why: 'time: invalid duration "."' },
    { text: "s", why: 'time: invalid duration "s"' },
    { text: ".s", why: 'time: invalid duration ".s"' },
    { text: "--5s", why: 'time: invalid duration "--5s"' },
    { text: "5", why: 'time: missing unit in duration "5"' },
    { text: "1h5", why: 'time: missing unit in duration "1h5"' },
    { text: "1d", why: 'time: unknown unit "d" in duration "1d"' },
    { text: "5s ", why: 'time: unknown unit "s " in duration "5s "' },
    { text: "1h 30m", why: 'time: unknown unit "h " in duration "1h 30m"' },
    { text: "1e3s", why: 'time: unknown unit "e" in duration "1e3s"' },
    { text: "2562048h", why: 'time: invalid duration "2562048h"' },
  ];
  it.each(refused)("rejects '$text'", ({ text, why }) => {
    expect(() => parseDuration(text)).toThrow(
      expect.objectContaining({
        code: "DURATION_INVALID",
        message: `expected a duration such as 1h30m or 300ms, found '${text}': ${why}`,
      }),
    );
  });
});

describe("formatDuration, as Go", () => {
  const cases = [
    { duration: 0, expected: "0s" },
    { duration: 1e-6, expected: "1ns" },
    { duration: 0.0015, expected: "1.5µs" },
    { duration: 300, expected: "300ms" },
    { duration: 1.5, expected: "1.5ms" },
    { duration: 1_500, expected: "1.5s" },
    { duration: 60_000, expected: "1m0s" },
    { duration: 5_400_000, expected: "1h30m0s" },
    { duration: 3_661_001, expected: "1h1m1.001s" },
    { duration: -90_000, expected: "-1m30s" },
  ];
  it.each(cases)("formats $duration ms as $expected", ({ duration, expected }) =>
    expect(formatDuration(duration)).toBe(expected),
  );

  it("formats durations so that they parse to the same value", () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e12, max: 1e12 }), (duration) => {
        expect(parseDuration(formatDuration(duration))).toBe(duration);
      }),
    );
  });
});

const instant = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

describe("timestamps", () => {
  it("are formatted in seconds for most kinds", () => expect(formatTime(instant)).toBe("2026-01-02T03:04:05Z"));
  it("are formatted in microseconds for Leases and Events", () =>
    expect(formatMicroTime(instant)).toBe("2026-01-02T03:04:05.678000Z"));

  const cases = [
    { name: "seconds", text: "2026-01-02T03:04:05Z", expected: instant - 678 },
    { name: "microseconds", text: "2026-01-02T03:04:05.678901Z", expected: instant },
    { name: "another time zone", text: "2026-01-02T04:04:05.678+01:00", expected: instant },
    { name: "undefined, as undefined", text: undefined, expected: undefined },
    { name: "null, as undefined", text: null, expected: undefined },
    { name: "invalid text, as undefined", text: "yesterday", expected: undefined },
  ];
  it.each(cases)("are parsed: $name", ({ text, expected }) => expect(parseTime(text)).toBe(expected));
});
