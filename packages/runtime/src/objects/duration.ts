// Durations. In code they are milliseconds, and the helpers keep the unit in sight: `checkAgainIn(minutes(1), "why")`. In
// flags and specs they are what Go makes of them, "1h30m" or "300ms", because that is what users of Kubernetes write.

/** A duration; in this code base always milliseconds. */
export type Milliseconds = number;

/** So many seconds, in milliseconds. */
export function seconds(count: number): Milliseconds {
  return count * 1_000;
}

/** So many minutes, in milliseconds. */
export function minutes(count: number): Milliseconds {
  return count * 60_000;
}

/** So many hours, in milliseconds. */
export function hours(count: number): Milliseconds {
  return count * 3_600_000;
}

/** A text that is not a duration. The message ends in Go's words. */
export class DurationError extends Error {
  readonly code = "DURATION_INVALID";
  override readonly name = "DurationError";

  constructor(text: string, why: string) {
    super(`expected a duration such as 1h30m or 300ms, found '${text}': ${why}`);
  }
}

/** Go counts in nanoseconds. */
const nanosecondsPer: ReadonlyMap<string, bigint> = new Map([
  ["ns", 1n],
  ["us", 1_000n],
  ["µs", 1_000n], // the micro sign
  ["μs", 1_000n], // the Greek letter
  ["ms", 1_000_000n],
  ["s", 1_000_000_000n],
  ["m", 60_000_000_000n],
  ["h", 3_600_000_000_000n],
]);
const mostNanoseconds = 2n ** 63n - 1n;

/** Reads a duration as Go's `time.ParseDuration`: "300ms", "-1.5h", "2h45m", "0". Days are no unit: they vary. */
export function parseDuration(text: string): Milliseconds {
  const [, sign = "", rest = ""] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (rest === "") throw invalid(text);
  if (rest === "0") return 0;
  const parts = [...rest.matchAll(/([0-9]*)(?:\.([0-9]*))?([^0-9.]*)/g)].filter(([part]) => part !== "");
  const total = parts.reduce((sum, [, whole, fraction, unit]) => sum + nanoseconds({ whole, fraction, unit }, text), 0n);
  if (total > mostNanoseconds + (sign === "-" ? 1n : 0n)) throw invalid(text);
  const duration = Number(total / 1_000_000n) + Number(total % 1_000_000n) / 1e6;
  return sign === "-" && duration > 0 ? -duration : duration;
}

interface Part {
  readonly whole?: string | undefined;
  readonly fraction?: string | undefined;
  readonly unit?: string | undefined;
}

/** One number with its unit. */
function nanoseconds({ whole = "", fraction = "", unit = "" }: Part, text: string): bigint {
  if (whole + fraction === "") throw invalid(text);
  if (unit === "") throw new DurationError(text, `time: missing unit in duration ${JSON.stringify(text)}`);
  const per = nanosecondsPer.get(unit);
  if (per === undefined)
    throw new DurationError(text, `time: unknown unit ${JSON.stringify(unit)} in duration ${JSON.stringify(text)}`);
  return BigInt(whole || 0) * per + (BigInt(fraction || 0) * per) / 10n ** BigInt(fraction.length);
}

function invalid(text: string): DurationError {
  return new DurationError(text, `time: invalid duration ${JSON.stringify(text)}`);
}

/** Writes a duration as Go's `Duration.String`: "1h30m0s", "1.5s", "300ms". */
export function formatDuration(duration: Milliseconds): string {
  const length = Math.abs(duration);
  // In two steps, or long durations would lose their last digits.
  const total = BigInt(Math.trunc(length)) * 1_000_000n + BigInt(Math.round((length % 1) * 1e6));
  if (total === 0n) return "0s";
  return (duration < 0 ? "-" : "") + (total < 1_000_000_000n ? formatShort(total) : formatLong(total));
}

function formatShort(total: bigint): string {
  const unit = total < 1_000n ? "ns" : total < 1_000_000n ? "µs" : "ms";
  return `${fixed(total, nanosecondsPer.get(unit) ?? 1n)}${unit}`;
}

function formatLong(total: bigint): string {
  const wholeMinutes = total / 60_000_000_000n;
  const rest = `${fixed(total % 60_000_000_000n, 1_000_000_000n)}s`;
  if (wholeMinutes === 0n) return rest;
  return wholeMinutes < 60n ? `${wholeMinutes}m${rest}` : `${wholeMinutes / 60n}h${wholeMinutes % 60n}m${rest}`;
}

/** A quotient as a decimal without trailing zeros; `per` is a power of ten. */
function fixed(total: bigint, per: bigint): string {
  const fraction = `${(total % per) + per}`.slice(1).replace(/0+$/, "");
  return fraction === "" ? `${total / per}` : `${total / per}.${fraction}`;
}
