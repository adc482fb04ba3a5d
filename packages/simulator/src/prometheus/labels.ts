// Label sets, which identify series. An empty label is the same as a missing one.
import type { Labels } from "./exposition.ts";

export const nameLabel = "__name__";

/** Without empty labels, sorted by name. */
export function labelSet(labels: Labels): Labels {
  const entries = Object.entries(labels).filter(([, value]) => value !== "");
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Equal for equal labels, and ordered as Prometheus sorts series: label by label, name before value. */
export function labelKey(labels: Labels): string {
  return Object.entries(labelSet(labels))
    .map(([name, value]) => `${name}\0${value}\x01`)
    .join("");
}

export function withoutName({ [nameLabel]: _, ...labels }: Labels): Labels {
  return labels;
}

export function only(labels: Labels, names: readonly string[]): Labels {
  return Object.fromEntries(Object.entries(labels).filter(([name]) => names.includes(name)));
}

export function without(labels: Labels, names: readonly string[]): Labels {
  return Object.fromEntries(Object.entries(labels).filter(([name]) => !names.includes(name)));
}

/** As in messages: {job="cadvisor", pod="web"}. */
export function showLabels(labels: Labels): string {
  const pairs = Object.entries(labelSet(labels)).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return `{${pairs.join(", ")}}`;
}

// Label matchers: {pod="web", container!="", namespace=~"team-.+"}.

export interface Matcher {
  readonly label: string;
  readonly op: "=" | "!=" | "=~" | "!~";
  readonly value: string;
  readonly pattern?: RegExp;
}

/** @throws SyntaxError if the value must be a regular expression and is not */
export function matcher(label: string, op: Matcher["op"], value: string): Matcher {
  return op === "=" || op === "!=" ? { label, op, value } : { label, op, value, pattern: wholly(value) };
}

/** A missing label equals an empty one. */
export function matches({ label, op, value, pattern }: Matcher, labels: Labels): boolean {
  const found = labels[label] ?? "";
  const fits = pattern === undefined ? found === value : pattern.test(found);
  return op === "=" || op === "=~" ? fits : !fits;
}

/** Whether the matcher matches a missing label. A selector with only such matchers would select everything. */
export function matchesNothingness(matcher: Matcher): boolean {
  return matches(matcher, {});
}

/** Prometheus anchors regular expressions at both ends. Go's syntax differs slightly; the common part has the same meaning. */
export function wholly(expression: string): RegExp {
  const [, insensitive, rest = expression] = /^\(\?(i)\)(.*)$/s.exec(expression) ?? [];
  return new RegExp(`^(?:${rest})$`, insensitive === undefined ? "s" : "si");
}
