// Quantities: "500m" of a CPU, "1.5Gi" of memory. This is Go's resource.Quantity, answer by answer, because what we compute
// is compared with what the API server and the kubelet compute: the golden table in test-data/quantity was written by the
// Go code itself. Numbers are exact decimals of any size, rounded up to a billionth where they are finer; a quantity
// remembers how it was spelled and is written back in the canonical form of that spelling.
//
//     const limit = parseQuantity(container.resources.limits.memory);   // "384Mi"
//     const wanted = limit.mul(1.5).roundUp();                          // 576Mi: whole bytes
//     wanted.compare(parseQuantity("1Gi"))                              // -1
//     { limits: { memory: wanted.toString() } }
//     wanted.value()                                                    // 603979776n: bytes
//
// Where we differ, on purpose: `value` is a bigint and exact where Go's int64 overflows in silence.
import { align, compareDecimals, type Decimal, rescale, roundUp, signOf } from "./decimal.ts";
import { formatCanonically, type QuantityFormat } from "./quantity-format.ts";
import { isInt64, type ParsedQuantity, parseText, QuantityError } from "./quantity-parser.ts";

export type { QuantityFormat };
export { QuantityError };

/** An amount of something. Immutable. */
export class Quantity {
  readonly #number: Decimal;
  readonly format: QuantityFormat;
  #text: string | undefined;
  /** Go would hold it in arbitrary precision (see quantity-parser.ts). */
  readonly #wide: boolean;

  /** Use `parseQuantity` or `quantityOf`. */
  constructor({ number, format, text, wide }: ParsedQuantity) {
    this.#number = number;
    this.format = format;
    this.#text = text;
    this.#wide = wide;
  }

  /** -1, 0 or 1. */
  get sign(): -1 | 0 | 1 {
    return signOf(this.#number.digits);
  }

  /** -1 if this is less than the other, 0 if they are the same amount, 1 if it is more. The spelling does not matter. */
  compare(other: Quantity): -1 | 0 | 1 {
    return compareDecimals(this.#number, other.#number);
  }

  /** Whether both are the same amount, however they are spelled. */
  equals(other: Quantity): boolean {
    return this.compare(other) === 0;
  }

  /** The sum, in this one's format; in the other's if this is zero. */
  add(other: Quantity): Quantity {
    const format = this.sign === 0 ? other.format : this.format;
    const { a, b, exponent } = align(this.#number, other.#number);
    const wide = this.#wide || other.#wide || ![a, b, a + b].every(isInt64);
    return new Quantity({ number: { digits: a + b, exponent }, format, wide });
  }

  /** The difference, in this one's format; in the other's if this is zero. */
  sub(other: Quantity): Quantity {
    return this.add(other.neg());
  }

  /** The same amount, below zero instead of above or the other way round. */
  neg(): Quantity {
    const { digits, exponent } = this.#number;
    return new Quantity({ number: { digits: -digits, exponent }, format: this.format, wide: this.#wide });
  }

  /**
   * The product, rounded up to a billionth if it is finer. The factor counts as it is written: 1.1 is eleven tenths, not
   * the binary fraction next to it. For whole bytes let `roundUp()` follow.
   */
  mul(factor: number): Quantity {
    if (!Number.isFinite(factor)) throw new RangeError(`expected a finite factor, found ${factor}`);
    const { digits, exponent } = this.#number;
    const by = parseText(`${factor}`).number;
    const number = roundUp({ digits: digits * by.digits, exponent: exponent + by.exponent }, -9);
    return new Quantity({ number, format: this.format, wide: this.#wide || !isInt64(number.digits) });
  }

  /** Rounded to a multiple of 10^scale, away from zero: 0 for whole units, -3 for thousandths. */
  roundUp(scale = 0): Quantity {
    if (!this.#wide && this.#number.exponent >= scale) return this;
    return new Quantity({ number: roundUp(this.#number, scale), format: this.format, wide: this.#wide });
  }

  /** How many whole units: bytes of memory, CPUs. A fraction counts as one more. */
  value(): bigint {
    return this.scaledValue(0);
  }

  /** How many thousandths: milli-CPUs. */
  milliValue(): bigint {
    return this.scaledValue(-3);
  }

  /** How many times 10^scale. A fraction counts as one more. */
  scaledValue(scale: number): bigint {
    const { digits, exact } = rescale(this.#number, scale);
    if (exact) return digits;
    // Go rounds away from zero, as it says; except that in arbitrary precision it adds one also below zero.
    return this.sign > 0 || this.#wide ? digits + 1n : digits - 1n;
  }

  /** The nearest floating-point number: for ratios and metrics, not for arithmetic. */
  toNumber(): number {
    return Number(`${this.#number.digits}e${this.#number.exponent}`);
  }

  /** The canonical spelling; for some quantities that were just parsed, the spelling they had. */
  toString(): string {
    this.#text ??= formatCanonically(this.#number, this.format);
    return this.#text;
  }

  /** So that a quantity may stand in an object that is sent to the API server. */
  toJSON(): string {
    return this.toString();
  }
}

/** Reads a quantity. The API takes bare numbers, too. Throws a QuantityError whose message ends in Go's words. */
export function parseQuantity(text: string | number): Quantity {
  return new Quantity(parseText(`${text}`));
}

/** So many whole units: bytes are spelled in powers of 1024 unless told otherwise. */
export function quantityOf(value: bigint | number, format: QuantityFormat = "BinarySI"): Quantity {
  const digits = BigInt(value);
  return new Quantity({ number: { digits, exponent: 0 }, format, wide: !isInt64(digits) });
}
