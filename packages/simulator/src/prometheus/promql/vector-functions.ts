// Functions of instant vectors and ranges, aggregation.
import type { Labels } from "../exposition.ts";
import { labelKey, labelSet, nameLabel, only, wholly, without, withoutName } from "../labels.ts";
import type { Point } from "../series-store.ts";
import { distinct, type Element, type Window } from "./evaluate.ts";
import { type Aggregation, type Expression, QueryError, type Selector } from "./expression.ts";

type NumberFunction = (value: number, ...args: readonly number[]) => number;

/** Functions that apply to each element and drop its name. */
export const numberFunctions: Readonly<Record<string, NumberFunction>> = {
  abs: Math.abs,
  ceil: Math.ceil,
  floor: Math.floor,
  clamp_max: (value, most = Number.NaN) => Math.min(value, most),
  clamp_min: (value, least = Number.NaN) => Math.max(value, least),
};

/** 1 if the vector is empty, with the labels of the selector's equality matchers. */
export function absent(elements: readonly Element[], argument: Expression): readonly Element[] {
  return elements.length > 0 ? [] : [{ labels: argument.kind === "selector" ? asked(argument) : {}, value: 1 }];
}

function asked({ matchers }: Selector): Labels {
  const exact = matchers.filter(({ op, label }) => op === "=" && label !== nameLabel);
  const once = exact.filter(({ label }) => matchers.filter((other) => other.label === label).length === 1);
  return labelSet(Object.fromEntries(once.map(({ label, value }) => [label, value])));
}

export function sorted(elements: readonly Element[], direction: 1 | -1): readonly Element[] {
  const rank = (value: number) => (Number.isNaN(value) ? Number.POSITIVE_INFINITY : value * direction);
  return elements.toSorted((a, b) => (rank(a.value) === rank(b.value) ? 0 : rank(a.value) - rank(b.value)));
}

/** label_replace(v, destination, "$1", source, "(.*)"): sets the destination where the source matches. */
export function labelReplace(elements: readonly Element[], words: readonly string[]): readonly Element[] {
  const [destination = "", replacement = "", source = "", expression = ""] = words;
  if (!/^[a-zA-Z_]\w*$/.test(destination))
    throw new QueryError("execution", `invalid destination label name in label_replace(): ${destination}`);
  const pattern = expressionIn(expression);
  return distinct(
    elements.map(({ labels, value }) => {
      const found = pattern.exec(labels[source] ?? "");
      if (found === null) return { labels, value };
      return { labels: labelSet({ ...labels, [destination]: expanded(replacement, found) }), value };
    }),
  );
}

function expressionIn(text: string): RegExp {
  try {
    return wholly(text);
  } catch {
    throw new QueryError("execution", `invalid regular expression in label_replace(): ${text}`);
  }
}

/** $1, ${1} and ${name}, as Go expands them: "$1x" is the group named "1x", which does not exist. */
function expanded(replacement: string, found: RegExpExecArray): string {
  return replacement.replace(/\$(?:\$|(\w+)|\{(\w+)\})/g, (whole, bare?: string, braced?: string) => {
    if (whole === "$$") return "$";
    const name = bare ?? braced ?? "";
    return /^\d+$/.test(name) ? (found[Number(name)] ?? "") : (found.groups?.[name] ?? "");
  });
}

export function nameless(elements: readonly Element[]): readonly Element[] {
  return distinct(elements.map(({ labels, value }) => ({ labels: withoutName(labels), value })));
}

// Range functions: one number per series. Undefined: too few points.

interface RangeInput {
  /** At least one sample. */
  readonly points: readonly Point[];
  readonly window: Window;
  /** The evaluation time. */
  readonly time: number;
  /** Further arguments, all numbers. */
  readonly args: readonly number[];
}

type RangeFunction = (input: RangeInput) => number | undefined;

const values = (points: readonly Point[]) => points.map(({ v }) => v);
const first = (points: readonly Point[]) => points[0] ?? { t: 0, v: Number.NaN };
const last = (points: readonly Point[]) => points.at(-1) ?? { t: 0, v: Number.NaN };

export const rangeFunctions: Readonly<Record<string, RangeFunction>> = {
  avg_over_time: ({ points }) => exactSum(values(points)) / points.length,
  sum_over_time: ({ points }) => exactSum(values(points)),
  count_over_time: ({ points }) => points.length,
  present_over_time: () => 1,
  last_over_time: ({ points }) => last(points).v,
  max_over_time: ({ points }) => values(points).reduce((max, v) => (v > max || Number.isNaN(max) ? v : max)),
  min_over_time: ({ points }) => values(points).reduce((min, v) => (v < min || Number.isNaN(min) ? v : min)),
  rate: (input) => extrapolated(input, { counter: true, perSecond: true }),
  increase: (input) => extrapolated(input, { counter: true, perSecond: false }),
  delta: (input) => extrapolated(input, { counter: false, perSecond: false }),
  deriv: ({ points }) => (points.length < 2 ? undefined : regression(points, first(points).t).slope),
  predict_linear: ({ points, time, args: [seconds = 0] }) => {
    if (points.length < 2) return undefined;
    const { slope, intercept } = regression(points, time);
    return slope * seconds + intercept;
  },
  changes: ({ points }) => pairs(points).filter(([a, b]) => a.v !== b.v && !(Number.isNaN(a.v) && Number.isNaN(b.v))).length,
  resets: ({ points }) => pairs(points).filter(([a, b]) => b.v < a.v).length,
};

