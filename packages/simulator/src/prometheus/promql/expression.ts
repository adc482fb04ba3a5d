// A query, understood: a small tree of what is to be computed. parse.ts makes it from text, evaluate.ts computes it.
import type { Matcher } from "../matcher.ts";

/** What an expression is worth. */
export type ValueType = "scalar" | "vector" | "matrix" | "string";

export type Expression =
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "string"; readonly value: string }
  | Selector
  | { readonly kind: "range"; readonly selector: Selector; readonly rangeMs: number }
  | Aggregation
  | Call
  | Binary
  | { readonly kind: "negation"; readonly of: Expression };

export interface Selector {
  readonly kind: "selector";
  readonly matchers: readonly Matcher[];
  readonly offsetMs: number;
}

export interface Aggregation {
  readonly kind: "aggregation";
  readonly op: string;
  readonly of: Expression;
  /** Groups by these labels, or by all but these. */
  readonly grouping: { readonly by: readonly string[] } | { readonly without: readonly string[] };
}

export interface Call {
  readonly kind: "call";
  readonly name: string;
  readonly args: readonly Expression[];
}

export interface Binary {
  readonly kind: "binary";
  readonly op: string;
  readonly left: Expression;
  readonly right: Expression;
  /** `bool`: a comparison answers with 0 or 1 instead of leaving things out. */
  readonly bool: boolean;
  readonly matching: Matching;
}

/** Which labels must agree for two series to meet. */
export interface Matching {
  /** These labels, or all but these. */
  readonly labels: { readonly on: readonly string[] } | { readonly ignoring: readonly string[] };
  /** On which side several may meet one; their labels are kept, and these are taken from the one. */
  readonly group?: { readonly side: "left" | "right"; readonly include: readonly string[] };
}

export const typeOf = (expression: Expression): ValueType => {
  switch (expression.kind) {
    case "number":
      return "scalar";
    case "string":
      return "string";
    case "range":
      return "matrix";
    case "negation":
      return typeOf(expression.of);
    case "binary":
      return typeOf(expression.left) === "scalar" && typeOf(expression.right) === "scalar" ? "scalar" : "vector";
    case "call":
      return scalarFunctions.has(expression.name) ? "scalar" : "vector";
    default:
      return "vector";
  }
};

const scalarFunctions = new Set(["time", "scalar", "pi"]);

/** As messages call them. */
export const typeNames: Readonly<Record<ValueType, string>> = {
  scalar: "scalar",
  vector: "instant vector",
  matrix: "range vector",
  string: "string",
};
