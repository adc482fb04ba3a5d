// The messages are from a real API server (Kubernetes 1.37.1).
import { describe, expect, it } from "vitest";
import { messageOf } from "../server/field-error.ts";
import { formats, goPattern, schemaErrors } from "./schema-errors.ts";
import { widgetSchema } from "./widget.fixture.ts";

const messageFor = (spec: unknown, old?: unknown) =>
  messageOf(schemaErrors({ value: { spec }, ...(old !== undefined && { old: { spec: old } }), path: "" }, widgetSchema));

describe("the schema rejects", () => {
  it.each([
    {
      what: "a number that is too small",
      spec: { size: 0 },
      says: "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1",
    },
    {
      what: "a number that is too large",
      spec: { size: 10 },
      says: "spec.size: Invalid value: 10: spec.size in body should be less than or equal to 9",
    },
    {
      what: "a string instead of a number",
      spec: { size: "x" },
      says: 'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
    },
    {
      what: "a boolean instead of a number",
      spec: { size: true },
      says: 'spec.size: Invalid value: "": spec.size in body must be of type int64: ""',
    },
    {
      what: "an empty string",
      spec: { name: "" },
      says: 'spec.name: Invalid value: "": spec.name in body should be at least 1 chars long',
    },
    { what: "a string that is too long", spec: { name: "abcdef" }, says: "spec.name: Too long: may not be more than 5 bytes" },
    {
      what: "a string that does not match the pattern",
      spec: { name: "A" },
      says: "spec.name: Invalid value: \"A\": spec.name in body should match '^[a-z]+$'",
    },
    {
      what: "a value outside the enum",
      spec: { mode: "X" },
      says: 'spec.mode: Unsupported value: "X": supported values: "Auto", "InPlace"',
    },
    {
      what: "an invalid date-time",
      spec: { when: "x" },
      says: 'spec.when: Invalid value: "x": spec.when in body must be of type date-time: "x"',
    },
    {
      what: "a fraction for an int-or-string",
      spec: { memory: 1.5 },
      says: 'spec.memory: Invalid value: "number": spec.memory in body must be of type integer,string: "number"',
    },
    {
      what: "a list that is too long",
      spec: { tags: ["a", "b", "c", "d"] },
      says: "spec.tags: Too many: 4: must have at most 3 items",
    },
    {
      what: "a map that is too large",
      spec: { map: { a: 1, b: 2, c: 3 } },
      says: "spec.map: Too many: 3: must have at most 2 items",
    },
    {
      what: "an invalid map value",
      spec: { map: { a: -1 } },
      says: "spec.map.a: Invalid value: -1: spec.map.a in body should be greater than or equal to 0",
    },
    { what: "an element without a required field", spec: { parts: [{}] }, says: "spec.parts[0].name: Required value" },
    { what: "null", spec: null, says: 'spec: Invalid value: "null": spec in body must be of type object: "null"' },
  ])("$what", ({ spec, says }) => {
    expect(messageFor(spec)).toBe(says);
  });

  it("a fraction for an integer, with two errors", () => {
    expect(messageFor({ size: 1.5 })).toBe(
      '[spec.size: Invalid value: "float64": spec.size in body must be of type int64: "float64", <nil>: Invalid value: "": Checked value must be of type integer with format int64 in spec.size]',
    );
  });

  it("a value that matches no schema of anyOf", () => {
    expect(messageFor({ either: "x" })).toBe(
      '[<nil>: Invalid value: "": "spec.either" must validate at least one schema (anyOf), spec.either: Invalid value: "x": spec.either in body must be of type ipv4: "x"]',
    );
  });
});

describe("an update (ratcheting)", () => {
  it("can keep an invalid value, but not change it to another one", () => {
    expect(messageFor({ size: 0, mode: "Auto" }, { size: 0 })).toBe("[]");
    expect(messageFor({ size: -1, mode: "Auto" }, { size: 0 })).toContain("spec.size");
  });

  it("matches list elements by their keys", () => {
    expect(messageFor({ parts: [{ name: "b" }, { name: 5 }] }, { parts: [{ name: 5 }] })).toBe("[]");
  });
});

describe("string formats and patterns", () => {
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
    { format: "duration", good: ["1h30m", "5 sec"], bad: ["x", "", `${"0".repeat(5_000)}x`] },
  ])("$format accepts valid and rejects invalid values", ({ format, good, bad }) => {
    expect(good.map((text) => formats[format]?.(text))).toEqual(good.map(() => true));
    expect(bad.map((text) => formats[format]?.(text))).toEqual(bad.map(() => false));
  });

  it.each([
    { pattern: "(?i)^yes$", matches: "YES", misses: "no" },
    { pattern: "^[[:alpha:]]+$", matches: "abc", misses: "a1" },
    { pattern: "\\Aab\\z", matches: "ab", misses: "abc" },
    { pattern: "^(?P<word>a+)$", matches: "aa", misses: "b" },
  ])("the pattern $pattern matches as in Go", ({ pattern, matches, misses }) => {
    expect([goPattern(pattern).test(matches), goPattern(pattern).test(misses)]).toEqual([true, false]);
  });
});
