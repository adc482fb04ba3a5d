import { parseQuantity } from "@memhog/runtime";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type HogBehavior, hogBehaviorOf } from "./hog.ts";

const words = (flags: string) => flags.split(" ").filter((word) => word !== "");
const mib = 1024 * 1024;
const endless = Number.POSITIVE_INFINITY;

describe("the flags of the hog", () => {
  const plans: readonly { flags: string; plan: HogBehavior }[] = [
    { flags: "", plan: { kind: "buffers", start: 0 } },
    { flags: "--start 7", plan: { kind: "buffers", start: 7 } },
    { flags: "--hold", plan: { kind: "hold", start: 0 } },
    { flags: "--start 50Mi --hold", plan: { kind: "hold", start: 50 * mib } },
    { flags: "--ramp 1Mi/s", plan: { kind: "ramp", start: 0, idleMs: 0, bytesPerSecond: mib, to: endless } },
    { flags: "--ramp 30Mi/min --to 1.5M", plan: { kind: "ramp", start: 0, idleMs: 0, bytesPerSecond: mib / 2, to: 1_500_000 } },
    { flags: "--ramp 1/s --idle 2m", plan: { kind: "ramp", start: 0, idleMs: 120_000, bytesPerSecond: 1, to: endless } },
    { flags: "--ramp=1/s --start=2 --to=3 --hold", plan: { kind: "ramp", start: 2, idleMs: 0, bytesPerSecond: 1, to: 3 } },
  ];
  it.each(plans)("give a plan: $flags", ({ flags, plan }) => expect(hogBehaviorOf(words(flags))).toEqual(plan));

  it("exit with 0 for help, whatever the other flags", () =>
    expect(hogBehaviorOf(words("--to nowhere -h"))).toMatchObject({ kind: "exit", exitCode: 0 }));

  const bad = [
    "--to 60Mi",
    "--ramp 1/s --start 5Mi --to 4Mi",
    "--ramp fast",
    "--ramp 0/s",
    "--idle 60s",
    "--ramp 1/s --idle 60",
    "--rampe 1Mi/s",
    "--start 9999999999Ti",
  ];
  it.each(bad)("exit with 2 if they are invalid: %s", (flags) =>
    expect(hogBehaviorOf(words(flags))).toMatchObject({ kind: "exit", exitCode: 2 }),
  );
});

// The hog parses quantities itself, because it has no dependencies. The runtime's parser checks the results.
describe("random flags of the hog", () => {
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
    {
      weight: 2,
      arbitrary: fc.tuple(
        fc.constant("--idle"),
        fc.tuple(number, fc.constantFrom("s", "m", "h", "")).map((parts) => parts.join("")),
      ),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(fc.constantFrom("--hold", "--help", "-h", "--ramp", "--rampe", "--", "--no-hold", "extra")),
    },
  );
  const joined = fc.tuple(flag, fc.boolean()).map(([words, equals]) => (equals ? [words.join("=")] : words));

  it("give a plan or an exit code, and never another error", () => {
    const property = fc.property(fc.array(joined, { maxLength: 4 }), (parts) => {
      expect(["ramp", "hold", "buffers", "exit"]).toContain(hogBehaviorOf(parts.flat()).kind);
    });
    fc.assert(property, { numRuns: 3_000 });
  });

  it("have sizes and speeds with the meaning of Kubernetes quantities", () => {
    const property = fc.property(size, speed, (text, rate) => {
      const start = hogBehaviorOf(["--hold", `--start=${text}`]);
      expect(start).toMatchObject(
        text === "" || bytesOf(text) === undefined ? { kind: "exit", exitCode: 2 } : { start: Math.ceil(bytesOf(text) ?? 0) },
      );
      const [, amount = "", per] = /^(.*)\/(s|min)$/.exec(rate) ?? [];
      const bytes = bytesOf(amount) ?? 0;
      const ramp = hogBehaviorOf([`--ramp=${rate}`]);
      expect(ramp).toMatchObject(
        bytes === 0 ? { kind: "exit", exitCode: 2 } : { bytesPerSecond: per === "min" ? bytes / 60 : bytes },
      );
    });
    fc.assert(property, { numRuns: 3_000 });
  });

  /** Common memory quantities, parsed by the runtime. */
  function bytesOf(text: string): number | undefined {
    if (!/^\d+(\.\d+)?([kMGT]|[KMGT]i)?$/.test(text)) return undefined;
    const bytes = parseQuantity(text).toNumber();
    return bytes <= Number.MAX_SAFE_INTEGER ? bytes : undefined;
  }
});
