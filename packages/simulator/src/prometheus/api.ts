// The query API of Prometheus. Unknown paths get 404.
import type { TransportRequest, TransportResponse } from "@memhog/runtime/client";
import type { Clock } from "@memhog/runtime/concurrency";
import type { Labels } from "./exposition.ts";
import { labelKey, labelSet } from "./labels.ts";
import { evaluate, type Instant, type Stretch, type Value } from "./promql/evaluate.ts";
import { type Expression, parsePromDuration, QueryError, typeNames, typeOf } from "./promql/expression.ts";
import { parse } from "./promql/parse.ts";
import type { Point, SeriesStore } from "./series-store.ts";

interface ApiTools {
  readonly store: SeriesStore;
  readonly clock: Pick<Clock, "now">;
  /** The lookback period, unless the query sets one. */
  readonly lookBackMs: number;
  /** Changes a response before it is sent. */
  readonly retouch: (data: QueryData) => { readonly data: QueryData; readonly warnings: readonly string[] };
}

const mostPoints = 11_000;
const buildInfo = {
  version: "2.42.0",
  revision: "simulator",
  branch: "HEAD",
  buildUser: "",
  buildDate: "",
  goVersion: "",
};

export function answerTo(request: TransportRequest, tools: ApiTools): TransportResponse {
  const { path, method } = request;
  if (path === "/-/ready") return plainText(200, "Prometheus Server is Ready.\n");
  if (path === "/-/healthy") return plainText(200, "Prometheus Server is Healthy.\n");
  if (path === "/api/v1/status/buildinfo") return success(buildInfo);
  if (path !== "/api/v1/query" && path !== "/api/v1/query_range") return plainText(404, "404 page not found\n");
  if (method !== "GET" && method !== "POST") return plainText(405, "Method Not Allowed\n");
  try {
    const ask = path === "/api/v1/query" ? queryNow : queryRange;
    const { data, warnings } = tools.retouch(ask(parametersOf(request), tools));
    return success(data, warnings);
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    return failure(error.errorType === "bad_data" ? 400 : 422, error.errorType, error.message);
  }
}

/** Parameters from the URL and, for POST, from the form. */
function parametersOf({ query = {}, body, method }: TransportRequest): ReadonlyMap<string, string> {
  const fromUrl = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as const]));
  const fromForm = method === "POST" ? new URLSearchParams(body ?? "") : [];
  return new Map([...fromUrl, ...fromForm]);
}

type Parameters = ReadonlyMap<string, string>;

function queryNow(parameters: Parameters, tools: ApiTools): QueryData {
  const time = timeIn(parameters, "time") ?? tools.clock.now();
  const expression = expressionIn(parameters);
  return dataOf(evaluate(expression, instantAt(time, parameters, tools)), time);
}

function queryRange(parameters: Parameters, tools: ApiTools): QueryData {
  const start = requiredTime(parameters, "start");
  const end = requiredTime(parameters, "end");
  if (end < start) throw invalid("end", "end timestamp must not be before start time");
  const stepText = parameters.get("step") ?? "";
  const step = parseQueryDuration(stepText);
  if (step === undefined) throw invalid("step", `cannot parse ${JSON.stringify(stepText)} to a valid duration`);
  if (step <= 0) throw invalid("step", "zero or negative query resolution step widths are not accepted. Try a positive integer");
  if ((end - start) / step > mostPoints) {
    const message = "exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query resolution (?step=XX)";
    throw new QueryError("bad_data", message);
  }
  const expression = expressionIn(parameters);
  const type = typeOf(expression);
  if (type !== "scalar" && type !== "vector") {
    const message = `invalid expression type "${typeNames[type]}" for range query, must be Scalar or instant Vector`;
    throw new QueryError("bad_data", message);
  }
  const times = Array.from({ length: Math.floor((end - start) / step) + 1 }, (_, at) => start + at * step);
  return overTime(expression, times, (time) => instantAt(time, parameters, tools));
}

function overTime(expression: Expression, times: readonly number[], instantAt: (time: number) => Instant): QueryData {
  const rows = new Map<string, { readonly labels: Labels; readonly points: Point[] }>();
  for (const time of times) {
    const value = evaluate(expression, instantAt(time));
    const elements =
      value.type === "vector" ? value.elements : value.type === "scalar" ? [{ labels: {}, value: value.value }] : [];
    for (const { labels, value: v } of elements) {
      const key = labelKey(labels);
      const row = rows.get(key) ?? { labels, points: [] };
      row.points.push({ t: time, v });
      rows.set(key, row);
    }
  }
  const inOrder = [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  return matrixOf(inOrder);
}

function instantAt(time: number, parameters: Parameters, { store, lookBackMs }: ApiTools): Instant {
  const asked = parameters.get("lookback_delta");
  const lookBack = asked === undefined || asked === "" ? lookBackMs : parseQueryDuration(asked);
  if (lookBack === undefined)
    throw new QueryError(
      "bad_data",
      `error parsing lookback delta duration: cannot parse ${JSON.stringify(asked)} to a valid duration`,
    );
  return { time, lookBackMs: lookBack, select: (matchers) => store.select(matchers) };
}

function expressionIn(parameters: Parameters): Expression {
  try {
    return parse(parameters.get("query") ?? "");
  } catch (error) {
    if (error instanceof QueryError && error.errorType === "bad_data") throw invalid("query", error.message);
    throw error;
  }
}

function timeIn(parameters: Parameters, name: string): number | undefined {
  const text = parameters.get(name);
  if (text === undefined || text === "") return undefined;
  const time = parseQueryTime(text);
  if (time === undefined)
    throw invalid(name, `Invalid time value for '${name}': cannot parse ${JSON.stringify(text)} to a valid timestamp`);
  return time;
}

function requiredTime(parameters: Parameters, name: string): number {
  const time = timeIn(parameters, name);
  if (time === undefined) throw invalid(name, `cannot parse "" to a valid timestamp`);
  return time;
}

function invalid(parameter: string, message: string): QueryError {
  return new QueryError("bad_data", `invalid parameter "${parameter}": ${message}`);
}

// Responses: values are strings, because JSON has no infinity; times are seconds.

/** The `data` of a response. */
export type QueryData =
  | { readonly resultType: "scalar" | "string"; readonly result: Pair }
  | { readonly resultType: "vector"; readonly result: readonly VectorResult[] }
  | { readonly resultType: "matrix"; readonly result: readonly MatrixResult[] };

/** Seconds since 1970, and the value as text. */
export type Pair = readonly [seconds: number, value: string];

interface VectorResult {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: Pair;
}

interface MatrixResult {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly Pair[];
}

/** The value of an expression at this time. */
export function dataOf(value: Value, time: number): QueryData {
  if (value.type === "scalar") return { resultType: "scalar", result: pair(time, value.value) };
  if (value.type === "string") return { resultType: "string", result: [time / 1_000, value.value] };
  if (value.type === "matrix") return matrixOf(value.stretches);
  const result = value.elements.map(({ labels, value: each }) => ({ metric: labelSet(labels), value: pair(time, each) }));
  return { resultType: "vector", result };
}

function matrixOf(stretches: readonly Stretch[]): QueryData {
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

// Times, steps and durations in URLs.

/** Seconds since 1970 with a fraction, or RFC 3339, in milliseconds; undefined if it is neither. */
function parseQueryTime(text: string): number | undefined {
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return Math.round(Number(text) * 1_000);
  const ms = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

/** Seconds, or a duration such as "1m30s", in milliseconds; undefined if it is neither. */
function parseQueryDuration(text: string): number | undefined {
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return Number(text) * 1_000;
  return parsePromDuration(text);
}
