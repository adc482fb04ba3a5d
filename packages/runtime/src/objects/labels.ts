// Label selectors, in their two spellings: the text that `kubectl -l` and list requests use ("app=web,tier in (a,b)"),
// and the LabelSelector object of specs. Both become a list of requirements, all of which must hold.
//
// Mind the absent label: `tier!=a` and `tier notin (a)` match objects that have no tier at all. And mind the absent
// selector: an empty one matches everything, while a missing one means "nothing" in most specs; that is for the caller
// to decide, hence nothing here takes undefined.
import type { LabelSelector } from "./kinds/common.ts";
import { SelectorError } from "./selector-error.ts";
import { checked, parseSelector } from "./selector-parser.ts";

export interface Requirement {
  readonly key: string;
  /** Gt and Lt exist in the text form only; they compare whole numbers. */
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt";
  readonly values: readonly string[];
}

/** A selector in any of its forms. Parse it once if it is used often. */
export type Selector = string | LabelSelector | readonly Requirement[];

type Labels = Readonly<Record<string, string>> | undefined;

/** The requirements of a selector. Throws a SelectorError if the API server would refuse it. */
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
 * Whether labels meet all requirements of a selector.
 *
 *     matches("app=web,!canary", pod.metadata.labels)
 */
export function matches(selector: Selector, labels: Labels): boolean {
  return requirementsOf(selector).every((requirement) => meets(requirement, labels ?? {}));
}

/** A selector as text, for the `labelSelector` of a list or a watch. */
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

/** BigInt takes no plus sign. */
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

export { parseSelector, SelectorError };
