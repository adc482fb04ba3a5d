// Many series into few: sum by (pod) (…). Labels that are not grouped by are lost.
import type { Labels } from "../exposition.ts";
import { labelKey, nameLabel, only, without } from "../labels.ts";
import type { Aggregation } from "./expression.ts";
import type { Element } from "./values.ts";

const operations: Readonly<Record<string, (values: readonly number[]) => number>> = {
  sum: (values) => values.reduce((sum, value) => sum + value, 0),
  avg: (values) => values.reduce((sum, value) => sum + value, 0) / values.length,
  count: (values) => values.length,
  group: () => 1,
  max: (values) => values.reduce((max, value) => (value > max || Number.isNaN(max) ? value : max)),
  min: (values) => values.reduce((min, value) => (value < min || Number.isNaN(min) ? value : min)),
};

export function aggregate({ op, grouping }: Aggregation, elements: readonly Element[]): readonly Element[] {
  const kept = (labels: Labels) =>
    "by" in grouping ? only(labels, grouping.by) : without(labels, [...grouping.without, nameLabel]);
  const groups = Map.groupBy(elements, ({ labels }) => labelKey(kept(labels)));
  const compute = operations[op];
  return [...groups.values()].map((group) => ({
    labels: kept(group[0]?.labels ?? {}),
    value: compute?.(group.map(({ value }) => value)) ?? Number.NaN,
  }));
}
