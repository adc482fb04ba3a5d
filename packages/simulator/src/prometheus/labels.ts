// Label sets: what a series is called. A label that is empty is a label that is not there.
import type { Labels } from "./exposition.ts";

export const nameLabel = "__name__";

/** Without empty ones, in the order of their names. */
export function labelSet(labels: Labels): Labels {
  const entries = Object.entries(labels).filter(([, value]) => value !== "");
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The same for the same labels; and in the order in which Prometheus sorts series: label by label, name before value. */
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

/** As messages show them: {job="cadvisor", pod="web"}. */
export function showLabels(labels: Labels): string {
  const pairs = Object.entries(labelSet(labels)).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return `{${pairs.join(", ")}}`;
}
