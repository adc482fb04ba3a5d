// Durations and timestamps. In code, durations are milliseconds; the helpers make the unit explicit:
// `requeueAfter(minutes(1), "why")`. In flags and specs, durations use Go's format, "1h30m" or "300ms", as elsewhere in
// Kubernetes.

import { printable } from "./untrusted-text.ts";

/** A duration, always in milliseconds. */
export type Milliseconds = number;

/** Converts seconds to milliseconds. */
export function seconds(count: number): Milliseconds {
  return count * 1_000;
}

/** Converts minutes to milliseconds. */
export function minutes(count: number): Milliseconds {
  return count * 60_000;
}

/** Converts hours to milliseconds. */
export function hours(count: number): Milliseconds {
  return count * 3_600_000;
}

/** The text is not a duration. The message ends with Go's error text. */
export class DurationError extends Error {
  readonly code = "DURATION_INVALID";
  override readonly name = "DurationError";

  constructor(text: string, why: string) {
    super(
      `expected a duration such as 1h30m or 300ms, found '${printable(text.slice(0, 100))}': ${printable(why.slice(0, 200))}`,
    );
  }
}

/** Go counts in nanoseconds. */
const nanosecondsPer: ReadonlyMap<string, bigint> = new Map([
  ["ns", 1n],
  ["us", 1_000n],
  ["µs", 1_000n], // micro sign
  ["μs", 1_000n], // Greek letter mu
  ["ms", 1_000_000n],
  ["s", 1_000_000_000n],
  ["m", 60_000_000_000n],
  ["h", 3_600_000_000_000n],
]);
const mostNanoseconds = 2n ** 63n - 1n;

/**
 * Parses a duration as Go's `time.ParseDuration`: "300ms", "-1.5h", "2h45m", "0". Days are not supported, because their
 * length varies.
 */
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

/** Formats a duration as Go's `Duration.String`: "1h30m0s", "1.5s", "300ms". */
export function formatDuration(duration: Milliseconds): string {
  const length = Math.abs(duration);
  // Converts in two steps, because long durations would lose their last digits otherwise.
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

/** Formats a quotient as a decimal without trailing zeros; `per` is a power of ten. */
function fixed(total: bigint, per: bigint): string {
  const fraction = `${(total % per) + per}`.slice(1).replace(/0+$/, "");
  return fraction === "" ? `${total / per}` : `${total / per}.${fraction}`;
}

/**
 * Formats `metav1.Time`: "2026-01-02T03:04:05Z". Takes milliseconds since 1970; drops fractions of a second, which the
 * API server rejects.
 */
export function formatTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d{3}Z$/, "Z");
}

/** Formats `metav1.MicroTime`, which Leases and Events use: "2026-01-02T03:04:05.678000Z". */
export function formatMicroTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/Z$/, "000Z");
}

/** Parses a timestamp of the API into milliseconds since 1970; undefined if it is missing or invalid. */
export function parseTime(text: string | null | undefined): number | undefined {
  const milliseconds = typeof text === "string" ? Date.parse(text) : Number.NaN;
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}
