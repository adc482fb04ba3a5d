// What an expression is worth at one moment. A query over a range of time is this, at each of its steps.
import { aggregate } from "./aggregate.ts";
import { evaluateBinary } from "./binary.ts";
import type { Call, Expression, Selector } from "./expression.ts";
import { rangeFunctions } from "./range-functions.ts";
import { type Element, type Moment, type Value, vector } from "./values.ts";
import { absent, labelReplace, nameless, numberFunctions, sorted } from "./vector-functions.ts";

/** @throws QueryError */
export function evaluate(expression: Expression, moment: Moment): Value {
  switch (expression.kind) {
    case "number":
      return { type: "scalar", value: expression.value };
    case "string":
      return { type: "string", value: expression.value };
    case "selector":
      return vector(latest(expression, moment).map(({ labels, v }) => ({ labels, value: v })));
    case "range":
      return ranged(expression, moment);
    case "negation":
      return negated(evaluate(expression.of, moment));
    case "aggregation":
      return vector(aggregate(expression, elementsOf(expression.of, moment)));
    case "binary":
      return evaluateBinary(expression, evaluate(expression.left, moment), evaluate(expression.right, moment));
    case "call":
      return call(expression, moment);
  }
}

/** The last sample of each series that is not too old. */
function latest({ matchers, offsetMs }: Selector, { time, lookBackMs, select }: Moment) {
  const to = time - offsetMs;
  return select(matchers).flatMap((series) => {
    const point = series.latest(to - lookBackMs, to);
    return point === undefined ? [] : [{ labels: series.labels, ...point }];
  });
}

function ranged({ selector, rangeMs }: Extract<Expression, { kind: "range" }>, { time, select }: Moment): Value {
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

function elementsOf(expression: Expression | undefined, moment: Moment): readonly Element[] {
  const value = expression && evaluate(expression, moment);
  return value?.type === "vector" ? value.elements : [];
}

function call(expression: Call, moment: Moment): Value {
  const { name, args } = expression;
  const [first] = args;
  const overTime = rangeFunctions[name];
  if (overTime !== undefined) return overRange(expression, moment);
  const each = numberFunctions[name];
  if (each !== undefined) {
    const numbers = args.slice(1).map((arg) => numberOf(arg, moment));
    const computed = elementsOf(first, moment).map(({ labels, value }) => ({ labels, value: each(value, ...numbers) }));
    return vector(nameless(computed));
  }
  return special(expression, moment);
}

function special({ name, args }: Call, moment: Moment): Value {
  const [first, ...rest] = args;
  switch (name) {
    case "time":
      return { type: "scalar", value: moment.time / 1_000 };
    case "timestamp":
      return timestamps(first, moment);
    case "vector":
      return vector([{ labels: {}, value: numberOf(first, moment) }]);
    case "scalar":
      return { type: "scalar", value: onlyValue(elementsOf(first, moment)) };
    case "absent":
      return vector(absent(elementsOf(first, moment), first ?? { kind: "number", value: 0 }));
    case "label_replace":
      return vector(labelReplace(elementsOf(first, moment), rest.map(textOf)));
    default:
      return vector(sorted(elementsOf(first, moment), name === "sort" ? 1 : -1));
  }
}

/** Of what was selected, when it was measured; of what was computed, now. */
function timestamps(argument: Expression | undefined, moment: Moment): Value {
  if (argument?.kind !== "selector")
    return vector(nameless(elementsOf(argument, moment).map(({ labels }) => ({ labels, value: moment.time / 1_000 }))));
  return vector(nameless(latest(argument, moment).map(({ labels, t }) => ({ labels, value: t / 1_000 }))));
}

function overRange({ name, args }: Call, moment: Moment): Value {
  const [range, ...rest] = args;
  const value = range && evaluate(range, moment);
  const compute = rangeFunctions[name];
  if (value?.type !== "matrix" || compute === undefined) return vector([]);
  const numbers = rest.map((arg) => numberOf(arg, moment));
  const elements = value.stretches.flatMap(({ labels, points }) => {
    const result = compute({ points, window: value.window, time: moment.time, args: numbers });
    return result === undefined ? [] : [{ labels, value: result }];
  });
  // The last value of a series is still that series; anything else computed from it is not.
  return vector(name === "last_over_time" ? elements : nameless(elements));
}

function numberOf(expression: Expression | undefined, moment: Moment): number {
  const value = expression && evaluate(expression, moment);
  return value?.type === "scalar" ? value.value : Number.NaN;
}

function textOf(expression: Expression): string {
  return expression.kind === "string" ? expression.value : "";
}

/** Of exactly one element its value. */
function onlyValue(elements: readonly Element[]): number {
  return elements.length === 1 ? (elements[0]?.value ?? Number.NaN) : Number.NaN;
}
