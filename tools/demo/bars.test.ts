import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { type Bar, barLines } from "./bars.ts";
import { wrap } from "./terminal.ts";

const MiB = 1024 * 1024;
const bar: Bar = {
  pod: "memhog-66468db78b-q4ptq",
  usage: 244 * MiB,
  limit: 384 * MiB,
  threshold: 288 * MiB,
  state: "BelowThreshold",
};

describe("bars", () => {
  it.each([40, 60, 80, 100, 132])("fit into %i columns", (columns) => {
    const [line = ""] = barLines([bar], { scale: 768 * MiB, columns, colors: true });
    const shortest = 64; // always shows the name, the smallest track and the numbers
    expect(stripVTControlCharacters(line).length).toBeLessThan(Math.max(columns, shortest));
  });

  it("show usage, threshold and limit to scale, and the state if it fits", () => {
    const [line = ""] = barLines([bar], { scale: 768 * MiB, columns: 132, colors: false });
    expect(line).toMatch(/▕█{13}[^█·]?·+┊·+▏ +244 of {2}384 MiB {2}64 % {2}BelowThreshold$/);
    expect(barLines([bar], { scale: 768 * MiB, columns: 70, colors: false })[0]).not.toContain("BelowThreshold");
  });

  it("grow with the limit", () => {
    const length = (limit: number) =>
      barLines([{ ...bar, limit }], { scale: 768 * MiB, columns: 132, colors: false })[0]?.indexOf("▏ ");
    expect(length(768 * MiB)).toBeGreaterThan(length(384 * MiB) ?? Number.POSITIVE_INFINITY);
  });
});

it("wraps text only between words", () => {
  expect(wrap("aaa bbb ccccccccc d", 7)).toEqual(["aaa bbb", "ccccccccc", "d"]);
});
