// Which series are meant: {pod="web", container!="", namespace=~"team-.+"}.
import type { Labels } from "./exposition.ts";

export interface Matcher {
  readonly label: string;
  readonly op: "=" | "!=" | "=~" | "!~";
  readonly value: string;
  readonly pattern?: RegExp;
}

/** @throws SyntaxError if the value is no regular expression and should be one */
export function matcher(label: string, op: Matcher["op"], value: string): Matcher {
  return op === "=" || op === "!=" ? { label, op, value } : { label, op, value, pattern: wholly(value) };
}

/** A label that is not there is as good as an empty one. */
export function matches({ label, op, value, pattern }: Matcher, labels: Labels): boolean {
  const found = labels[label] ?? "";
  const fits = pattern === undefined ? found === value : pattern.test(found);
  return op === "=" || op === "=~" ? fits : !fits;
}

/** Whether it would match what has no such label. A selector of only such matchers would select everything. */
export function matchesNothingness(matcher: Matcher): boolean {
  return matches(matcher, {});
}

/** Prometheus anchors its expressions at both ends. Go's are a little different from ours; what both know is meant the same. */
export function wholly(expression: string): RegExp {
  const [, insensitive, rest = expression] = /^\(\?(i)\)(.*)$/s.exec(expression) ?? [];
  return new RegExp(`^(?:${rest})$`, insensitive === undefined ? "s" : "si");
}
