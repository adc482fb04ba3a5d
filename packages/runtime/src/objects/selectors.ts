// Label selectors, as text (`kubectl -l` and list requests: "app=web,tier in (a,b)") and as the LabelSelector object of
// specs. Both become a list of requirements, all of which must match.
//
// `tier!=a` and `tier notin (a)` also match objects without the label `tier`. An empty selector matches everything, while
// a missing one matches nothing in most specs; callers decide that case, so no function here accepts undefined.
import { ownValue } from "./diff.ts";
import type { LabelSelector } from "./kinds/kind.ts";
import { isLabelValue, isQualifiedName } from "./names.ts";
import { oneLine } from "./untrusted-text.ts";

export interface Requirement {
  readonly key: string;
  /** Gt and Lt exist only in the text form. They compare integers. */
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt";
  readonly values: readonly string[];
}

/** A selector in any form. Parse it once if you use it often. */
export type Selector = string | LabelSelector | readonly Requirement[];

type Labels = Readonly<Record<string, string>> | undefined;

/** Parses a selector. Throws a SelectorError if the API server would reject it. */
export function requirementsOf(selector: Selector): readonly Requirement[] {
  if (typeof selector === "string") return parseSelector(selector);
  if (!("matchLabels" in selector || "matchExpressions" in selector)) return Array.isArray(selector) ? selector : [];
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return [
    ...Object.entries(matchLabels).map(([key, value]) => checked({ key, operator: "In", values: [value] })),
    ...matchExpressions.map(({ key, operator, values = [] }) => checked({ key, operator, values })),
  ];
}

/**
 * Whether the labels match all requirements of the selector.
 *
 *     matches("app=web,!canary", pod.metadata.labels)
 */
export function matches(selector: Selector, labels: Labels): boolean {
  return requirementsOf(selector).every((requirement) => meets(requirement, labels ?? {}));
}

/** Formats a selector as the `labelSelector` parameter of a list or watch. */
export function formatSelector(selector: Selector): string {
  return requirementsOf(selector).map(formatRequirement).join(",");
}

function meets({ key, operator, values }: Requirement, labels: Readonly<Record<string, string>>): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
    case "Lt":
      return compares(value, operator, values[0]);
  }
}

function compares(value: string | undefined, operator: "Gt" | "Lt", bound: string | undefined): boolean {
  if (value === undefined || bound === undefined || !/^[+-]?\d+$/.test(value)) return false;
  return operator === "Gt"
    ? BigInt(unsigned(value)) > BigInt(unsigned(bound))
    : BigInt(unsigned(value)) < BigInt(unsigned(bound));
}

/** BigInt does not accept a plus sign. */
function unsigned(integer: string): string {
  return integer.replace(/^\+/, "");
}

function formatRequirement({ key, operator, values }: Requirement): string {
  switch (operator) {
    case "In":
      return values.length === 1 ? `${key}=${values[0]}` : `${key} in (${values.join(",")})`;
    case "NotIn":
      return values.length === 1 ? `${key}!=${values[0]}` : `${key} notin (${values.join(",")})`;
    case "Exists":
      return key;
    case "DoesNotExist":
      return `!${key}`;
    case "Gt":
      return `${key}>${values[0]}`;
    case "Lt":
      return `${key}<${values[0]}`;
  }
}

// The grammar of the text form:
//
//   selector     = [ requirement { "," requirement } ]
//   requirement  = [ "!" ] key  |  key ( "=" | "==" | "!=" | "<" | ">" ) [ value ]  |  key ( "in" | "notin" ) values
//   values       = "(" [ value ] { "," [ value ] } ")"
//
// An omitted value is the empty string. "in" and "notin" are also valid keys and values.

const token = /\s*(==|!=|[=!<>(),]|[^\s=!<>(),]+)|\s+$/gy;
const word = /^[^\s=!<>(),]+$/;
const operators: Readonly<Record<string, Requirement["operator"]>> = {
  "=": "In",
  "==": "In",
  in: "In",
  "!=": "NotIn",
  notin: "NotIn",
  ">": "Gt",
  "<": "Lt",
};

