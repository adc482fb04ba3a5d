// The one question. A range selector, asked at one moment, answers with the raw samples of the last two minutes and the time at
// which each was measured: use, age and trend at once, for all pods. An instant selector would hide how old a value is (up to
// five minutes), and one question per pod would be a question per pod.
//
// Which metric, and under which labels, is found out by asking: clusters differ, and an answer that is empty looks the same as one
// to the wrong question.
//
//     1. container_memory_working_set_bytes{container!="",container!="POD",namespace="shop"}[2m]
//     2. the same with container_memory_usage_bytes beside it: where some AppMonitor wants it, or 1. finds nothing
//     3. the same with pod_name and container_name, as before Kubernetes 1.16: now and then while 2. finds nothing
import type { Metric } from "../../model/policy.ts";

/** How far back is asked. Two samples must fit at a scrape interval of a minute, or there would never be a trend. */
export const windowMs = 120_000;

export const metricNames: Readonly<Record<Metric, string>> = {
  WorkingSet: "container_memory_working_set_bytes",
  Usage: "container_memory_usage_bytes",
};

export interface Question {
  readonly metrics: readonly Metric[];
  /** Which labels name pod and container. */
  readonly labels: "new" | "old";
  /** "all", or those that have pods to look after. */
  readonly namespaces: readonly string[] | "all";
}

/** More namespaces than this are not worth a list. */
const mostNamespaces = 100;
/** While nothing is found, every so many questions one is asked with the labels of old. */
const oldLabelsEvery = 5;

export interface Experience {
  /** Some AppMonitor wants the usage. */
  readonly wantsUsage: boolean;
  /** Namespaces that have pods to look after. */
  readonly namespaces: readonly string[];
  /** What found something the last time something was found. */
  readonly worked: Pick<Question, "metrics" | "labels"> | undefined;
  /** How many questions in a row found nothing. */
  readonly empty: number;
}

/** What to ask next. */
export function nextQuestion({ wantsUsage, namespaces, worked, empty }: Experience): Question {
  const asked = namespaces.length > mostNamespaces ? "all" : [...namespaces].sort();
  const both = wantsUsage || empty > 0 || worked?.metrics.includes("Usage") === true;
  // What once worked is left only after a long silence: pods come and go, labels do not.
  const isSearching = empty > (worked === undefined ? 0 : 4 * oldLabelsEvery);
  const other = worked?.labels === "old" ? "new" : "old";
  const labels = isSearching && empty % oldLabelsEvery === oldLabelsEvery - 1 ? other : (worked?.labels ?? "new");
  return { metrics: both ? ["WorkingSet", "Usage"] : ["WorkingSet"], labels, namespaces: asked };
}

/** In PromQL. Nothing in it comes from a namespaced object but the names of namespaces, and they are escaped. */
export function promQl({ metrics, labels, namespaces }: Question): string {
  const names = metrics.map((metric) => metricNames[metric]);
  const container = containerLabel[labels];
  const matchers = [
    ...(names.length > 1 ? [`__name__=~${quoted(names.join("|"))}`] : []),
    `${container}!=""`,
    `${container}!="POD"`,
    ...namespaceMatcher(namespaces),
  ];
  return `${names.length > 1 ? "" : (names[0] ?? "")}{${matchers.join(",")}}[${windowMs / 1000}s]`;
}

export const podLabel = { new: "pod", old: "pod_name" } as const;
export const containerLabel = { new: "container", old: "container_name" } as const;

function namespaceMatcher(namespaces: Question["namespaces"]): readonly string[] {
  if (namespaces === "all") return [];
  const [only = "", ...others] = namespaces;
  // None: a question that finds nothing, and still tells whether there is anybody to ask.
  if (others.length === 0) return [`namespace=${quoted(only)}`];
  return [`namespace=~${quoted(namespaces.map(escaped).join("|"))}`];
}

/** A PromQL string; its escapes are those of Go, which knows all that JSON writes. */
function quoted(text: string): string {
  return JSON.stringify(text);
}

/** A text that a regular expression takes for itself. */
function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
