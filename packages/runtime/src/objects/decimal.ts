// Exact decimal numbers: digits × 10^exponent. No floating point anywhere, and no expansion of the power of ten unless an
// answer needs it: "1e999999999" is nine characters of somebody's YAML and must not cost a gigabyte.

/** The number `digits × 10^exponent`. */
export interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

/** Nothing we meet has so many digits; what has is a mistake or an attack. */
const mostDigits = 10_000;

/** An operation on numbers so large, or so far apart, that its result would not fit into reasonable memory. */
export class DecimalRangeError extends RangeError {
  readonly code = "DECIMAL_RANGE";
  override readonly name = "DecimalRangeError";
}

export function compareDecimals(a: Decimal, b: Decimal): -1 | 0 | 1 {
  const [signA, signB] = [signOf(a.digits), signOf(b.digits)];
  if (signA !== signB || signA === 0) return order(signA, signB);
  // The places before the point decide, unless they are as many; then the exponents are near enough to be made equal.
  const [placesA, placesB] = [places(a), places(b)];
  if (placesA !== placesB) return order(placesA * signA, placesB * signA);
  const aligned = align(a, b);
  return order(aligned.a, aligned.b);
}

/** The digits of two numbers at the smaller one of their exponents, where they can be added. */
export function align(a: Decimal, b: Decimal): { readonly a: bigint; readonly b: bigint; readonly exponent: number } {
  if (b.digits === 0n) return { a: a.digits, b: 0n, exponent: a.exponent };
  if (a.digits === 0n) return { a: 0n, b: b.digits, exponent: b.exponent };
  const exponent = Math.min(a.exponent, b.exponent);
  return { a: scaleDown(a, exponent), b: scaleDown(b, exponent), exponent };
}

/** The digits at another exponent, and whether something was cut off (towards zero) on the way there. */
export function rescale(number: Decimal, exponent: number): { readonly digits: bigint; readonly exact: boolean } {
  if (number.exponent >= exponent) return { digits: scaleDown(number, exponent), exact: true };
  if (places(number) < exponent) return { digits: 0n, exact: number.digits === 0n };
  const divisor = powerOfTen(exponent - number.exponent);
  return { digits: number.digits / divisor, exact: number.digits % divisor === 0n };
}

/** The number rounded to a multiple of 10^exponent, away from zero. */
export function roundUp(number: Decimal, exponent: number): Decimal {
  if (number.exponent >= exponent) return number;
  const { digits, exact } = rescale(number, exponent);
  return { digits: exact ? digits : digits + BigInt(signOf(number.digits)), exponent };
}

export function signOf(digits: bigint): -1 | 0 | 1 {
  return order(digits, 0n);
}

/** The digits at a smaller exponent. */
function scaleDown({ digits, exponent }: Decimal, to: number): bigint {
  return digits === 0n ? 0n : digits * powerOfTen(exponent - to);
}

function powerOfTen(power: number): bigint {
  if (power > mostDigits)
    throw new DecimalRangeError(`expected a number of at most ${mostDigits} digits, found one of over ${power}`);
  return 10n ** BigInt(power);
}

/** How many digits stand before the point; negative if zeros follow it. */
function places({ digits, exponent }: Decimal): number {
  return (digits < 0n ? -digits : digits).toString().length + exponent;
}

function order<T extends number | bigint>(a: T, b: T): -1 | 0 | 1 {
  return a < b ? -1 : a > b ? 1 : 0;
}
