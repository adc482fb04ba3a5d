// Queries Prometheus once per interval for all pods, keeps the samples, and enqueues every app after each response. While Prometheus
// is unavailable the interval grows up to a maximum. Old samples expire by age, so an outage never triggers a raise (M1).
//
//     const memory = new MemoryPoller({ transport: httpTransport({ address }), intervalMs: seconds(15) });
//     controller(AppMemory, { sources: [memory.source], … }, (ref, ctx) => … memory.samplesOf(…) … memory.metrics() …)
import { keyOf, type ObjectRef, type Source } from "@memhog/runtime";
import type { Clock } from "@memhog/runtime/concurrency";
import type { CacheReader, SourceContext } from "@memhog/runtime/controller";
import type { Metric, ObservedMetrics, ObservedWindow } from "../model/observed-app.ts";
import { appOf, appRef } from "./app-of.ts";
import { AppMonitorView, PodView } from "./kinds.ts";
import { policyOf } from "./monitors.ts";
import type { KeptPod } from "./pods.ts";
import {
  type AskOptions,
  ask,
  boundedNamespaces,
  type Matcher,
  type MemoryQuery,
  nextQuery,
  promQl,
  type QueryHistory,
  type QueryResult,
} from "./prometheus/query.ts";
import type { ContainerKey, Found, Life, SampleStore } from "./prometheus/samples.ts";
import type { PrometheusTransport } from "./prometheus/transport.ts";
import { PrometheusError, type PrometheusErrorCode } from "./prometheus/transport.ts";
import { askWindows, type WindowQuery, type Windows, windowKey } from "./prometheus/windows.ts";

export interface MemoryPollerOptions {
  readonly transport: PrometheusTransport;
  /** Milliseconds between two queries, at least 5 s: kubelets measure every 10 to 15 s. @default 15 s */
  readonly intervalMs?: number;
  /** Timeout of a query in milliseconds. @default 10 s */
  readonly timeoutMs?: number;
  /** Added to every query. @default none */
  readonly matchers?: readonly Matcher[];
  /** Pods in these namespaces are ignored. @default none */
  readonly isExcluded?: (namespace: string) => boolean;
  /** Called after every query. */
  readonly onQuery?: (report: QueryReport) => void;
}

export interface QueryReport {
  readonly outcome: "answered" | "partial" | PrometheusErrorCode;
  readonly durationMs: number;
  /** Series in the response. */
  readonly series: number;
  /** Samples that were kept. */
  readonly samples: number;
}

/** Older samples are ignored. With a scrape interval of one minute and a kubelet that measures every 15 s, samples are still fresh. */
const freshForMs = 90_000;
const leastIntervalMs = 5_000;
/** A new pod has samples after this time, even if targets are discovered slowly and scraped once per minute. */
export const graceMs = 180_000;
/** While Prometheus is unavailable, the interval is multiplied by at most this factor. */
const maxBackoffFactor = 4;
const jitter = 0.1;

/** Whether Prometheus returns samples of a running pod. "new": not yet, and for less than the grace period. */
export type Visibility = "seen" | "new" | "unseen";