/** Parses a selector in text form. */
export function parseSelector(text: string): readonly Requirement[] {
  const tokens = Array.from(text.matchAll(token), (match) => match[1] ?? "").filter((each) => each !== "");
  const reader = new Reader(text, tokens);
  const requirements: Requirement[] = [];
  while (!reader.atEnd) {
    if (requirements.length > 0) reader.expect(",");
    requirements.push(parseRequirement(reader));
  }
  return requirements;
}

/** Returns the requirement after validating its key, operator and values. */
export function checked(requirement: Requirement): Requirement {
  const { key, operator, values } = requirement;
  if (!isQualifiedName(key)) throw new SelectorError(`label selector: expected a label key, found '${key}'`);
  const invalid = values.find((value) => !isLabelValue(value));
  if (invalid !== undefined) throw new SelectorError(`label selector: expected a value for ${key}, found '${invalid}'`);
  const problem = problemWithValues(operator, values);
  if (problem !== undefined)
    throw new SelectorError(`label selector: expected ${problem} for ${key}, found '${values.join(",")}'`);
  return requirement;
}

function problemWithValues(operator: string, values: readonly string[]): string | undefined {
  switch (operator) {
    case "In":
    case "NotIn":
      return values.length > 0 ? undefined : "at least one value";
    case "Exists":
    case "DoesNotExist":
      return values.length === 0 ? undefined : "no values";
    case "Gt":
    case "Lt":
      return values.length === 1 && /^-?\d+$/.test(values[0] ?? "") ? undefined : "one whole number";
    default:
      return `an operator among In, NotIn, Exists and DoesNotExist instead of ${operator}`;
  }
}

function parseRequirement(reader: Reader): Requirement {
  if (reader.skip("!")) return checked({ key: reader.word("a label key"), operator: "DoesNotExist", values: [] });
  const key = reader.word("a label key");
  if (reader.atEnd || reader.next === ",") return checked({ key, operator: "Exists", values: [] });
  const sign = reader.take();
  const operator = ownValue(operators, sign);
  if (operator === undefined) throw reader.error(`an operator after ${key}`, sign);
  const values = sign === "in" || sign === "notin" ? parseValues(reader) : [parseValue(reader)];
  return checked({ key, operator, values });
}

function parseValue(reader: Reader): string {
  return reader.atEnd || reader.next === "," ? "" : reader.word("a value");
}

function parseValues(reader: Reader): readonly string[] {
  reader.expect("(");
  const values = new Set<string>();
  do values.add(reader.next === "," || reader.next === ")" ? "" : reader.word("a value"));
  while (reader.skip(","));
  reader.expect(")");
  return [...values].sort();
}

class Reader {
  readonly #text: string;
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(text: string, tokens: readonly string[]) {
    this.#text = text;
    this.#tokens = tokens;
  }

  get atEnd(): boolean {
    return this.#at >= this.#tokens.length;
  }

  get next(): string {
    return this.#tokens[this.#at] ?? "";
  }

  take(): string {
    const { next } = this;
    this.#at += 1;
    return next;
  }

  skip(sign: string): boolean {
    if (this.next !== sign) return false;
    this.#at += 1;
    return true;
  }

  expect(sign: string): void {
    if (!this.skip(sign)) throw this.error(`'${sign}'`, this.next);
  }

  word(what: string): string {
    if (!word.test(this.next)) throw this.error(what, this.next);
    return this.take();
  }

  error(expected: string, found: string): SelectorError {
    return new SelectorError(
      `label selector '${this.#text}': expected ${expected}, found ${found === "" ? "the end" : `'${found}'`}`,
    );
  }
}

/** The API server would reject this label selector. */
export class SelectorError extends Error {
  readonly code = "SELECTOR_INVALID";
  override readonly name = "SelectorError";

  constructor(message: string) {
    super(oneLine(message, 400));
  }
}
