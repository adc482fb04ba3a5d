// The hog and its model in the simulator each read the flags of the hog, because neither may import the other. Here both are asked.
import { planOf } from "@memhog/hog";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type MemhogPlan, memhogPlanOf } from "./memhog-flags.ts";

/** What the workload makes of its flags, in the words of its model. */
function planOfHog(flags: readonly string[]): Partial<MemhogPlan> {
  try {
    const plan = planOf(flags);
    if (plan === "help") return { kind: "end", exitCode: 0 };
    if (plan.kind !== "ramp") return plan;
    const { bytesPerSecond: perSecond, ...rest } = plan;
    return { ...rest, perSecond };
  } catch {
    return { kind: "end", exitCode: 2 };
  }
}

const number = fc.constantFrom(
  "0",
  "1",
  "7",
  "1.5",
  "50",
  "0.1",
  "-5",
  "1e3",
  "",
  "x",
  "99999999999999999999",
  "9007199254740993",
);
const unit = fc.constantFrom("", "k", "K", "M", "Ki", "Mi", "Gi", "Ti", "Pi", "MB", "m", " ", "mi");
const size = fc.tuple(number, unit).map((parts) => parts.join(""));
const speed = fc.tuple(size, fc.constantFrom("/s", "/min", "/h", "/", "", "/s/s")).map((parts) => parts.join(""));
const flag = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constantFrom("--start", "--to"), size) },
  { weight: 4, arbitrary: fc.tuple(fc.constant("--ramp"), speed) },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom("--hold", "--help", "-h", "--ramp", "--rampe", "--", "--no-hold", "extra")) },
);
const joined = fc.tuple(flag, fc.boolean()).map(([words, equals]) => (equals ? [words.join("=")] : words));

it("the same flags mean the same to the hog and to its model", () => {
  const property = fc.property(fc.array(joined, { maxLength: 4 }), (parts) => {
    const flags = parts.flat();
    expect(memhogPlanOf(flags)).toMatchObject(planOfHog(flags));
  });
  fc.assert(property, { numRuns: 3_000 });
});

it("and both know good ones", () => {
  const good = ["--ramp 30Mi/min --to 1.5M", "--ramp=1/s --start=2 --to=3 --hold", "--start 50Mi --hold", ""];
  const flags = good.map((words) => words.split(" ").filter((word) => word !== ""));
  expect(flags.map((words) => planOfHog(words).kind)).toEqual(["ramp", "ramp", "hold", "buffers"]);
});
