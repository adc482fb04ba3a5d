// What expressions are worth while they are computed.
import type { Labels } from "../exposition.ts";
import { labelKey } from "../labels.ts";
import type { Matcher } from "../matcher.ts";
import type { Point, Series } from "../series-store.ts";
import { QueryError } from "./errors.ts";

/** One element of an instant vector. */
export interface Element {
  readonly labels: Labels;
  readonly value: number;
}

/** A piece of a series. */
export interface Stretch {
  readonly labels: Labels;
  readonly points: readonly Point[];
}

export type Value =
  | { readonly type: "scalar"; readonly value: number }
  | { readonly type: "string"; readonly value: string }
  | { readonly type: "vector"; readonly elements: readonly Element[] }
  | { readonly type: "matrix"; readonly stretches: readonly Stretch[]; readonly window: Window };

/** Which time a range covers, both ends included; in milliseconds since 1970. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** When, and over what, an expression is computed. */
export interface Moment {
  /** Milliseconds since 1970. */
  readonly time: number;
  /** How old the last sample of a series may be. */
  readonly lookBackMs: number;
  readonly select: (matchers: readonly Matcher[]) => readonly Series[];
}

export function vector(elements: readonly Element[]): Value {
  return { type: "vector", elements };
}

/** @throws QueryError: losing labels can make two series the same, and then nobody knows which is meant */
export function distinct(elements: readonly Element[]): readonly Element[] {
  const keys = new Set(elements.map(({ labels }) => labelKey(labels)));
  if (keys.size < elements.length) throw new QueryError("execution", "vector cannot contain metrics with the same labelset");
  return elements;
}
