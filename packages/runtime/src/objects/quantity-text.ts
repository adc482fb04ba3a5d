// Parses quantities exactly as Go does, including its quirks: ".", "m", "+" and "-" are zero, and "1.500" keeps its text.
// The results must match those of the API server.
//
// Go uses 64-bit arithmetic where the number fits, and arbitrary precision elsewhere. The difference is visible in two
// places, hence the field `wide`: only 64-bit quantities keep their original text, and arbitrary precision rounds
// negative fractions differently.

import { printable } from "./untrusted-text.ts";

/** The text is not a quantity. The message ends with the API server's error text. */
export class QuantityError extends Error {
  readonly code = "QUANTITY_INVALID";
  override readonly name = "QuantityError";

  constructor(text: string, why: string) {
    super(`expected a quantity such as 500m or 1.5Gi, found '${printable(text.slice(0, 100))}': ${why}`);
  }
}

export interface ParsedQuantity {
  readonly number: Decimal;
  readonly format: QuantityFormat;
  /** The original text, where Go keeps it. */
  readonly text?: string;
  readonly wide: boolean;
}

// Each part starts with a character that the part before it cannot contain. Otherwise the time would grow with the cube of the length.
const pattern = /^([+-]?)(0*)([1-9][0-9]*)?(?:\.([0-9]*))?((?:[eEinumkKMGTP]+[-+]?|[-+])[0-9]*)?$/;
const wrongFormat = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const wrongSuffix = "unable to parse quantity's suffix";
const wrongNumber = "unable to parse numeric part of quantity";

/** The precision of a quantity. */
const nano = -9;
const maxInt64 = 2n ** 63n - 1n;

interface Parts {
  readonly text: string;
  readonly negative: boolean;
  /** Digits before the decimal point, without leading zeros; "0" if there are none. */
  readonly whole: string;
  readonly fraction: string;
  /** Whether the text has any digit. */
  readonly hasDigits: boolean;
  readonly suffix: Suffix;
}

interface Suffix {
  readonly format: QuantityFormat;
  /** A power of two for BinarySI, of ten otherwise. */
  readonly power: number;
}

/** Parses a quantity. Throws a QuantityError where Go returns an error. */
export function parseText(text: string): ParsedQuantity {
  const parts = split(text);
  return parseNarrow(parts) ?? parseWide(parts);
}

function split(text: string): Parts {
  const match = text === "" ? null : pattern.exec(text);
  if (match === null) throw new QuantityError(text, wrongFormat);
  const [, sign = "", zeros = "", digits = "", fraction = "", suffix = ""] = match;
  return {
    text,
    negative: sign === "-",
    whole: digits || "0",
    fraction,
    hasDigits: zeros + digits + fraction !== "",
    suffix: readSuffix(text, suffix),
  };
}

function readSuffix(text: string, suffix: string): Suffix {
  const decimal = decimalSuffixes.get(suffix);
  if (decimal !== undefined) return { format: "DecimalSI", power: decimal };
  const binary = binarySuffixes.get(suffix);
  if (binary !== undefined) return { format: "BinarySI", power: binary };
  const [, exponent] = /^[eE]([+-]?[0-9]+)$/.exec(suffix) ?? [];
  if (exponent === undefined || !isInt64(BigInt(exponent.replace("+", "")))) throw new QuantityError(text, wrongSuffix);
  // Go truncates the exponent to 32 bits.
  return { format: "DecimalExponent", power: Number(BigInt.asIntN(32, BigInt(exponent.replace("+", "")))) };
}

