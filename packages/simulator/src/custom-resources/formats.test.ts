import { expect, it } from "vitest";
import { formats } from "./formats.ts";
import { goPattern } from "./go-pattern.ts";

it.each([
  {
    format: "date-time",
    good: ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.123+02:00"],
    bad: ["2026-02-30T00:00:00Z", "2026-01-02", "x"],
  },
  { format: "date", good: ["2026-01-02"], bad: ["2026-13-01", "2026-1-2"] },
  { format: "uuid", good: ["0b6e2ad4-5c3f-4f1e-9a55-1f3c2d4e5f60"], bad: ["x"] },
  { format: "ipv4", good: ["10.0.0.1"], bad: ["10.0.0", "::1"] },
  { format: "ipv6", good: ["::1"], bad: ["10.0.0.1"] },
  { format: "cidr", good: ["10.0.0.0/8", "fd00::/64"], bad: ["10.0.0.0/33", "10.0.0.0"] },
  { format: "uri", good: ["https://example.com/x?y=z", "/path"], bad: ["x y", "example"] },
  { format: "hostname", good: ["a.example.com"], bad: ["-a", "a b"] },
  { format: "duration", good: ["1h30m", "5 sec"], bad: ["x", ""] },
])("$format is known by sight", ({ format, good, bad }) => {
  expect(good.map((text) => formats[format]?.(text))).toEqual(good.map(() => true));
  expect(bad.map((text) => formats[format]?.(text))).toEqual(bad.map(() => false));
});

it.each([
  { pattern: "(?i)^yes$", matches: "YES", misses: "no" },
  { pattern: "^[[:alpha:]]+$", matches: "abc", misses: "a1" },
  { pattern: "\\Aab\\z", matches: "ab", misses: "abc" },
  { pattern: "^(?P<word>a+)$", matches: "aa", misses: "b" },
])("the pattern $pattern means what it means in Go", ({ pattern, matches, misses }) => {
  expect([goPattern(pattern).test(matches), goPattern(pattern).test(misses)]).toEqual([true, false]);
});
