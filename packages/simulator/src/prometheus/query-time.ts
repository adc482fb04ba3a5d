// Times, steps and durations as they stand in the URLs of Prometheus's API.
import { parsePromDuration } from "./promql/literals.ts";

/** Seconds since 1970 with a fraction, or RFC 3339: milliseconds; undefined if it is neither. */
export function parseQueryTime(text: string): number | undefined {
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return Math.round(Number(text) * 1_000);
  const ms = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

/** Seconds, or a duration such as "1m30s": milliseconds; undefined if it is neither. */
export function parseQueryDuration(text: string): number | undefined {
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return Number(text) * 1_000;
  return parsePromDuration(text);
}
