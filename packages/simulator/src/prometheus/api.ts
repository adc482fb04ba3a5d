// The part of Prometheus's HTTP API that asks questions. Unknown paths are 404, as there.
import type { Clock, TransportRequest, TransportResponse } from "@memhog/runtime";
import { dataOf, failure, matrixOf, plainText, type QueryData, success } from "./answer.ts";
import type { Labels } from "./exposition.ts";
import { labelKey } from "./labels.ts";
import { QueryError } from "./promql/errors.ts";
import { evaluate } from "./promql/evaluate.ts";
import { type Expression, typeNames, typeOf } from "./promql/expression.ts";
import { parse } from "./promql/parse.ts";
import type { Moment } from "./promql/values.ts";
import { parseQueryDuration, parseQueryTime } from "./query-time.ts";
import type { Point, SeriesStore } from "./series-store.ts";

export interface ApiTools {
  readonly store: SeriesStore;
  readonly clock: Pick<Clock, "now">;
  /** How old the last sample of a series may be, unless the question says otherwise. */
  readonly lookBackMs: number;
  /** May change an answer before it is given. */
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

/** From the URL and, for a POST, from the form. */
function parametersOf({ query = {}, body, method }: TransportRequest): ReadonlyMap<string, string> {
  const fromUrl = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as const]));
  const fromForm = method === "POST" ? new URLSearchParams(body ?? "") : [];
  return new Map([...fromUrl, ...fromForm]);
}

type Parameters = ReadonlyMap<string, string>;

function queryNow(parameters: Parameters, tools: ApiTools): QueryData {
  const time = timeIn(parameters, "time") ?? tools.clock.now();
  const expression = expressionIn(parameters);
  return dataOf(evaluate(expression, momentAt(time, parameters, tools)), time);
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
  return overTime(expression, times, (time) => momentAt(time, parameters, tools));
}

function overTime(expression: Expression, times: readonly number[], momentAt: (time: number) => Moment): QueryData {
  const rows = new Map<string, { readonly labels: Labels; readonly points: Point[] }>();
  for (const time of times) {
    const value = evaluate(expression, momentAt(time));
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

function momentAt(time: number, parameters: Parameters, { store, lookBackMs }: ApiTools): Moment {
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
