import { describe, expect, it } from "vitest";
import { toGoPattern } from "./regular-expression.ts";

describe("JavaScript's patterns in Go's dialect", () => {
  it.each([
    { name: "most are spelled alike", from: /^[a-z]([-a-z0-9]*[a-z0-9])?$/, to: "^[a-z]([-a-z0-9]*[a-z0-9])?$" },
    { name: "a slash needs no escape", from: /a\/b/, to: "a/b" },
    { name: "flags that change what matches go into the pattern", from: /a.b/is, to: "(?is)a.b" },
    { name: "flags that do not are dropped", from: /a/gu, to: "a" },
    { name: "a code unit", from: /\u00e9/, to: "\\x{00e9}" },
    { name: "a code point", from: /\u{1F600}/u, to: "\\x{1F600}" },
    { name: "an escaped backslash before a u is no code unit", from: /\\u0041/, to: "\\\\u0041" },
    { name: "named groups", from: /(?<year>\d+)/, to: "(?<year>\\d+)" },
  ])("$name", ({ from, to }) => expect(toGoPattern(from, "spec")).toBe(to));

  it.each([/(?=a)/, /(?!a)/, /(?<=a)/, /(?<!a)/, /(a)\1/, /(?<n>a)\k<n>/, /\cA/])("refuses %s", (pattern) => {
    expect(() => toGoPattern(pattern, "spec.name")).toThrow(/^spec\.name: .* cannot be expressed/);
  });

  it("refuses a class that contains nothing, or everything", () => {
    const everything = "[^]";
    expect(() => toGoPattern(new RegExp(everything), "spec")).toThrow("an empty class");
  });

  it("does not take an escaped bracket for the sign of something else", () => {
    expect(toGoPattern(/\(\?=\\1/, "spec")).toBe("\\(\\?=\\\\1");
  });
});
