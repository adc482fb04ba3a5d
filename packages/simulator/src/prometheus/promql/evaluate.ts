// Evaluates an expression at one time. A range query evaluates it at each step.

import type { Labels } from "../exposition.ts";
import { labelKey, type Matcher } from "../labels.ts";
import type { Point, Series } from "../series-store.ts";
import { type Call, type Expression, QueryError, type Selector } from "./expression.ts";
import { absent, aggregate, labelReplace, nameless, numberFunctions, rangeFunctions, sorted } from "./vector-functions.ts";
import { evaluateBinary } from "./vector-matching.ts";

/** @throws QueryError */
export function evaluate(expression: Expression, instant: Instant): Value {
  switch (expression.kind) {
    case "number":
      return { type: "scalar", value: expression.value };
    case "string":
      return { type: "string", value: expression.value };
    case "selector":
      return vector(latest(expression, instant).map(({ labels, v }) => ({ labels, value: v })));
    case "range":
      return ranged(expression, instant);
    case "negation":
      return negated(evaluate(expression.of, instant));
    case "aggregation":
      return vector(aggregate(expression, elementsOf(expression.of, instant)));
    case "binary":
      return evaluateBinary(expression, evaluate(expression.left, instant), evaluate(expression.right, instant));
    case "call":
      return call(expression, instant);
  }
}

/** The last sample of each series within the lookback period. */
function latest({ matchers, offsetMs }: Selector, { time, lookBackMs, select }: Instant) {
  const to = time - offsetMs;
  return select(matchers).flatMap((series) => {
    const point = series.latest(to - lookBackMs, to);
    return point === undefined ? [] : [{ labels: series.labels, ...point }];
  });
}

function ranged({ selector, rangeMs }: Extract<Expression, { kind: "range" }>, { time, select }: Instant): Value {
  const to = time - selector.offsetMs;
  const window = { from: to - rangeMs, to };
  const stretches = select(selector.matchers).map((series) => ({
    labels: series.labels,
    points: series.between(window.from, window.to),
  }));
  return { type: "matrix", stretches: stretches.filter(({ points }) => points.length > 0), window };
}

function negated(value: Value): Value {
  if (value.type === "scalar") return { type: "scalar", value: -value.value };
  const elements = value.type === "vector" ? value.elements : [];
  return vector(nameless(elements.map(({ labels, value: each }) => ({ labels, value: -each }))));
}

function elementsOf(expression: Expression | undefined, instant: Instant): readonly Element[] {
  const value = expression && evaluate(expression, instant);
  return value?.type === "vector" ? value.elements : [];
}

function call(expression: Call, instant: Instant): Value {
  const { name, args } = expression;
  const [first] = args;
  const overTime = rangeFunctions[name];
  if (overTime !== undefined) return overRange(expression, instant);
  const each = numberFunctions[name];
  if (each !== undefined) {
    const numbers = args.slice(1).map((arg) => numberOf(arg, instant));
    const computed = elementsOf(first, instant).map(({ labels, value }) => ({ labels, value: each(value, ...numbers) }));
    return vector(nameless(computed));
  }
  return special(expression, instant);
}

function special({ name, args }: Call, instant: Instant): Value {
  const [first, ...rest] = args;
  switch (name) {
    case "time":
      return { type: "scalar", value: instant.time / 1_000 };
    case "timestamp":
      return timestamps(first, instant);
    case "vector":
      return vector([{ labels: {}, value: numberOf(first, instant) }]);
    case "scalar":
      return { type: "scalar", value: onlyValue(elementsOf(first, instant)) };
    case "absent":
      return vector(absent(elementsOf(first, instant), first ?? { kind: "number", value: 0 }));
    case "label_replace":
      return vector(labelReplace(elementsOf(first, instant), rest.map(textOf)));
    default:
      return vector(sorted(elementsOf(first, instant), name === "sort" ? 1 : -1));
  }
}

/** For a selector, the timestamps of its samples; for any other expression, the evaluation time. */
function timestamps(argument: Expression | undefined, instant: Instant): Value {
  if (argument?.kind !== "selector")
    return vector(nameless(elementsOf(argument, instant).map(({ labels }) => ({ labels, value: instant.time / 1_000 }))));
  return vector(nameless(latest(argument, instant).map(({ labels, t }) => ({ labels, value: t / 1_000 }))));
}

function overRange({ name, args }: Call, instant: Instant): Value {
  const [range, ...rest] = args;
  const value = range && evaluate(range, instant);
  const compute = rangeFunctions[name];
  if (value?.type !== "matrix" || compute === undefined) return vector([]);
  const numbers = rest.map((arg) => numberOf(arg, instant));
  const elements = value.stretches.flatMap(({ labels, points }) => {
    const result = compute({ points, window: value.window, time: instant.time, args: numbers });
    return result === undefined ? [] : [{ labels, value: result }];
  });
  // last_over_time keeps the metric name; all other functions drop it.
  return vector(name === "last_over_time" ? elements : nameless(elements));
}

function numberOf(expression: Expression | undefined, instant: Instant): number {
  const value = expression && evaluate(expression, instant);
  return value?.type === "scalar" ? value.value : Number.NaN;
}

function textOf(expression: Expression): string {
  return expression.kind === "string" ? expression.value : "";
}

/** The value if there is exactly one element. */
function onlyValue(elements: readonly Element[]): number {
  return elements.length === 1 ? (elements[0]?.value ?? Number.NaN) : Number.NaN;
}

// The values of expressions.

/** One element of an instant vector. */
export interface Element {
  readonly labels: Labels;
  readonly value: number;
}

/** The samples of a series within a range. */
export interface Stretch {
  readonly labels: Labels;
  readonly points: readonly Point[];
}

export type Value =
  | { readonly type: "scalar"; readonly value: number }
  | { readonly type: "string"; readonly value: string }
  | { readonly type: "vector"; readonly elements: readonly Element[] }
  | { readonly type: "matrix"; readonly stretches: readonly Stretch[]; readonly window: Window };

/** The bounds of a range, both inclusive, in milliseconds since 1970. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** The evaluation time and the data of an evaluation. */
export interface Instant {
  /** Milliseconds since 1970. */
  readonly time: number;
  /** The lookback period. */
  readonly lookBackMs: number;
  readonly select: (matchers: readonly Matcher[]) => readonly Series[];
}

export function vector(elements: readonly Element[]): Value {
  return { type: "vector", elements };
}

/** @throws QueryError if two series become equal after labels are dropped */
export function distinct(elements: readonly Element[]): readonly Element[] {
  const keys = new Set(elements.map(({ labels }) => labelKey(labels)));
  if (keys.size < elements.length) throw new QueryError("execution", "vector cannot contain metrics with the same labelset");
  return elements;
}
