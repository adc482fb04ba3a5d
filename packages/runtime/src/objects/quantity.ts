// Resource quantities: "500m" of CPU, "1.5Gi" of memory. The results match Go's resource.Quantity, because the API server
// and the kubelet compute with it; Go code generated the expected results in test-data/quantity. Numbers are exact
// decimals of any size, rounded up to a billionth. A quantity keeps its format and is written in the canonical form of
// that format.
//
//     const limit = parseQuantity(container.resources.limits.memory);   // "384Mi"
//     const wanted = limit.mul(1.5).roundUp();                          // 576Mi: whole bytes
//     wanted.compare(parseQuantity("1Gi"))                              // -1
//     { limits: { memory: wanted.toString() } }
//     wanted.value()                                                    // 603979776n: bytes
//
// One intended difference: `value` is an exact bigint where Go's int64 overflows silently.
import {
  align,
  compareDecimals,
  type Decimal,
  formatCanonically,
  isInt64,
  type ParsedQuantity,
  parseText,
  QuantityError,
  type QuantityFormat,
  rescale,
  roundUp,
  signOf,
} from "./quantity-text.ts";

export { QuantityError };

/** An immutable resource quantity. */
export class Quantity {
  readonly #number: Decimal;
  readonly format: QuantityFormat;
  #text: string | undefined;
  /** Whether Go would use arbitrary precision (see quantity-text.ts). */
  readonly #wide: boolean;

  /** Use `parseQuantity` or `quantityOf`. */
  constructor({ number, format, text, wide }: ParsedQuantity) {
    this.#number = number;
    this.format = format;
    this.#text = text;
    this.#wide = wide;
  }

  get sign(): -1 | 0 | 1 {
    return signOf(this.#number.digits);
  }

  /** Returns -1, 0 or 1. The format does not matter. */
  compare(other: Quantity): -1 | 0 | 1 {
    return compareDecimals(this.#number, other.#number);
  }

  /** Whether the amounts are equal. The format does not matter. */
  equals(other: Quantity): boolean {
    return this.compare(other) === 0;
  }

  /** The sum, in the format of this quantity, or of the other one if this is zero. */
  add(other: Quantity): Quantity {
    const format = this.sign === 0 ? other.format : this.format;
    const { a, b, exponent } = align(this.#number, other.#number);
    const wide = this.#wide || other.#wide || ![a, b, a + b].every(isInt64);
    return new Quantity({ number: { digits: a + b, exponent }, format, wide });
  }

  /** The difference, in the format of this quantity, or of the other one if this is zero. */
  sub(other: Quantity): Quantity {
    return this.add(other.neg());
  }

  neg(): Quantity {
    const { digits, exponent } = this.#number;
    return new Quantity({ number: { digits: -digits, exponent }, format: this.format, wide: this.#wide });
  }

  /**
   * The product, rounded up to a billionth. Uses the decimal value of the factor: 1.1 is exactly 11/10. For whole bytes,
   * call `roundUp()` on the result.
   */
  mul(factor: number): Quantity {
    if (!Number.isFinite(factor)) throw new RangeError(`expected a finite factor, found ${factor}`);
    const { digits, exponent } = this.#number;
    const by = parseText(`${factor}`).number;
    const number = roundUp({ digits: digits * by.digits, exponent: exponent + by.exponent }, -9);
    return new Quantity({ number, format: this.format, wide: this.#wide || !isInt64(number.digits) });
  }

  /** Rounds to a multiple of 10^scale, away from zero: 0 for whole units, -3 for thousandths. */
  roundUp(scale = 0): Quantity {
    if (!this.#wide && this.#number.exponent >= scale) return this;
    return new Quantity({ number: roundUp(this.#number, scale), format: this.format, wide: this.#wide });
  }

  /** The amount in whole units (bytes, CPUs), rounded up. */
  value(): bigint {
    return this.scaledValue(0);
  }

  /** The amount in thousandths (milli-CPUs), rounded up. */
  milliValue(): bigint {
    return this.scaledValue(-3);
  }

  /** The amount in multiples of 10^scale, rounded up. */
  scaledValue(scale: number): bigint {
    const { digits, exact } = rescale(this.#number, scale);
    if (exact) return digits;
    // Go rounds away from zero, but in arbitrary precision it adds one to negative numbers too.
    return this.sign > 0 || this.#wide ? digits + 1n : digits - 1n;
  }

  /** The nearest floating-point number, for ratios and metrics. Do not use it for further arithmetic. */
  toNumber(): number {
    return Number(`${this.#number.digits}e${this.#number.exponent}`);
  }

  /** The canonical form. As in Go, some quantities that were just parsed keep their original text. */
  toString(): string {
    this.#text ??= formatCanonically(this.#number, this.format);
    return this.#text;
  }

  /** Lets a quantity be part of an object that is sent to the API server. */
  toJSON(): string {
    return this.toString();
  }
}

/** Parses a quantity. The API also accepts plain numbers. Throws a QuantityError whose message ends with Go's error text. */
export function parseQuantity(text: string | number): Quantity {
  return new Quantity(parseText(`${text}`));
}

/** A quantity of whole units; formatted in powers of 1024 by default. */
export function quantityOf(value: bigint | number, format: QuantityFormat = "BinarySI"): Quantity {
  const digits = BigInt(value);
  return new Quantity({ number: { digits, exponent: 0 }, format, wide: !isInt64(digits) });
}
