// Two operands and what comes of them: numbers with numbers, a vector with a number, a vector with a vector. Where a
// comparison does not hold, the element is left out (or is 0, with `bool`).
import { withoutName } from "../labels.ts";
import type { Binary } from "./expression.ts";
import { distinct, type Element, type Value, vector } from "./values.ts";
import { joined } from "./vector-matching.ts";

const arithmetic: Readonly<Record<string, (a: number, b: number) => number>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "%": (a, b) => a % b,
};

const comparison: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  "<": (a, b) => a < b,
  ">": (a, b) => a > b,
  "<=": (a, b) => a <= b,
  ">=": (a, b) => a >= b,
};

/** What is left of an element after an operation; undefined: nothing. The value that is kept is `kept`. */
export function combine({ op, bool }: Binary, a: number, b: number, kept = a): number | undefined {
  const compare = comparison[op];
  if (compare === undefined) return arithmetic[op]?.(a, b);
  if (bool) return compare(a, b) ? 1 : 0;
  return compare(a, b) ? kept : undefined;
}

/** Whether what comes out is another metric than what went in. */
export function losesName({ op, bool }: Binary): boolean {
  return bool || op in arithmetic;
}

export function evaluateBinary(binary: Binary, left: Value, right: Value): Value {
  if (left.type === "scalar" && right.type === "scalar")
    return { type: "scalar", value: combine(binary, left.value, right.value) ?? Number.NaN };
  if (left.type === "vector" && right.type === "scalar")
    return each(binary, left.elements, ({ value }) => combine(binary, value, right.value));
  if (left.type === "scalar" && right.type === "vector")
    return each(binary, right.elements, ({ value }) => combine(binary, left.value, value, value));
  if (left.type === "vector" && right.type === "vector") return vector(joined(binary, left.elements, right.elements));
  throw new TypeError(`expected numbers and vectors on both sides of ${binary.op}, found ${left.type} and ${right.type}`);
}

function each(binary: Binary, elements: readonly Element[], compute: (element: Element) => number | undefined): Value {
  const results = elements.flatMap((element) => {
    const value = compute(element);
    if (value === undefined) return [];
    return [{ labels: losesName(binary) ? withoutName(element.labels) : element.labels, value }];
  });
  return vector(distinct(results));
}
