import { expect, it } from "vitest";
import { mostRepeats } from "./repeats.ts";

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
