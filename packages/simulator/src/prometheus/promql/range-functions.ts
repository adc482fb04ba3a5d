// Functions of a range: what happened to a series over some time, in one number. Undefined: too few points to tell.
import type { Point } from "../series-store.ts";
import { exactSum, regression } from "./numbers.ts";
import type { Window } from "./values.ts";

export interface RangeInput {
  /** At least one. */
  readonly points: readonly Point[];
  readonly window: Window;
  /** When the query is evaluated. */
  readonly time: number;
  /** Further arguments, all numbers. */
  readonly args: readonly number[];
}

export type RangeFunction = (input: RangeInput) => number | undefined;

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
 * How much a series grew within the window. Samples hardly ever fall on its ends, so the growth between the first and the
 * last is stretched to them; by half an interval at most where the series seems to have begun or ended within the window,
 * and a counter is not stretched below zero.
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
