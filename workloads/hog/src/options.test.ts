import { describe, expect, it } from "vitest";
import { formatMebibytes, type HogPlan, mebibyte, parseHogFlags, parseSize, parseSpeed } from "./options.ts";

describe("flags", () => {
  const endless = Number.POSITIVE_INFINITY;
  const plans: readonly { name: string; flags: string; plan: HogPlan | "help" }[] = [
    { name: "no flags: random buffers", flags: "", plan: { kind: "buffers", start: 0 } },
    { name: "a start alone comes below the buffers", flags: "--start 7", plan: { kind: "buffers", start: 7 } },
    { name: "--hold without --start holds nothing", flags: "--hold", plan: { kind: "hold", start: 0 } },
    { name: "--hold with a start holds that", flags: "--start 50Mi --hold", plan: { kind: "hold", start: 50 * mebibyte } },
    {
      name: "a ramp without an end is endless",
      flags: "--ramp 1Mi/s",
      plan: { kind: "ramp", start: 0, idleMs: 0, bytesPerSecond: mebibyte, to: endless },
    },
    {
      name: "a ramp from here to there; --hold changes nothing about it",
      flags: "--ramp=1/s --start=2 --to=3 --hold",
      plan: { kind: "ramp", start: 2, idleMs: 0, bytesPerSecond: 1, to: 3 },
    },
    ...[
      { idle: "60s", idleMs: 60_000 },
      { idle: "1.5m", idleMs: 90_000 },
      { idle: "1h", idleMs: 3_600_000 },
      { idle: "0s", idleMs: 0 },
    ].map(({ idle, idleMs }) => ({
      name: `a ramp after ${idle} of idling`,
      flags: `--ramp 1/s --idle ${idle}`,
      plan: { kind: "ramp", start: 0, idleMs, bytesPerSecond: 1, to: endless } as const,
    })),
    { name: "--help asks for help, whatever else is said", flags: "--to nowhere -h", plan: "help" },
  ];
  it.each(plans)("$name", ({ flags, plan }) => expect(parseHogFlags(words(flags))).toEqual(plan));

  const bad: readonly { flags: string; code: string; says: RegExp }[] = [
    { flags: "--to 60Mi", code: "HOG_BAD_FLAGS", says: /--start 60Mi --hold/ },
    { flags: "--ramp 1/s --start 5Mi --to 4Mi", code: "HOG_BAD_FLAGS", says: /found 4Mi and 5Mi/ },
    { flags: "--ramp", code: "HOG_BAD_FLAGS", says: /--ramp.*argument missing/ },
    { flags: "--rampe 1Mi/s", code: "HOG_BAD_FLAGS", says: /'--rampe'; --help/ },
    { flags: "1Mi/s", code: "HOG_BAD_FLAGS", says: /'1Mi\/s'/ },
    { flags: "--idle 60s", code: "HOG_BAD_FLAGS", says: /add --ramp/ },
    { flags: "--idle 60s --hold", code: "HOG_BAD_FLAGS", says: /add --ramp/ },
    ...["60", "s", "-1s", "1e3s", "1m30s", "60S", "9999999999999h"].map((idle) => ({
      flags: `--ramp 1/s --idle=${idle}`,
      code: "HOG_BAD_QUANTITY",
      says: /^--idle: expected a duration such as 60s, 2m or 1h, found "/,
    })),
    { flags: "--ramp 1Mi/s --to 5MB", code: "HOG_BAD_QUANTITY", says: /^--to: .*"5MB"/ },
  ];
  it.each(bad)("rejects $flags with a reason", ({ flags, code, says }) => {
    expect(() => parseHogFlags(words(flags))).toThrow(expect.objectContaining({ code, message: expect.stringMatching(says) }));
  });
});

const words = (flags: string) => flags.split(" ").filter((word) => word !== "");

describe("sizes", () => {
  const sizes: readonly [string, number][] = [
    ["0", 0],
    ["1048576", 1048576],
    ["50Mi", 50 * 1024 ** 2],
    ["1.5Gi", 1.5 * 1024 ** 3],
    ["500M", 500e6],
    ["3k", 3000],
    ["2Ki", 2048],
    ["0.3", 1],
  ];
  it.each(sizes)("reads %s", (text, bytes) => expect(parseSize(text, "--to")).toBe(bytes));

  it.each(["", "Mi", "5MB", "5MiB", "5 Mi", "-5Mi", "+5Mi", "1e3x", "0x10", "NaN", "5mi", "9999999Ti", "5constructor"])(
    "rejects %j and names the flag",
    (text) => {
      const complaint = `--to: expected a size such as 50Mi, 1.5Gi or 500M, found ${JSON.stringify(text)}`;
      expect(() => parseSize(text, "--to")).toThrow(expect.objectContaining({ code: "HOG_BAD_QUANTITY", message: complaint }));
    },
  );

  it("are written with one decimal", () => expect(formatMebibytes(129_394_278)).toBe("123.4 MiB"));
});

describe("speeds", () => {
  const speeds: readonly [string, number][] = [
    ["1Mi/s", 1048576],
    ["0.5Mi/s", 524288],
    ["30Mi/min", 524288],
    ["1/min", 1 / 60],
  ];
  it.each(speeds)("reads %s", (text, bytes) => expect(parseSpeed(text, "--ramp")).toBe(bytes));

  it.each(["1Mi", "1Mi/", "/s", "1Mi/h", "0/s", "0Mi/s", "-1Mi/s", "1MB/s", "1Mi/s/s"])("refuses %j", (text) => {
    expect(() => parseSpeed(text, "--ramp")).toThrow(expect.objectContaining({ code: "HOG_BAD_QUANTITY" }));
  });
});
