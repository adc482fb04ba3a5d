import { expect, it } from "vitest";
import { Memory } from "./memory.ts";
import { mebibyte } from "./quantity.ts";

const residentMib = () => process.memoryUsage.rss() / mebibyte;

it("takes memory and gives it back at once, without a collector", () => {
  const memory = new Memory();
  const before = residentMib();
  memory.hold(400 * mebibyte);
  const full = residentMib();
  memory.hold(100 * mebibyte);
  const after = residentMib();
  // Half of each step is room for whatever else this process does meanwhile.
  expect(full - before).toBeGreaterThan(200);
  expect(full - after).toBeGreaterThan(150);
  expect(after - before).toBeGreaterThan(50);
  memory.hold(0);
});

it("holds nothing to begin with, whatever it may become", () => {
  const before = residentMib();
  const memory = new Memory();
  expect(memory.held).toBe(0);
  expect(residentMib() - before).toBeLessThan(50);
});
