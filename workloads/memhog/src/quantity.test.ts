import { describe, expect, it } from "vitest";
import { bytesOf, bytesPerSecondOf, inMebibytes } from "./quantity.ts";

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
  it.each(sizes)("reads %s", (text, bytes) => expect(bytesOf(text, "--to")).toBe(bytes));

  it.each(["", "Mi", "5MB", "5MiB", "5 Mi", "-5Mi", "+5Mi", "1e3x", "0x10", "NaN", "5mi", "9999999Ti", "5constructor"])(
    "refuses %j and names the flag",
    (text) => {
      const complaint = `--to: expected a size such as 50Mi, 1.5Gi or 500M, found ${JSON.stringify(text)}`;
      expect(() => bytesOf(text, "--to")).toThrow(expect.objectContaining({ code: "HOG_BAD_QUANTITY", message: complaint }));
    },
  );

  it("are written with one decimal", () => expect(inMebibytes(129_394_278)).toBe("123.4 MiB"));
});

describe("speeds", () => {
  const speeds: readonly [string, number][] = [
    ["1Mi/s", 1048576],
    ["0.5Mi/s", 524288],
    ["30Mi/min", 524288],
    ["1/min", 1 / 60],
  ];
  it.each(speeds)("reads %s", (text, bytes) => expect(bytesPerSecondOf(text, "--ramp")).toBe(bytes));

  it.each(["1Mi", "1Mi/", "/s", "1Mi/h", "0/s", "0Mi/s", "-1Mi/s", "1MB/s", "1Mi/s/s"])("refuses %j", (text) => {
    expect(() => bytesPerSecondOf(text, "--ramp")).toThrow(expect.objectContaining({ code: "HOG_BAD_QUANTITY" }));
  });
});
