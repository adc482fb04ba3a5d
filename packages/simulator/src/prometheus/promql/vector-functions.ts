// Functions of an instant vector.
import type { Labels } from "../exposition.ts";
import { labelSet, nameLabel, withoutName } from "../labels.ts";
import { wholly } from "../matcher.ts";
import { QueryError } from "./errors.ts";
import type { Expression, Selector } from "./expression.ts";
import { distinct, type Element } from "./values.ts";

export type NumberFunction = (value: number, ...args: readonly number[]) => number;

/** Those that treat each element by itself, and lose its name. */
export const numberFunctions: Readonly<Record<string, NumberFunction>> = {
  abs: Math.abs,
  ceil: Math.ceil,
  floor: Math.floor,
  clamp_max: (value, most = Number.NaN) => Math.min(value, most),
  clamp_min: (value, least = Number.NaN) => Math.max(value, least),
};

/** 1 if there is nothing, with the labels that the selector asked for. */
export function absent(elements: readonly Element[], argument: Expression): readonly Element[] {
  return elements.length > 0 ? [] : [{ labels: argument.kind === "selector" ? asked(argument) : {}, value: 1 }];
}

function asked({ matchers }: Selector): Labels {
  const exact = matchers.filter(({ op, label }) => op === "=" && label !== nameLabel);
  const once = exact.filter(({ label }) => matchers.filter((other) => other.label === label).length === 1);
  return labelSet(Object.fromEntries(once.map(({ label, value }) => [label, value])));
}

export function sorted(elements: readonly Element[], direction: 1 | -1): readonly Element[] {
  const rank = (value: number) => (Number.isNaN(value) ? Number.POSITIVE_INFINITY : value * direction);
  return elements.toSorted((a, b) => (rank(a.value) === rank(b.value) ? 0 : rank(a.value) - rank(b.value)));
}

/** label_replace(v, destination, "$1", source, "(.*)"): where the source matches, the destination is set. */
export function labelReplace(elements: readonly Element[], words: readonly string[]): readonly Element[] {
  const [destination = "", replacement = "", source = "", expression = ""] = words;
  if (!/^[a-zA-Z_]\w*$/.test(destination))
    throw new QueryError("execution", `invalid destination label name in label_replace(): ${destination}`);
  const pattern = expressionIn(expression);
  return distinct(
    elements.map(({ labels, value }) => {
      const found = pattern.exec(labels[source] ?? "");
      if (found === null) return { labels, value };
      return { labels: labelSet({ ...labels, [destination]: expanded(replacement, found) }), value };
    }),
  );
}

function expressionIn(text: string): RegExp {
  try {
    return wholly(text);
  } catch {
    throw new QueryError("execution", `invalid regular expression in label_replace(): ${text}`);
  }
}

/** $1, ${1} and ${name}, as Go expands them: "$1x" is the group called "1x", which there is not. */
function expanded(replacement: string, found: RegExpExecArray): string {
  return replacement.replace(/\$(?:\$|(\w+)|\{(\w+)\})/g, (whole, bare?: string, braced?: string) => {
    if (whole === "$$") return "$";
    const name = bare ?? braced ?? "";
    return /^\d+$/.test(name) ? (found[Number(name)] ?? "") : (found.groups?.[name] ?? "");
  });
}

export function nameless(elements: readonly Element[]): readonly Element[] {
  return distinct(elements.map(({ labels, value }) => ({ labels: withoutName(labels), value })));
}
