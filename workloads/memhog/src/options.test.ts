import { describe, expect, it } from "vitest";
import { type Plan, planOf } from "./options.ts";
import { mebibyte } from "./quantity.ts";

describe("flags", () => {
  const endless = Number.POSITIVE_INFINITY;
  const plans: readonly { name: string; flags: string; plan: Plan | "help" }[] = [
    { name: "none: the seed's buffers", flags: "", plan: { kind: "buffers", start: 0 } },
    { name: "a start alone comes below the buffers", flags: "--start 7", plan: { kind: "buffers", start: 7 } },
    { name: "--hold without a start holds nothing", flags: "--hold", plan: { kind: "hold", start: 0 } },
    { name: "--hold with a start holds that", flags: "--start 50Mi --hold", plan: { kind: "hold", start: 50 * mebibyte } },
    {
      name: "a ramp without an end is endless",
      flags: "--ramp 1Mi/s",
      plan: { kind: "ramp", start: 0, bytesPerSecond: mebibyte, to: endless },
    },
    {
      name: "a ramp from here to there; --hold changes nothing about it",
      flags: "--ramp=1/s --start=2 --to=3 --hold",
      plan: { kind: "ramp", start: 2, bytesPerSecond: 1, to: 3 },
    },
    { name: "--help asks for help, whatever else is said", flags: "--to nowhere -h", plan: "help" },
  ];
  it.each(plans)("$name", ({ flags, plan }) => expect(planOf(words(flags))).toEqual(plan));

  const bad: readonly { flags: string; code: string; says: RegExp }[] = [
    { flags: "--to 60Mi", code: "HOG_BAD_FLAGS", says: /--start 60Mi --hold/ },
    { flags: "--ramp 1/s --start 5Mi --to 4Mi", code: "HOG_BAD_FLAGS", says: /--to 4Mi is below --start 5Mi/ },
    { flags: "--ramp", code: "HOG_BAD_FLAGS", says: /--ramp.*argument missing/ },
    { flags: "--rampe 1Mi/s", code: "HOG_BAD_FLAGS", says: /'--rampe'; --help/ },
    { flags: "1Mi/s", code: "HOG_BAD_FLAGS", says: /'1Mi\/s'/ },
    { flags: "--ramp 1Mi/s --to 5MB", code: "HOG_BAD_QUANTITY", says: /^--to: .*"5MB"/ },
  ];
  it.each(bad)("refuses $flags, and says why", ({ flags, code, says }) => {
    expect(() => planOf(words(flags))).toThrow(expect.objectContaining({ code, message: expect.stringMatching(says) }));
  });
});

const words = (flags: string) => flags.split(" ").filter((word) => word !== "");
