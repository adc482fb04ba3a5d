// That they mean the same to the workload itself is asked of both in memhog-flags.properties.test.ts.
import { describe, expect, it } from "vitest";
import { type MemhogPlan, memhogPlanOf } from "./memhog-flags.ts";

const words = (flags: string) => flags.split(" ").filter((word) => word !== "");
const mib = 1024 * 1024;
const endless = Number.POSITIVE_INFINITY;

describe("the flags of memhog", () => {
  const plans: readonly { flags: string; plan: MemhogPlan }[] = [
    { flags: "", plan: { kind: "buffers", start: 0 } },
    { flags: "--start 7", plan: { kind: "buffers", start: 7 } },
    { flags: "--hold", plan: { kind: "hold", start: 0 } },
    { flags: "--start 50Mi --hold", plan: { kind: "hold", start: 50 * mib } },
    { flags: "--ramp 1Mi/s", plan: { kind: "ramp", start: 0, perSecond: mib, to: endless } },
    { flags: "--ramp 30Mi/min --to 1.5M", plan: { kind: "ramp", start: 0, perSecond: mib / 2, to: 1_500_000 } },
    { flags: "--ramp=1/s --start=2 --to=3 --hold", plan: { kind: "ramp", start: 2, perSecond: 1, to: 3 } },
  ];
  it.each(plans)("mean something: $flags", ({ flags, plan }) => expect(memhogPlanOf(words(flags))).toEqual(plan));

  it("end it with 0 if they ask for help, whatever else they say", () =>
    expect(memhogPlanOf(words("--to nowhere -h"))).toMatchObject({ kind: "end", exitCode: 0 }));

  const bad = [
    "--to 60Mi",
    "--ramp 1/s --start 5Mi --to 4Mi",
    "--ramp fast",
    "--ramp 0/s",
    "--rampe 1Mi/s",
    "--start 9999999999Ti",
  ];
  it.each(bad)("end it with 2 if it cannot use them: %s", (flags) =>
    expect(memhogPlanOf(words(flags))).toMatchObject({ kind: "end", exitCode: 2 }),
  );
});
