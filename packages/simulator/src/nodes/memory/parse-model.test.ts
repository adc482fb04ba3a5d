import { describe, expect, it } from "vitest";
import { usageAt } from "./model.ts";
import { MemoryModelError, memhogWith, parseMemoryModel } from "./parse-model.ts";

const mib = (count: number) => count * 1024 * 1024;

describe("a memory model in words", () => {
  const cases = [
    { words: "100Mi", at: 5_000, gives: mib(100) },
    { words: "constant 100Mi", at: 0, gives: mib(100) },
    { words: "ramp 1Mi/s to 500Mi", at: 20_000, gives: mib(20) },
    { words: "ramp 60Mi/m from 10Mi to 500Mi", at: 5_000, gives: mib(15) },
    { words: "leak 512Ki/s", at: 4_000, gives: mib(2) },
    { words: "leak 1Mi/s from 50Mi", at: 10_000, gives: mib(60) },
    { words: "step 50Mi, 200Mi at 30s, 300Mi at 2m", at: 45_000, gives: mib(200) },
    { words: "sawtooth 100Mi to 300Mi every 60s", at: 90_000, gives: mib(200) },
    { words: "trace 50Mi, 80Mi at 30s", at: 10_000, gives: mib(60) },
    { words: "  memhog --ramp 2Mi/s --to 100Mi ", at: 10_000, gives: mib(11.5 + 20) },
  ];
  it.each(cases)("$words", ({ words, at, gives }) => expect(usageAt(parseMemoryModel(words), at)).toBe(gives));

  const wrong = [
    "",
    "much",
    "ramp",
    "ramp 1Mi/s",
    "ramp 0/s to 5Mi",
    "step 5Mi at",
    "sawtooth 1Mi to 2Mi every 0s",
    "-5Mi",
    "12 parsecs",
  ];
  it.each(wrong)("%j is refused with examples of what is meant", (words) => {
    expect(() => parseMemoryModel(words)).toThrow(MemoryModelError);
    expect(() => parseMemoryModel(words)).toThrow(/such as "100Mi".*found/);
  });
});

describe("the arguments of memhog", () => {
  const itself = 11.5;
  it.each([
    { args: ["--ramp", "1Mi/s", "--to", "500Mi"], at: 7_000, holds: 7 },
    { args: ["--ramp=1Mi/s", "--to=3Mi"], at: 7_000, holds: 3 },
    { args: ["--ramp=1Mi/s"], at: 7_000, holds: 7 },
    { args: ["--ramp", "30Mi/min"], at: 10_000, holds: 5 },
    { args: ["--start", "50Mi", "--ramp", "1Mi/s", "--to", "60Mi"], at: 5_000, holds: 55 },
    { args: ["--start", "50Mi", "--ramp", "1Mi/s", "--to", "60Mi"], at: 20_000, holds: 60 },
    { args: ["--start", "50Mi", "--hold"], at: 20_000, holds: 50 },
  ])("$args after $at ms", ({ args, at, holds }) => expect(usageAt(memhogWith(args, 1), at)).toBe(mib(itself + holds)));

  it("none: buffers, the first at once, on top of what it starts with", () => {
    const first = usageAt(memhogWith(["--start", "50Mi"], 1), 0) - mib(itself + 50);
    expect(first).toBeGreaterThanOrEqual(mib(5));
    expect(first).toBeLessThan(mib(10));
  });
});
