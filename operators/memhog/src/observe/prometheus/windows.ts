// The peak of a container over a day or a week, for AppMonitors with spec.shrink. The answer must survive restarts of the operator, so
// it comes from Prometheus and not from memory. Asked once an hour: a container is lowered at most once a day.
//
//     max by (namespace, pod, container) (max_over_time(container_memory_working_set_bytes{…}[86400s]))
//     max by (namespace, pod, container) (count_over_time(container_memory_working_set_bytes{…}[86400s]))
//
// The second answer tells how much of the window is covered (decide/shrink.ts). Both take the maximum over the series of a container: a
// second Prometheus replica does not double the coverage, and after a restart, which begins a new series, the window is not covered
// until the new container has run for that long. A warning or an error in either answer discards both: partial data never lowers (M4).
import { bytes } from "../../model/bytes.ts";
import type { Metric, ObservedWindow } from "../../model/observed-app.ts";
import { type AskOptions, type MemoryQuery, selectorOf, textIn, vectorOf } from "./query.ts";
import type { ContainerKey } from "./samples.ts";

export interface WindowQuery extends Pick<MemoryQuery, "namespaces" | "matchers"> {
  readonly metric: Metric;
  readonly lengthMs: number;
}

/** By `windowKey`. */
export type Windows = ReadonlyMap<string, ObservedWindow>;

export const windowKey = ({ namespace, pod, container }: ContainerKey): string => `${namespace}/${pod}/${container}`;

/** Undefined if an answer is not complete. @throws PrometheusError, or the signal's reason */
export async function askWindows(query: WindowQuery, options: AskOptions): Promise<Windows | undefined> {
  const [peaks, counts] = [await ask("max_over_time", query, options), await ask("count_over_time", query, options)];
  if (peaks === undefined || counts === undefined) return undefined;
  const found = new Map<string, ObservedWindow>();
  for (const [key, peak] of peaks) {
    const samples = counts.get(key);
    if (samples !== undefined) found.set(key, { peak: bytes(Math.ceil(peak)), samples, lengthMs: query.lengthMs });
  }
  return found;
}

/** The PromQL text. */
export function windowPromQl(over: "max_over_time" | "count_over_time", { metric, lengthMs, ...scope }: WindowQuery): string {
  const selector = selectorOf({ metrics: [metric], labels: "new", ...scope });
  return `max by (namespace, pod, container) (${over}(${selector}[${lengthMs / 1000}s]))`;
}

async function ask(
  over: Parameters<typeof windowPromQl>[0],
  query: WindowQuery,
  options: AskOptions,
): Promise<ReadonlyMap<string, number> | undefined> {
  const found = new Map<string, number>();
  const { warnings } = await vectorOf(windowPromQl(over, query), options, (metric, value) => {
    const [namespace, pod, container] = [textIn(metric.namespace), textIn(metric.pod), textIn(metric.container)];
    if (namespace === undefined || pod === undefined || container === undefined) return;
    const key = { namespace, pod, container };
    if (Number.isSafeInteger(Math.ceil(value)) && value >= 0 && options.isWanted(key)) found.set(windowKey(key), value);
  });
  return warnings.length === 0 ? found : undefined;
}
