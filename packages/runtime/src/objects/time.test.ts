import { describe, expect, it } from "vitest";
import { formatMicroTime, formatTime, parseTime } from "./time.ts";

const instant = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

describe("instants", () => {
  it("are written in seconds for most kinds", () => expect(formatTime(instant)).toBe("2026-01-02T03:04:05Z"));
  it("are written in microseconds for Leases and Events", () =>
    expect(formatMicroTime(instant)).toBe("2026-01-02T03:04:05.678000Z"));

  const cases = [
    { name: "seconds", text: "2026-01-02T03:04:05Z", expected: instant - 678 },
    { name: "microseconds", text: "2026-01-02T03:04:05.678901Z", expected: instant },
    { name: "another time zone", text: "2026-01-02T04:04:05.678+01:00", expected: instant },
    { name: "nothing, as nothing", text: undefined, expected: undefined },
    { name: "null, as nothing", text: null, expected: undefined },
    { name: "nonsense, as nothing", text: "yesterday", expected: undefined },
  ];
  it.each(cases)("are read from $name", ({ text, expected }) => expect(parseTime(text)).toBe(expected));
});
