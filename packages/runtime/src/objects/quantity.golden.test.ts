// Compares the results with those of Go's resource.Quantity: see test-data/quantity/README.md.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseQuantity } from "./quantity.ts";

interface Golden {
  readonly parse: readonly {
    readonly in: string;
    readonly error?: string;
    readonly string: string;
    readonly format: string;
    readonly canonical: string;
    readonly value?: string;
    readonly milli?: string;
  }[];
  readonly pairs: readonly {
    readonly a: string;
    readonly b: string;
    readonly cmp: number;
    readonly add: string;
    readonly sub: string;
  }[];
  readonly mul: readonly { readonly in: string; readonly by: number; readonly out: string }[];
  readonly roundUp: readonly { readonly in: string; readonly scale: number; readonly out: string }[];
}

const folder = new URL("../../test-data/quantity/generated/", import.meta.url);
const golden: Golden = JSON.parse(readFileSync(new URL("golden.json", folder), "utf8"));
const accepted = golden.parse.filter(({ error }) => error === undefined);
const refused = golden.parse.filter(({ error }) => error !== undefined);

describe("Quantity matches Go", () => {
  it.each(accepted)("parses '$in' as $string", ({ in: text, string, format, canonical }) => {
    const quantity = parseQuantity(text);
    expect({ string: quantity.toString(), format: quantity.format, canonical: quantity.neg().neg().toString() }).toEqual({
      string,
      format,
      canonical,
    });
  });

  it.each(refused)("rejects '$in'", ({ in: text, error }) => {
    expect(() => parseQuantity(text)).toThrow(
      expect.objectContaining({
        code: "QUANTITY_INVALID",
        message: expect.stringMatching(new RegExp(`: ${literally(error ?? "")}$`)),
      }),
    );
  });

  const valued = (name: "value" | "milli") => accepted.filter((row) => row[name] !== undefined && row[name] !== "overflow");
  it.each(valued("value"))("counts $value units in '$in'", ({ in: text, value }) => {
    expect(parseQuantity(text).value().toString()).toBe(value);
  });
  it.each(valued("milli"))("counts $milli thousandths in '$in'", ({ in: text, milli }) => {
    expect(parseQuantity(text).milliValue().toString()).toBe(milli);
  });

  // One test for all rows: they are combinations of the rows above, and two thousand separate titles would not help.
  it("compares, adds and subtracts", () => {
    const ours = golden.pairs.map(({ a, b }) => {
      const [left, right] = [parseQuantity(a), parseQuantity(b)];
      return { a, b, cmp: left.compare(right), add: left.add(right).toString(), sub: left.sub(right).toString() };
    });
    expect(ours.filter((row, at) => JSON.stringify(row) !== JSON.stringify(golden.pairs[at]))).toEqual([]);
  });

  it("multiplies by whole numbers", () => {
    const rows = golden.mul.filter(({ by }) => Number.isSafeInteger(by));
    const ours = rows.map(({ in: text, by }) => ({ in: text, by, out: parseQuantity(text).mul(by).toString() }));
    expect(ours).toEqual(rows);
  });

  it("rounds up", () => {
    const ours = golden.roundUp.map(({ in: text, scale }) => ({
      in: text,
      scale,
      out: parseQuantity(text).roundUp(scale).toString(),
    }));
    expect(ours).toEqual(golden.roundUp);
  });

  it("is exact where Go overflows", () => {
    expect(parseQuantity("-10.5Gi").value()).toBe(-11274289152n);
    expect(parseQuantity("100E").value()).toBe(10n ** 20n);
    expect(accepted.filter(({ value }) => value === "overflow").length).toBeGreaterThan(10);
  });
});

/** Escapes the text for a regular expression. */
function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
