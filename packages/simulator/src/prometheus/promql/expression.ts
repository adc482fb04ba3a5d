// The syntax tree of a query: parse.ts creates it, evaluate.ts computes it.
import type { Matcher } from "../labels.ts";

/** The type of a value. */
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
  /** `bool`: a comparison returns 0 or 1 instead of dropping elements. */
  readonly bool: boolean;
  readonly matching: Matching;
}

/** The labels that must be equal for two series to match. */
export interface Matching {
  /** These labels, or all but these. */
  readonly labels: { readonly on: readonly string[] } | { readonly ignoring: readonly string[] };
  /** The "many" side of group_left or group_right, and the labels copied from the "one" side. */
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

/** Names for messages. */
export const typeNames: Readonly<Record<ValueType, string>> = {
  scalar: "scalar",
  vector: "instant vector",
  matrix: "range vector",
  string: "string",
};

// Query errors: `bad_data` becomes 400, `execution` and other engine errors 422.

export class QueryError extends Error {
  readonly code: string = "SIMULATOR_QUERY";
  override readonly name: string = "QueryError";
  readonly errorType: "bad_data" | "execution";
  constructor(errorType: "bad_data" | "execution", message: string) {
    super(message);
    this.errorType = errorType;
  }
}

/** A syntax or type error. `at`: the position in the query, counted from 0. */
export class ParseError extends QueryError {
  override readonly code = "SIMULATOR_QUERY_PARSE";
  constructor(query: string, at: number, message: string) {
    const before = query.slice(0, at).split("\n");
    const column = (before.at(-1)?.length ?? 0) + 1;
    super("bad_data", `${before.length}:${column}: parse error: ${message}`);
  }
}

/** Valid PromQL that the simulator does not support. */
export class NotImplementedError extends QueryError {
  override readonly code = "SIMULATOR_QUERY_NOT_IMPLEMENTED";
  constructor(what: string) {
    super("execution", `not implemented in the simulator: ${what}`);
  }
}

// Number, duration and string literals of PromQL.

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  y: 31_536_000_000,
};

/** "1h30m", "5m", "100ms" in milliseconds; undefined if the text is not a duration. */
export function parsePromDuration(text: string): number | undefined {
  if (text === "0") return 0;
  if (!/^(\d+(ms|[smhdwy]))+$/.test(text)) return undefined;
  return [...text.matchAll(/(\d+)(ms|[smhdwy])/g)].reduce((sum, [, n, unit = ""]) => sum + Number(n) * (unitMs[unit] ?? 0), 0);
}

/** A number, or a duration in seconds, which newer versions accept. */
export function parseNumber(text: string): number {
  const plain = text.replaceAll("_", "");
  if (/^[+-]?inf$/i.test(plain)) return plain.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (/^[+-]?nan$/i.test(plain)) return Number.NaN;
  const [, sign = "", rest = ""] = /^([+-]?)\s*(.*)$/.exec(plain) ?? [];
  const duration = /^\d+(\.\d+)?$/.test(rest) ? undefined : parsePromDuration(rest);
  const value = duration === undefined ? Number(rest) : duration / 1_000;
  return sign === "-" ? -value : value;
}

const escapes: Readonly<Record<string, string>> = { a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };

/** "…" and '…' with Go's escapes, `…` without any; undefined if unterminated. */
export function parseString(text: string): string | undefined {
  const quote = text[0] ?? "";
  if (text.length < 2 || !text.endsWith(quote)) return undefined;
  const inside = text.slice(1, -1);
  if (quote === "`") return inside;
  return inside.replace(/\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{3}|.)/g, (_, code: string) => {
    if (/^[xuU]/.test(code)) return String.fromCodePoint(Number.parseInt(code.slice(1), 16));
    if (/^[0-7]{3}$/.test(code)) return String.fromCodePoint(Number.parseInt(code, 8));
    return escapes[code] ?? code;
  });
}
