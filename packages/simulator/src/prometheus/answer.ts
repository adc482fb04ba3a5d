// Answers as Prometheus's API gives them: values are text, because JSON has no infinity and would round; times are seconds.
import type { TransportResponse } from "@memhog/runtime";
import { labelSet } from "./labels.ts";
import type { Stretch, Value } from "./promql/values.ts";

/** What `data` of an answer holds. */
export type QueryData =
  | { readonly resultType: "scalar" | "string"; readonly result: Pair }
  | { readonly resultType: "vector"; readonly result: readonly VectorResult[] }
  | { readonly resultType: "matrix"; readonly result: readonly MatrixResult[] };

/** Seconds since 1970, and the value as text. */
export type Pair = readonly [seconds: number, value: string];

export interface VectorResult {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: Pair;
}

export interface MatrixResult {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly Pair[];
}

/** The value of an expression at this moment. */
export function dataOf(value: Value, time: number): QueryData {
  if (value.type === "scalar") return { resultType: "scalar", result: pair(time, value.value) };
  if (value.type === "string") return { resultType: "string", result: [time / 1_000, value.value] };
  if (value.type === "matrix") return matrixOf(value.stretches);
  const result = value.elements.map(({ labels, value: each }) => ({ metric: labelSet(labels), value: pair(time, each) }));
  return { resultType: "vector", result };
}

export function matrixOf(stretches: readonly Stretch[]): QueryData {
  const result = stretches.map(({ labels, points }) => ({
    metric: labelSet(labels),
    values: points.map(({ t, v }) => pair(t, v)),
  }));
  return { resultType: "matrix", result };
}

function pair(time: number, value: number): Pair {
  return [time / 1_000, sampleText(value)];
}

/** As Go prints it without an exponent: "360448", "0.000001", "+Inf". */
export function sampleText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  if (Object.is(value, -0)) return "-0";
  const text = String(value);
  const [digits = "", exponent] = text.split("e");
  return exponent === undefined ? text : plain(digits, Number(exponent));
}

/** 1.5e-7 → 0.00000015 and 1.5e+21 → 1500000000000000000000. */
function plain(digits: string, exponent: number): string {
  const sign = digits.startsWith("-") ? "-" : "";
  const [whole = "", fraction = ""] = digits.replace("-", "").split(".");
  const all = whole + fraction;
  const point = whole.length + exponent;
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${all}`;
  return point >= all.length ? sign + all.padEnd(point, "0") : `${sign}${all.slice(0, point)}.${all.slice(point)}`;
}

export function success(data: unknown, warnings: readonly string[] = []): TransportResponse {
  return json(200, { status: "success", data, ...(warnings.length > 0 && { warnings }) });
}

export function failure(status: number, errorType: string, error: string): TransportResponse {
  return json(status, { status: "error", errorType, error });
}

export function plainText(status: number, body: string): TransportResponse {
  return { status, headers: { "content-type": "text/plain; charset=utf-8" }, body };
}

function json(status: number, body: object): TransportResponse {
  return { status, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}
