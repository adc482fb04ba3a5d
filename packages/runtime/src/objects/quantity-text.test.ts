import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareDecimals, type Decimal, parseText, rescale, roundUp } from "./quantity-text.ts";

const decimal = fc.record({
  digits: fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
  exponent: fc.integer({ min: -20, max: 20 }),
});
/** The number as an integer, in units of 10^-20. */
const whole = ({ digits, exponent }: Decimal) => digits * 10n ** BigInt(exponent + 20);

it("S3: rejects 80 kB in linear time, and does not repeat them", () => {
  for (const text of [`${"0".repeat(80_000)}x`, `${"1".repeat(80_000)}e`, `.${"0".repeat(80_000)}x`, "e".repeat(80_000)])
    expect(() => parseText(text)).toThrow(/^.{0,300}$/);
});

describe("exact decimals", () => {
  it("compare like integers", () => {
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        const [left, right] = [whole(a), whole(b)];
        expect(compareDecimals(a, b)).toBe(left < right ? -1 : left > right ? 1 : 0);
      }),
    );
  });

  it("stay equal when zeros move between digits and exponent", () => {
    fc.assert(
      fc.property(decimal, fc.integer({ min: 0, max: 15 }), ({ digits, exponent }, zeros) => {
        expect(compareDecimals({ digits, exponent }, { digits: digits * 10n ** BigInt(zeros), exponent: exponent - zeros })).toBe(
          0,
        );
      }),
    );
  });

  it("round away from zero by less than one unit, and report whether they were exact", () => {
    fc.assert(
      fc.property(decimal, fc.integer({ min: -20, max: 20 }), (number, exponent) => {
        const unit = 10n ** BigInt(exponent + 20);
        const difference = whole(roundUp(number, exponent)) - whole(number);
        const distance = number.digits < 0n ? -difference : difference;
        expect(distance >= 0n && distance < unit).toBe(true);
        expect(rescale(number, exponent).exact).toBe(difference === 0n);
      }),
    );
  });

  const far = { digits: 1n, exponent: 2_000_000_000 };
  it("compare without expanding the exponent", () => {
    expect(compareDecimals(far, { digits: 1n, exponent: -2_000_000_000 })).toBe(1);
    expect(compareDecimals({ digits: -1n, exponent: 2_000_000_000 }, { digits: -5n, exponent: 3 })).toBe(-1);
    expect(rescale({ digits: 7n, exponent: -2_000_000_000 }, 0)).toEqual({ digits: 0n, exact: false });
  });

  it("throw instead of expanding to billions of digits", () => {
    expect(() => rescale(far, 0)).toThrow(expect.objectContaining({ code: "DECIMAL_RANGE" }));
  });
});
