import { expect, it } from "vitest";
import { bytes, mib } from "../model/bytes.ts";
import { crosses, thresholdOf } from "./threshold.ts";

const cases = [
  { name: "a byte below 75 % of 384Mi is below", usage: bytes(mib(288) - 1), limit: mib(384), percent: 75, crossed: false },
  {
    name: "exactly 75 % of 384Mi is enough: or more, say the seeds",
    usage: mib(288),
    limit: mib(384),
    percent: 75,
    crossed: true,
  },
  { name: "the same usage does not cross the doubled limit", usage: mib(288), limit: mib(768), percent: 75, crossed: false },
  { name: "a percentage need not be whole", usage: mib(72.5), limit: mib(100), percent: 72.5, crossed: true },
  { name: "100 % is the limit itself", usage: mib(384), limit: mib(384), percent: 100, crossed: true },
  { name: "100 % is not a byte less", usage: bytes(mib(384) - 1), limit: mib(384), percent: 100, crossed: false },
  { name: "1 % of a small limit", usage: bytes(11), limit: bytes(1024), percent: 1, crossed: true },
];

it.each(cases)("$name", ({ usage, limit, percent, crossed }) => {
  expect(crosses(usage, limit, percent)).toBe(crossed);
  expect(usage >= thresholdOf(limit, percent)).toBe(crossed);
});