/**
 * The increase of a series within the window. Samples rarely fall on its ends, so the increase between the first and the
 * last is extrapolated to them: by at most half an interval if the series seems to begin or end within the window, and a
 * counter is not extrapolated below zero.
 */
function extrapolated(
  { points, window }: RangeInput,
  { counter, perSecond }: { readonly counter: boolean; readonly perSecond: boolean },
): number | undefined {
  if (points.length < 2) return undefined;
  const [start, end] = [first(points), last(points)];
  const lost = counter ? pairs(points).reduce((sum, [a, b]) => (b.v < a.v ? sum + a.v : sum), 0) : 0;
  const growth = end.v - start.v + lost;
  const sampled = (end.t - start.t) / 1_000;
  const interval = sampled / (points.length - 1);
  const sinceZero = counter && growth > 0 && start.v >= 0 ? sampled * (start.v / growth) : Number.POSITIVE_INFINITY;
  const toStart = Math.min((start.t - window.from) / 1_000, sinceZero);
  const toEnd = (window.to - end.t) / 1_000;
  const stretch = (gap: number) => (gap < interval * 1.1 ? gap : interval / 2);
  const factor = (sampled + stretch(toStart) + stretch(toEnd)) / sampled;
  return growth * (perSecond ? factor / ((window.to - window.from) / 1_000) : factor);
}

function pairs(points: readonly Point[]): readonly (readonly [Point, Point])[] {
  return points.slice(1).map((point, at) => [points[at] ?? point, point] as const);
}

// Aggregation, for example sum by (pod) (…). Labels that are not grouped by are dropped.

const operations: Readonly<Record<string, (values: readonly number[]) => number>> = {
  sum: (values) => values.reduce((sum, value) => sum + value, 0),
  avg: (values) => values.reduce((sum, value) => sum + value, 0) / values.length,
  count: (values) => values.length,
  group: () => 1,
  max: (values) => values.reduce((max, value) => (value > max || Number.isNaN(max) ? value : max)),
  min: (values) => values.reduce((min, value) => (value < min || Number.isNaN(min) ? value : min)),
};

export function aggregate({ op, grouping }: Aggregation, elements: readonly Element[]): readonly Element[] {
  const kept = (labels: Labels) =>
    "by" in grouping ? only(labels, grouping.by) : without(labels, [...grouping.without, nameLabel]);
  const groups = Map.groupBy(elements, ({ labels }) => labelKey(kept(labels)));
  const compute = operations[op];
  return [...groups.values()].map((group) => ({
    labels: kept(group[0]?.labels ?? {}),
    value: compute?.(group.map(({ value }) => value)) ?? Number.NaN,
  }));
}

// Sums and regressions with compensated rounding (Kahan and Neumaier), so that every digit equals Prometheus's.

/** A sum with an error term for what rounding loses. */
class ExactSum {
  #sum = 0;
  #rest = 0;

  add(value: number): this {
    const sum = this.#sum + value;
    if (Math.abs(this.#sum) >= Math.abs(value)) this.#rest += this.#sum - sum + value;
    else this.#rest += value - sum + this.#sum;
    this.#sum = sum;
    return this;
  }

  get value(): number {
    return Number.isFinite(this.#sum) ? this.#sum + this.#rest : this.#sum;
  }
}

function exactSum(values: readonly number[]): number {
  return values.reduce((sum, value) => sum.add(value), new ExactSum()).value;
}

/** The line that fits the points best; the intercept is its value at `originMs`. */
function regression(points: readonly Point[], originMs: number): { readonly slope: number; readonly intercept: number } {
  const [first] = points;
  if (first !== undefined && points.every(({ v }) => v === first.v)) {
    return Number.isFinite(first.v) ? { slope: 0, intercept: first.v } : { slope: Number.NaN, intercept: Number.NaN };
  }
  const n = points.length;
  const x = points.map(({ t }) => (t - originMs) / 1_000);
  const y = points.map(({ v }) => v);
  const [sumX, sumY] = [exactSum(x), exactSum(y)];
  const sumXY = exactSum(x.map((each, at) => each * (y[at] ?? 0)));
  const sumX2 = exactSum(x.map((each) => each * each));
  const slope = (sumXY - (sumX * sumY) / n) / (sumX2 - (sumX * sumX) / n);
  return { slope, intercept: sumY / n - (slope * sumX) / n };
}
