// Reading quantities exactly as Go does, including what it accepts by accident: "." and "m" are zero, "+" and "-" too, and
// "1.500" is remembered as it was written. Whoever compares our answer with the API server's must find no difference.
//
// Go has two ways inside: 64-bit arithmetic where that surely fits, arbitrary precision elsewhere. Which one a quantity
// took shows in two places, so we remember it (`wide`): only the narrow way remembers the spelling, and the wide one rounds
// negative fractions differently.
import { compareDecimals, type Decimal, roundUp } from "./decimal.ts";
import { binarySuffixes, decimalSuffixes, type QuantityFormat } from "./quantity-format.ts";

/** A text that is not a quantity. The message ends in the words of the API server. */
export class QuantityError extends Error {
  readonly code = "QUANTITY_INVALID";
  override readonly name = "QuantityError";

  constructor(text: string, why: string) {
    super(`expected a quantity such as 500m or 1.5Gi, found '${text}': ${why}`);
  }
}

/** What a text says. */
export interface ParsedQuantity {
  readonly number: Decimal;
  readonly format: QuantityFormat;
  /** The spelling to use, where Go keeps the one it was given. */
  readonly text?: string;
  readonly wide: boolean;
}

const pattern = /^([+-]?)(0*)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)$/;
const wrongFormat = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const wrongSuffix = "unable to parse quantity's suffix";
const wrongNumber = "unable to parse numeric part of quantity";

/** The finest difference a quantity can have. */
const nano = -9;
const maxInt64 = 2n ** 63n - 1n;

interface Parts {
  readonly text: string;
  readonly negative: boolean;
  /** Digits before the point, without leading zeros; "0" if there are none. */
  readonly whole: string;
  readonly fraction: string;
  /** Whether there is a digit at all. */
  readonly hasDigits: boolean;
  readonly suffix: Suffix;
}

interface Suffix {
  readonly format: QuantityFormat;
  /** A power of two for BinarySI, of ten otherwise. */
  readonly power: number;
}

/** Reads a quantity; throws a QuantityError where Go returns an error. */
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
  // Go cuts the exponent down to 32 bits.
  return { format: "DecimalExponent", power: Number(BigInt.asIntN(32, BigInt(exponent.replace("+", "")))) };
}

/** Go's 64-bit way; undefined where it does not dare to take it. */
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

/** Go's arbitrary precision: rounded up to a billionth, because whoever wants something should get something. */
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