/** Go's 64-bit code path; undefined where Go falls back to arbitrary precision. */
function parseNarrow({ text, negative, whole, fraction, suffix }: Parts): ParsedQuantity | undefined {
  const { format, power } = suffix;
  const binary = format === "BinarySI";
  const room = binary ? 14 - whole.length - (power * 3) / 10 : 18 - whole.length - fraction.length;
  const exponent = binary ? 0 : (power - fraction.length) | 0;
  if (room < 0 || exponent < nano || (binary && fraction !== "")) return undefined;
  const magnitude = BigInt(whole + fraction);
  const multiplied = binary ? magnitude << BigInt(power) : magnitude;
  const kept = binary ? magnitude % 8n !== 0n : exponent % 3 === 0 && !/^0|000$/.test(whole + fraction);
  const number = { digits: negative ? -multiplied : multiplied, exponent };
  return { number, format, wide: false, ...(kept && { text }) };
}

/** Go's arbitrary-precision code path: rounds up to a billionth, so that a small request never becomes zero. */
function parseWide({ text, negative, whole, fraction, hasDigits, suffix }: Parts): ParsedQuantity {
  const { format, power } = suffix;
  if (!hasDigits) throw new QuantityError(text, wrongNumber);
  const binary = format === "BinarySI";
  const digits = BigInt(whole + fraction) << BigInt(binary ? power : 0);
  const exponent = (binary ? 0 : power) - fraction.length;
  let magnitude = roundUp({ digits, exponent }, nano);
  if (binary && compareDecimals(magnitude, { digits: maxInt64, exponent: 0 }) > 0) magnitude = { digits: maxInt64, exponent: 0 };
  const belowOne = digits !== 0n && compareDecimals(magnitude, { digits: 1n, exponent: 0 }) < 0;
  return {
    number: { digits: negative ? -magnitude.digits : magnitude.digits, exponent: magnitude.exponent },
    format: binary && belowOne ? "DecimalSI" : format,
    wide: true,
  };
}

export function isInt64(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}

/**
 * The exact decimal number `digits × 10^exponent`. There is no floating point, and the power of ten is expanded only if a
 * result needs it: parsing "1e999999999" must not allocate a gigabyte.
 */
export interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

/** No legitimate quantity has this many digits. */
const mostDigits = 10_000;

/** The numbers are so large, or so far apart, that the result would not fit into a reasonable amount of memory. */
export class DecimalRangeError extends RangeError {
  readonly code = "DECIMAL_RANGE";
  override readonly name = "DecimalRangeError";
}

export function compareDecimals(a: Decimal, b: Decimal): -1 | 0 | 1 {
  const [signA, signB] = [signOf(a.digits), signOf(b.digits)];
  if (signA !== signB || signA === 0) return order(signA, signB);
  // The number of digits before the point decides. If it is equal, the exponents are close enough to align.
  const [placesA, placesB] = [places(a), places(b)];
  if (placesA !== placesB) return order(placesA * signA, placesB * signA);
  const aligned = align(a, b);
  return order(aligned.a, aligned.b);
}

/** Aligns two numbers to the smaller of their exponents, so that they can be added. */
export function align(a: Decimal, b: Decimal): { readonly a: bigint; readonly b: bigint; readonly exponent: number } {
  if (b.digits === 0n) return { a: a.digits, b: 0n, exponent: a.exponent };
  if (a.digits === 0n) return { a: 0n, b: b.digits, exponent: b.exponent };
  const exponent = Math.min(a.exponent, b.exponent);
  return { a: scaleDown(a, exponent), b: scaleDown(b, exponent), exponent };
}

/** Converts the digits to another exponent; `exact` is false if digits were truncated (toward zero). */
export function rescale(number: Decimal, exponent: number): { readonly digits: bigint; readonly exact: boolean } {
  if (number.exponent >= exponent) return { digits: scaleDown(number, exponent), exact: true };
  if (places(number) < exponent) return { digits: 0n, exact: number.digits === 0n };
  const divisor = powerOfTen(exponent - number.exponent);
  return { digits: number.digits / divisor, exact: number.digits % divisor === 0n };
}

/** Rounds to a multiple of 10^exponent, away from zero. */
export function roundUp(number: Decimal, exponent: number): Decimal {
  if (number.exponent >= exponent) return number;
  const { digits, exact } = rescale(number, exponent);
  return { digits: exact ? digits : digits + BigInt(signOf(number.digits)), exponent };
}