export class MemoryPoller {
  readonly source: Source = { name: "memory", run: (context) => this.#run(context) };
  readonly #options: Required<Omit<MemoryPollerOptions, "onQuery">> & Pick<MemoryPollerOptions, "onQuery">;
  /** Undefined until the source runs. */
  #clock: Clock | undefined;
  #samples: SampleStore | undefined;
  #warning: string | undefined;
  /** On the monotonic clock; undefined while Prometheus answers. */
  #failing: { readonly since: number; readonly problem: string } | undefined;
  #failures = 0;
  #worked: QueryHistory["worked"];
  #empty = 0;
  /** The running pods that the last response has no samples of, by metric and pod UID. */
  #unseen: ReadonlyMap<string, Unseen> = new Map();
  #unseenRevision = 0;
  #lastQuery: LastQuery | undefined;
  readonly #windows = new WindowPoller();

  constructor({
    transport,
    intervalMs = 15_000,
    timeoutMs = 10_000,
    matchers = [],
    isExcluded = () => false,
    onQuery,
  }: MemoryPollerOptions) {
    const usual = { transport, intervalMs: Math.max(leastIntervalMs, intervalMs), timeoutMs, matchers, isExcluded };
    this.#options = { ...usual, ...(onQuery && { onQuery }) };
  }

  /** Whether Prometheus is available, and the error if it is not. */
  metrics(): ObservedMetrics {
    if (this.#failing !== undefined) {
      const unavailableForMs = this.#now() - this.#failing.since;
      return { available: false, unavailableForMs, problem: this.#failing.problem, freshForMs };
    }
    if (this.#samples === undefined) return { available: false, problem: "Prometheus has not been queried yet", freshForMs };
    return { available: true, ...(this.#warning !== undefined && { problem: this.#warning }), freshForMs };
  }

  /** The samples of the currently running container. */
  samplesOf(metric: Metric, key: ContainerKey, life: Life | undefined): Found {
    return this.#samples?.of(metric, key, life) ?? { samples: [], bad: 0 };
  }

  /** The peak of a container over a long time, if an AppMonitor asks for it and Prometheus answered in full. */
  windowOf(metric: Metric, key: ContainerKey, lengthMs: number): ObservedWindow | undefined {
    return this.#windows.of(metric, key, lengthMs);
  }

  /** Milliseconds since the newest sample was measured; undefined if there is none. */
  newestAgeMs(): number | undefined {
    return this.#samples?.newestAgeMs;
  }

  /**
   * A response without samples of our pods is a valid response: the wrong tenant, a label matcher that matches nothing, or cAdvisor is
   * not scraped. Nothing else would tell that memhog is blind (M6).
   */
  visibility(metric: Metric, uid: string): Visibility {
    const unseen = this.#unseen.get(unseenKey(metric, uid));
    if (unseen === undefined) return "seen";
    return this.#now() - unseen.since >= graceMs ? "unseen" : "new";
  }

  /** Changes when `visibility` may have changed. */
  unseenRevision(): number {
    return this.#unseenRevision;
  }

  /** The number of unseen pods by namespace. */
  unseenPods(): ReadonlyMap<string, number> {
    const now = this.#now();
    const unseen = [...this.#unseen.values()].filter(({ since }) => now - since >= graceMs);
    const byNamespace = Map.groupBy(unseen, ({ namespace }) => namespace);
    return new Map([...byNamespace].map(([namespace, pods]) => [namespace, new Set(pods.map(({ uid }) => uid)).size]));
  }

  /** The last query and what it returned, for `explain`. */
  lastQuery(): LastQuery | undefined {
    return this.#lastQuery;
  }

  /** Queries once. The source does this in a loop; `explain` calls it directly. */
  async poll({ cached, environment, signal }: Pick<SourceContext, "cached" | "environment" | "signal">): Promise<void> {
    const { clock } = environment;
    this.#clock = clock;
    const began = clock.monotonic();
    const { transport, timeoutMs, matchers } = this.#options;
    const scope = queryScope(cached, this.#options.isExcluded);
    const query = { ...nextQuery({ ...scope, worked: this.#worked, empty: this.#empty }), matchers };
    try {
      const result = await ask(query, { transport, clock, timeoutMs, signal, isWanted: wantedIn(cached) });
      this.#answered(result, query, scope.pods > 0);
      this.#lastQuery = { query: promQl(query), series: result.series, samples: result.samples.size };
      this.#lookFor(cached, scope.wantsUsage ? ["WorkingSet", "Usage"] : ["WorkingSet"]);
      this.#reportQuery(result.warnings.length > 0 ? "partial" : "answered", clock.monotonic() - began, result);
    } catch (error) {
      if (signal.aborted) throw error;
      this.#failed(error, clock);
      this.#reportQuery(error instanceof PrometheusError ? error.code : "PROMETHEUS_UNREACHABLE", clock.monotonic() - began);
      return;
    }
    await this.#windows.poll(cached, { transport, clock, timeoutMs, signal, matchers, isWanted: wantedIn(cached) });
  }

  async #run(context: SourceContext): Promise<void> {
    const { environment, log, signal, enqueue, cached } = context;
    while (!signal.aborted) {
      const began = environment.clock.monotonic();
      const before = this.metrics();
      await this.poll(context);
      const { available, problem } = this.metrics();
      const hasChanged = available !== before.available || this.#failures === 1;
      if (hasChanged && !available) log.warn({ problem }, "memory metrics are unavailable; raising only after OOM kills");
      if (hasChanged && available) log.info({}, "memory metrics are available");
      // Samples arrive every few seconds and must not immediately repeat what the API server has just rejected (A1).
      const reason = available ? "sampled" : "metrics unavailable";
      if (available || hasChanged) for (const ref of appsIn(cached)) enqueue(ref, reason, { respectBackoff: true });
      // Back off from the second consecutive failure on.
      const factor = Math.min(maxBackoffFactor, 2 ** Math.max(0, this.#failures - 1));
      const pause = this.#options.intervalMs * factor * (1 + jitter * (2 * environment.random() - 1));
      await environment.clock.sleep(Math.max(0, pause - (environment.clock.monotonic() - began)), signal).catch(() => {});
    }
  }

  #answered({ samples, series, warnings }: QueryResult, query: MemoryQuery, hasPods: boolean): void {
    this.#samples = samples;
    this.#failing = undefined;
    this.#failures = 0;
    this.#warning = warnings.length === 0 ? undefined : `Prometheus returned warnings: ${warnings.join("; ").slice(0, 500)}`;
    if (series > 0) this.#worked = { labels: query.labels, metrics: samples.has("WorkingSet") ? ["WorkingSet"] : query.metrics };
    this.#empty = series > 0 || !hasPods ? 0 : this.#empty + 1;
  }

  /** Pods stay unseen during an outage: it says nothing about them. */
  #lookFor(cached: CacheReader, metrics: readonly Metric[]): void {
    const before = this.#unseen;
    const since = this.#now();
    const expected = cached.list(PodView).filter(({ metadata, facts }) => {
      const excluded = this.#options.isExcluded(metadata.namespace ?? "");
      return facts.watched?.monitored === true && !facts.deleting && !excluded;
    });
    const unseen = metrics.flatMap((metric) =>
      expected.filter((pod) => this.#isUnseen(metric, pod)).map((pod) => [metric, pod] as const),
    );
    this.#unseen = new Map(
      unseen.map(([metric, { metadata }]) => {
        const key = unseenKey(metric, metadata.uid);
        return [key, before.get(key) ?? { since, uid: metadata.uid, namespace: metadata.namespace ?? "" }];
      }),
    );
    if (before.size > 0 || unseen.length > 0) this.#unseenRevision += 1;
  }

  /** A container that does not run has no samples. */
  #isUnseen(metric: Metric, { metadata: { namespace = "", name: pod }, facts: { watched } }: KeptPod): boolean {
    const running = watched?.containers.filter(({ life }) => life !== undefined) ?? [];
    const seen = running.some(
      ({ name, life }) => this.samplesOf(metric, { namespace, pod, container: name }, life).samples.length > 0,
    );
    return running.length > 0 && !seen;
  }

  #now(): number {
    return this.#clock?.monotonic() ?? 0;
  }

  #failed(error: unknown, clock: Clock): void {
    const problem = error instanceof Error ? error.message : String(error);
    this.#failing = { since: this.#failing?.since ?? clock.monotonic(), problem };
    this.#failures += 1;
  }

  #reportQuery(outcome: QueryReport["outcome"], durationMs: number, result?: QueryResult): void {
    this.#options.onQuery?.({ outcome, durationMs, series: result?.series ?? 0, samples: result?.samples.size ?? 0 });
  }
}

export interface LastQuery {
  /** As PromQL. */
  readonly query: string;
  readonly series: number;
  readonly samples: number;
}

interface Unseen {
  readonly uid: string;
  readonly namespace: string;
  /** Of the first response without samples of the pod, on the monotonic clock. */
  readonly since: number;
}

const unseenKey = (metric: Metric, uid: string) => `${metric}/${uid}`;

/** A container is lowered at most once a day, and the query is expensive. After an answer without values it is repeated sooner. */
const windowIntervalMs = { usual: 3_600_000, empty: 600_000 } as const;

/** Queries the windows that AppMonitors ask for. Failures are silent: nothing is lowered. */
class WindowPoller {
  readonly #found = new Map<string, { readonly at: number; readonly windows: Windows }>();

  of(metric: Metric, key: ContainerKey, lengthMs: number): ObservedWindow | undefined {
    return this.#found.get(`${metric}/${lengthMs}`)?.windows.get(windowKey(key));
  }

  async poll(cached: CacheReader, options: AskOptions & Pick<WindowQuery, "matchers">): Promise<void> {
    const { clock, signal } = options;
    const wanted = windowQueries(cached);
    for (const name of this.#found.keys()) if (!wanted.has(name)) this.#found.delete(name);
    for (const [name, query] of wanted) {
      const last = this.#found.get(name);
      const pause = last?.windows.size === 0 ? windowIntervalMs.empty : windowIntervalMs.usual;
      if (last !== undefined && clock.monotonic() - last.at < pause) continue;
      const windows = await askWindows({ ...query, ...(options.matchers && { matchers: options.matchers }) }, options).catch(
        () => {
          signal.throwIfAborted();
          return undefined;
        },
      );
      this.#found.set(name, { at: clock.monotonic(), windows: windows ?? new Map() });
    }
  }
}

/** One per metric and length, at most four: whoever creates AppMonitors cannot make memhog ask more (S3). */
function windowQueries(cached: CacheReader): ReadonlyMap<string, WindowQuery> {
  const queries = new Map<string, Omit<WindowQuery, "namespaces"> & { readonly namespaces: readonly string[] }>();
  for (const monitor of cached.list(AppMonitorView)) {
    const { metric, shrink } = policyOf(monitor);
    if (shrink === undefined) continue;
    const name = `${metric}/${shrink.windowMs}`;
    const namespaces = new Set([...(queries.get(name)?.namespaces ?? []), monitor.metadata.namespace ?? ""]);
    queries.set(name, { metric, lengthMs: shrink.windowMs, namespaces: [...namespaces] });
  }
  return new Map([...queries].map(([name, query]) => [name, { ...query, namespaces: boundedNamespaces(query.namespaces) }]));
}

/** The namespaces and metrics to query. */
function queryScope(
  cached: CacheReader,
  isExcluded: (namespace: string) => boolean,
): Pick<QueryHistory, "namespaces" | "wantsUsage"> & { readonly pods: number } {
  const namespaces = new Set<string>();
  let pods = 0;
  for (const { metadata, facts } of cached.list(PodView)) {
    const { namespace = "" } = metadata;
    if (facts.watched === undefined || isExcluded(namespace)) continue;
    namespaces.add(namespace);
    pods += 1;
  }
  const wantsUsage = cached.list(AppMonitorView).some(({ spec }) => spec.metric === "Usage");
  return { namespaces: [...namespaces], wantsUsage, pods };
}

function wantedIn(cached: CacheReader): (key: ContainerKey) => boolean {
  return ({ namespace, pod, container }) =>
    cached.get(PodView, { namespace, name: pod })?.facts.watched?.containers.some(({ name }) => name === container) ?? false;
}

/** The apps of all annotated pods, each once. */
function appsIn(cached: CacheReader): Iterable<ObjectRef> {
  const refs = new Map<string, ObjectRef>();
  for (const pod of cached.list(PodView)) {
    if (pod.facts.watched === undefined) continue;
    const app = appOf(pod, cached);
    if (app === undefined) continue;
    const ref = appRef(app);
    refs.set(keyOf(ref), ref);
  }
  return refs.values();
}
