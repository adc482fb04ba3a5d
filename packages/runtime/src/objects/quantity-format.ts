// The suffixes of quantities, and the canonical spelling: no fraction, and the largest suffix that loses nothing.
import { compareDecimals, type Decimal, rescale } from "./decimal.ts";

/** How a quantity was spelled, and will be: 12M, 12Mi or 12e6. */
export type QuantityFormat = "DecimalSI" | "BinarySI" | "DecimalExponent";

/** Powers of ten. */
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

/** Powers of two. */
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

/** The canonical spelling of a number, as Go's `Quantity.CanonicalizeBytes`. */
export function formatCanonically(number: Decimal, format: QuantityFormat): string {
  if (number.digits === 0n) return "0";
  if (format === "BinarySI" && isAtLeastKibi(number)) {
    const whole = rescale(number, 0);
    // A fraction of a byte has no binary spelling: show it as decimal rather than lose it.
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
  // By way of text: dividing by ten again and again would let one long number keep the process busy.
  const digits = `${number.digits}`;
  const zeros = trailingZeros(digits);
  const exponent = number.exponent + zeros;
  const toMultipleOfThree = ((exponent % 3) + 3) % 3;
  const mantissa = digits.slice(0, digits.length - zeros) + "0".repeat(toMultipleOfThree);
  return mantissa + suffixOf(exponent - toMultipleOfThree, format);
}

function suffixOf(power: number, format: QuantityFormat): string {
  if (format === "DecimalExponent") return power === 0 ? "" : `e${power}`;
  // Go knows no suffix above E or Ei and then writes none: 1000E comes out as "1". We do the same, so that nobody has to
  // wonder which of the two is talking.
  return decimalSuffixByPower.get(power) ?? "";
}

function trailingZeros(digits: string): number {
  let at = digits.length;
  while (digits[at - 1] === "0") at -= 1;
  return digits.length - at;
}