export function signOf(digits: bigint): -1 | 0 | 1 {
  return order(digits, 0n);
}

/** Converts the digits to a smaller exponent. */
function scaleDown({ digits, exponent }: Decimal, to: number): bigint {
  return digits === 0n ? 0n : digits * powerOfTen(exponent - to);
}

function powerOfTen(power: number): bigint {
  if (power > mostDigits)
    throw new DecimalRangeError(`expected a number of at most ${mostDigits} digits, found one of over ${power}`);
  return 10n ** BigInt(power);
}

/** The number of digits before the decimal point; negative if zeros follow the point. */
function places({ digits, exponent }: Decimal): number {
  return (digits < 0n ? -digits : digits).toString().length + exponent;
}

function order<T extends number | bigint>(a: T, b: T): -1 | 0 | 1 {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The format of a quantity, kept when it is written: 12M, 12Mi or 12e6. */
export type QuantityFormat = "DecimalSI" | "BinarySI" | "DecimalExponent";

/** Exponents of ten. */
export const decimalSuffixes: ReadonlyMap<string, number> = new Map([
  ["n", -9],
  ["u", -6],
  ["m", -3],
  ["", 0],
  ["k", 3],
  ["M", 6],
  ["G", 9],
  ["T", 12],
  ["P", 15],
  ["E", 18],
]);

/** Exponents of two. */
export const binarySuffixes: ReadonlyMap<string, number> = new Map([
  ["Ki", 10],
  ["Mi", 20],
  ["Gi", 30],
  ["Ti", 40],
  ["Pi", 50],
  ["Ei", 60],
]);

const decimalSuffixByPower = new Map(Array.from(decimalSuffixes, ([suffix, power]) => [power, suffix]));
const binarySuffixNames = ["", ...binarySuffixes.keys()];
const kibi: Decimal = { digits: 1024n, exponent: 0 };

/**
 * Formats a number in canonical form, as Go's `Quantity.CanonicalizeBytes`: no fraction, and the largest suffix that
 * loses no precision.
 */
export function formatCanonically(number: Decimal, format: QuantityFormat): string {
  if (number.digits === 0n) return "0";
  if (format === "BinarySI" && isAtLeastKibi(number)) {
    const whole = rescale(number, 0);
    // A fraction of a byte has no binary form; format it as decimal instead of rounding it.
    if (whole.exact) return formatBinary(whole.digits);
  }
  return formatDecimal(number, format);
}

function isAtLeastKibi({ digits, exponent }: Decimal): boolean {
  return compareDecimals({ digits: digits < 0n ? -digits : digits, exponent }, kibi) >= 0;
}

function formatBinary(whole: bigint): string {
  let [digits, power] = [whole, 0];
  for (; digits % 1024n === 0n; power += 1) digits /= 1024n;
  return `${digits}${binarySuffixNames[power] ?? ""}`;
}

function formatDecimal(number: Decimal, format: QuantityFormat): string {
  // Uses text: repeated division by ten would take too long for a long number.
  const digits = `${number.digits}`;
  const zeros = trailingZeros(digits);
  const exponent = number.exponent + zeros;
  const toMultipleOfThree = ((exponent % 3) + 3) % 3;
  const mantissa = digits.slice(0, digits.length - zeros) + "0".repeat(toMultipleOfThree);
  return mantissa + suffixOf(exponent - toMultipleOfThree, format);
}

function suffixOf(power: number, format: QuantityFormat): string {
  if (format === "DecimalExponent") return power === 0 ? "" : `e${power}`;
  // Go has no suffix above E and Ei and omits it: 1000E is formatted as "1". This code does the same, for compatibility.
  return decimalSuffixByPower.get(power) ?? "";
}

function trailingZeros(digits: string): number {
  let at = digits.length;
  while (digits[at - 1] === "0") at -= 1;
  return digits.length - at;
}
