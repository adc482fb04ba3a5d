// Vector matching: pairs elements with equal labels, or equal labels in on(…), or all except those in ignoring(…). One to one,
// unless group_left or group_right allow many to one.
import type { Labels } from "../exposition.ts";
import { labelKey, nameLabel, only, showLabels, without, withoutName } from "../labels.ts";
import { distinct, type Element, type Value, vector } from "./evaluate.ts";
import { type Binary, type Matching, QueryError } from "./expression.ts";

export function joined(binary: Binary, left: readonly Element[], right: readonly Element[]): readonly Element[] {
  const { op, matching } = binary;
  const keyOf = ({ labels }: Element) => labelKey(compared(matching, labels));
  if (op === "or") return [...left, ...absentIn(right, left, keyOf)];
  if (op === "unless") return absentIn(left, right, keyOf);
  if (op === "and") {
    const keys = new Set(right.map(keyOf));
    return left.filter((element) => keys.has(keyOf(element)));
  }
  return matching.group?.side === "right" ? oneToMany(binary, left, right) : manyToOne(binary, left, right);
}

function absentIn(some: readonly Element[], others: readonly Element[], keyOf: (element: Element) => string) {
  const keys = new Set(others.map(keyOf));
  return some.filter((element) => !keys.has(keyOf(element)));
}

function compared({ labels: how }: Matching, labels: Labels): Labels {
  return "on" in how ? only(labels, how.on) : without(labels, [...how.ignoring, nameLabel]);
}

function manyToOne(binary: Binary, many: readonly Element[], one: readonly Element[]): readonly Element[] {
  return meet(binary, { many, one, side: "right", compute: (m, o) => combine(binary, m.value, o.value) });
}

function oneToMany(binary: Binary, one: readonly Element[], many: readonly Element[]): readonly Element[] {
  return meet(binary, { many, one, side: "left", compute: (m, o) => combine(binary, o.value, m.value) });
}

interface Meeting {
  readonly many: readonly Element[];
  readonly one: readonly Element[];
  /** The side with one element per group. */
  readonly side: "left" | "right";
  readonly compute: (many: Element, one: Element) => number | undefined;
}

function meet(binary: Binary, { many, one, side, compute }: Meeting): readonly Element[] {
  const { matching } = binary;
  const partners = partnersByKey(matching, one, side);
  const seen = new Set<string>();
  return many.flatMap((element) => {
    const key = labelKey(compared(matching, element.labels));
    const partner = partners.get(key);
    if (partner === undefined) return [];
    const value = compute(element, partner);
    if (value === undefined) return [];
    const labels = resultLabels(binary, element.labels, partner.labels);
    const identity = matching.group === undefined ? key : labelKey(labels);
    if (seen.has(identity)) throw tooMany(matching);
    seen.add(identity);
    return [{ labels, value }];
  });
}

function partnersByKey(matching: Matching, one: readonly Element[], side: "left" | "right"): ReadonlyMap<string, Element> {
  const partners = new Map<string, Element>();
  for (const element of one) {
    const group = compared(matching, element.labels);
    const known = partners.get(labelKey(group));
    if (known !== undefined) {
      const both = [element, known].map(({ labels }) => showLabels(labels)).join(", ");
      const message =
        `found duplicate series for the match group ${showLabels(group)} on the ${side} hand-side of the operation: [${both}];` +
        "many-to-many matching not allowed: matching labels must be unique on one side";
      throw new QueryError("execution", message);
    }
    partners.set(labelKey(group), element);
  }
  return partners;
}

function tooMany({ group }: Matching): QueryError {
  const message =
    group === undefined
      ? "multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)"
      : "multiple matches for labels: grouping labels must ensure unique matches";
  return new QueryError("execution", message);
}

/** The labels of the "many" side; in one-to-one matching, the compared labels. */
function resultLabels(binary: Binary, many: Labels, one: Labels): Labels {
  const { labels: how, group } = binary.matching;
  const kept = losesName(binary) ? withoutName(many) : many;
  if (group !== undefined) return { ...without(kept, group.include), ...only(one, group.include) };
  return "on" in how ? only(kept, how.on) : without(kept, how.ignoring);
}

// Binary operators on numbers and vectors. An element for which a comparison is false is dropped (or is 0, with `bool`).

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

/** The element after an operation; undefined if it is dropped. `kept` is the value that is kept. */
export function combine({ op, bool }: Binary, a: number, b: number, kept = a): number | undefined {
  const compare = comparison[op];
  if (compare === undefined) return arithmetic[op]?.(a, b);
  if (bool) return compare(a, b) ? 1 : 0;
  return compare(a, b) ? kept : undefined;
}

/** Whether the operation drops the metric name. */
function losesName({ op, bool }: Binary): boolean {
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
