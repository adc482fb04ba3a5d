// The text form of label selectors, as the API server reads it:
//
//   selector     = [ requirement { "," requirement } ]
//   requirement  = [ "!" ] key  |  key ( "=" | "==" | "!=" | "<" | ">" ) [ value ]  |  key ( "in" | "notin" ) values
//   values       = "(" [ value ] { "," [ value ] } ")"
//
// A value that is left out is the empty one. "in" and "notin" are words like any other where a key or a value stands.
import type { Requirement } from "./labels.ts";
import { isLabelValue, isQualifiedName } from "./names.ts";
import { SelectorError } from "./selector-error.ts";

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

/** The requirements of a selector in text form. */
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

/** The requirement itself, once key, operator and values are known to be valid. */
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
  const operator = operators[sign];
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
