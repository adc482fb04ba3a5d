// Properties of all quantities, and operations that Go does not have. quantity.golden.test.ts compares the rest with Go.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseQuantity, quantityOf } from "./quantity.ts";

const suffix = fc.constantFrom("", "n", "u", "m", "k", "M", "G", "T", "P", "Ki", "Mi", "Gi", "Ti", "e3", "e-2", "E5");
const text = fc
  .tuple(fc.constantFrom("", "-", "+"), fc.nat(999_999), fc.option(fc.nat(9_999)), suffix)
  .map(([sign, whole, fraction, end]) => `${sign}${whole}${fraction === null ? "" : `.${fraction}`}${end}`);
const quantity = text.map((each) => parseQuantity(each));

describe("all quantities", () => {
  it("keep their amount when formatted and parsed again", () => {
    fc.assert(fc.property(quantity, (q) => parseQuantity(q.toString()).equals(q)));
  });

  it("have a stable canonical form", () => {
    fc.assert(
      fc.property(quantity, (q) => {
        const canonical = q.neg().neg().toString();
        expect(parseQuantity(canonical).neg().neg().toString()).toBe(canonical);
      }),
    );
  });

  it("are totally ordered", () => {
    fc.assert(
      fc.property(quantity, quantity, quantity, (a, b, c) => {
        expect(a.compare(b)).toBe(-b.compare(a) + 0);
        if (a.compare(b) <= 0 && b.compare(c) <= 0) expect(a.compare(c)).toBeLessThanOrEqual(0);
        if (a.compare(b) < 0) expect(a.toNumber()).toBeLessThanOrEqual(b.toNumber());
      }),
    );
  });

  it("add and subtract without loss, in any order", () => {
    fc.assert(
      fc.property(quantity, quantity, (a, b) => {
        expect(a.add(b).sub(b).equals(a)).toBe(true);
        expect(a.add(b).equals(b.add(a))).toBe(true);
        expect(a.sub(b).sign).toBe(a.compare(b));
      }),
    );
  });

  it("round a fraction of a unit up", () => {
    fc.assert(
      fc.property(quantity, (q) => {
        fc.pre(q.sign >= 0);
        const whole = quantityOf(q.value());
        expect(whole.compare(q)).toBeGreaterThanOrEqual(0);
        expect(whole.sub(quantityOf(1)).compare(q)).toBeLessThan(0);
        expect(q.roundUp().equals(whole)).toBe(true);
      }),
    );
  });

  it("multiply as repeated addition does", () => {
    fc.assert(fc.property(quantity, (q) => q.mul(3).equals(q.add(q).add(q))));
  });
});

describe("multiplying a quantity by a fraction", () => {
  const cases = [
    { name: "is exact", from: "256Mi", by: 1.5, expected: "384Mi" },
    { name: "uses the decimal value of the factor, not its binary approximation", from: "100k", by: 1.1, expected: "110k" },
    { name: "keeps fractions of a byte until rounded", from: "1Mi", by: 1.3, expected: "1363148800m" },
    { name: "accepts very small factors, and rounds up", from: "1", by: 1e-12, expected: "1n" },
    { name: "accepts very large factors", from: "1m", by: 1e21, expected: "1E" },
    { name: "accepts zero", from: "1Gi", by: 0, expected: "0" },
    { name: "accepts negative quantities", from: "1Gi", by: -0.5, expected: "-512Mi" },
  ];
  it.each(cases)("$name", ({ from, by, expected }) => expect(parseQuantity(from).mul(by).toString()).toBe(expected));

  it("returns whole bytes after roundUp()", () => expect(parseQuantity("1Mi").mul(1.3).roundUp().value()).toBe(1_363_149n));

  it.each([Number.NaN, Number.POSITIVE_INFINITY])("rejects %d", (factor) => {
    expect(() => parseQuantity("1Gi").mul(factor)).toThrow(`expected a finite factor, found ${factor}`);
  });
});

describe("parseQuantity with plain numbers", () => {
  const cases = [
    { number: 2, expected: "2" },
    { number: 0.5, expected: "500m" },
    { number: 1e21, expected: "1e+21" },
    { number: 1e-7, expected: "100e-9" },
  ];
  it.each(cases)("parses $number as $expected", ({ number, expected }) =>
    expect(parseQuantity(number).toString()).toBe(expected),
  );
  it("rejects NaN", () => expect(() => parseQuantity(Number.NaN)).toThrow("found 'NaN'"));
});

describe("quantityOf", () => {
  it("formats bytes in powers of 1024", () => expect(quantityOf(402_653_184).toString()).toBe("384Mi"));
  it("formats other units in powers of ten", () => expect(quantityOf(3_000n, "DecimalSI").toString()).toBe("3k"));
  it("accepts whole numbers only", () => expect(() => quantityOf(1.5)).toThrow(RangeError));
});

describe("extreme quantities", () => {
  const huge = parseQuantity("1e2000000000");
  it("are parsed, compared and formatted without expanding the exponent", () => {
    expect(huge.compare(parseQuantity("1Ei"))).toBe(1);
    expect(parseQuantity("1e-2000000000").toString()).toBe("1e-9");
    expect(huge.neg().compare(parseQuantity("-1"))).toBe(-1);
    expect(huge.toString()).toBe("100e1999999998");
  });

  it("may have many digits", () => {
    const long = parseQuantity(`1${"0".repeat(50_000)}`);
    expect(long.roundUp().compare(parseQuantity("1"))).toBe(1);
    expect(long.toString()).toMatch(/^1(00?)?$/); // no suffix is large enough, and Go writes none
  });

  it("are rejected where a result would exhaust memory", () => {
    expect(() => huge.value()).toThrow(expect.objectContaining({ code: "DECIMAL_RANGE" }));
    expect(() => huge.add(parseQuantity("1"))).toThrow(expect.objectContaining({ code: "DECIMAL_RANGE" }));
  });
});

it("Quantity serializes to JSON in canonical form", () => {
  expect(JSON.stringify({ memory: parseQuantity("1.5Gi") })).toBe('{"memory":"1536Mi"}');
});
