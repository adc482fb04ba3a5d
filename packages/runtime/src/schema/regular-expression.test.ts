import { describe, expect, it } from "vitest";
import { mostRepeats, toGoPattern } from "./regular-expression.ts";

describe("toGoPattern", () => {
  it.each([
    { name: "most are spelled alike", from: /^[a-z]([-a-z0-9]*[a-z0-9])?$/, to: "^[a-z]([-a-z0-9]*[a-z0-9])?$" },
    { name: "a slash needs no escape", from: /a\/b/, to: "a/b" },
    { name: "flags that change what matches go into the pattern", from: /a.b/is, to: "(?is)a.b" },
    { name: "flags that do not are dropped", from: /a/gu, to: "a" },
    { name: "a code unit", from: /\u00e9/, to: "\\x{00e9}" },
    { name: "a code point", from: /\u{1F600}/u, to: "\\x{1F600}" },
    { name: "an escaped backslash before a u is no code unit", from: /\\u0041/, to: "\\\\u0041" },
    { name: "a code point without the flag is a letter, repeated", from: new RegExp(["\\u", "{41}"].join("")), to: "u{41}" },
    { name: "a bracket within a class", from: /[[:alpha:]]/, to: "[\\[:alpha:]]" },
    { name: "a letter that means nothing here, and something in Go", from: /AazQhpL/, to: "AazQhpL" },
    { name: "a bell is none, a tab is one", from: /[a\t]/, to: "[a\\t]" },
    { name: "a backspace", from: /[\b]\b/, to: "[\\x08]\\b" },
    { name: "nothing at all", from: /\0/, to: "\\x00" },
    { name: "a category and a script", from: /\p{Lu}\P{Script=Greek}/u, to: "\\p{Lu}\\P{Greek}" },
    { name: "a class with the flag v", from: /^[a-z\-]+$/v, to: "^[a-z\\-]+$" },
    { name: "an escaped bracket in a class", from: /[a\][b]/, to: "[a\\]\\[b]" },
    { name: "named groups", from: /(?<year>\d+)/, to: "(?<year>\\d+)" },
  ])("$name", ({ from, to }) => expect(toGoPattern(from, "spec")).toBe(to));

  it.each([
    /(?=a)/,
    /(?!a)/,
    /(?<=a)/,
    /(?<!a)/,
    /(a)\1/,
    /(?<n>a)\k<n>/,
    /\cA/,
    /[[a-z]&&[^b]]/v,
    /[\p{L}--[a-z]]/v,
    /\p{Emoji}/u,
  ])("rejects %s", (pattern) => {
    expect(() => toGoPattern(pattern, "spec.name")).toThrow(/^spec\.name: .* cannot be expressed/);
  });

  it("rejects an empty class and its negation", () => {
    const everything = "[^]";
    expect(() => toGoPattern(new RegExp(everything), "spec")).toThrow("an empty class");
  });

  it("accepts escaped brackets", () => {
    expect(toGoPattern(/\(\?=\\1/, "spec")).toBe("\\(\\?=\\\\1");
  });
});

it.each([
  { pattern: /^a*b+c?$/, most: 1 },
  { pattern: /^.{0,2048}$/, most: 2048 },
  { pattern: /a{5}b{7,}c{2,3}/, most: 7 },
  { pattern: /(a{10}){20}/, most: 200 },
  { pattern: /((a{10}){20}b{3}){5}/, most: 1000 },
  { pattern: /(?:a{100})*|(?<n>b{9})c{3}/, most: 100 },
  { pattern: /[{5000}]/, most: 1 },
  { pattern: /\{5000\}/, most: 1 },
  { pattern: /\({3}\)/, most: 3 },
])("$pattern repeats something $most times at most", ({ pattern, most }) => expect(mostRepeats(pattern.source)).toBe(most));
