// Memory cannot be watched, only sampled. This source asks Prometheus once per interval for all pods at once, keeps what it said,
// and has every app looked at after each answer. While Prometheus does not answer, it asks less and less often, but never stops;
// what was known grows old by itself, and nothing is ever decided by an old sample (promise M1).
//
//     const memory = new MemoryPoller({ transport: httpTransport({ address }), intervalMs: seconds(15) });
//     controller(AppMemory, { sources: [memory.source], … }, (ref, ctx) => … memory.samplesOf(…) … memory.metrics() …)
import type { CachedObjects, Clock, ObjectRef, Source, SourceWorld } from "@memhog/runtime";
import { keyOf } from "@memhog/runtime";
import { AppMonitor } from "../api/app-monitor.ts";
import type { Metric } from "../model/policy.ts";
import type { MetricsSeen } from "../model/seen.ts";
import { appOf, appRef } from "./app-of.ts";
import { PodView } from "./kinds.ts";
import { ask, type Heard } from "./prometheus/ask.ts";
import { PrometheusError, type PrometheusErrorCode } from "./prometheus/errors.ts";
import { type Experience, nextQuestion, type Question } from "./prometheus/question.ts";
import type { ContainerKey, Found, Life, SampleStore } from "./prometheus/samples.ts";
import type { PrometheusTransport } from "./prometheus/transport.ts";

export interface MemoryPollerOptions {
  readonly transport: PrometheusTransport;
  /** Milliseconds between two questions; 5 s at least, since nodes measure every 10 to 15 s. @default 15 s */
  readonly intervalMs?: number;
  /** Milliseconds until an answer must be there. @default 10 s */
  readonly timeoutMs?: number;
  /** Told about every question, for metrics. */
  readonly onQuery?: (report: QueryReport) => void;
}

export interface QueryReport {
  readonly outcome: "answered" | "partial" | PrometheusErrorCode;
  readonly durationMs: number;
  /** Series in the answer, and samples that were kept of it. */
  readonly series: number;
  readonly samples: number;
}

/** Samples that are older decide nothing. A scrape once a minute of a node that measures every 15 s still counts as fresh. */
const freshForMs = 90_000;
const leastIntervalMs = 5_000;
/** While Prometheus does not answer, the interval grows up to so many times. */
const mostPatience = 4;
const jitter = 0.1;

export class MemoryPoller {
  readonly source: Source = { name: "memory", run: (world) => this.#run(world) };
  readonly #options: Required<Omit<MemoryPollerOptions, "onQuery">> & Pick<MemoryPollerOptions, "onQuery">;
  /** Undefined until the source runs. */
  #clock: Clock | undefined;
  #samples: SampleStore | undefined;
  #warning: string | undefined;
  /** On the monotonic clock; undefined while Prometheus answers. */
  #failing: { readonly since: number; readonly problem: string } | undefined;
  #failures = 0;
  #worked: Experience["worked"];
  #empty = 0;

  constructor({ transport, intervalMs = 15_000, timeoutMs = 10_000, onQuery }: MemoryPollerOptions) {
    this.#options = { transport, intervalMs: Math.max(leastIntervalMs, intervalMs), timeoutMs, ...(onQuery && { onQuery }) };
  }

  /** How it stands with Prometheus. */
  metrics(): MetricsSeen {
    if (this.#failing !== undefined) {
      const unavailableForMs = (this.#clock?.monotonic() ?? 0) - this.#failing.since;
      return { available: false, unavailableForMs, problem: this.#failing.problem, freshForMs };
    }
    if (this.#samples === undefined) return { available: false, problem: "Prometheus was not asked yet", freshForMs };
    return { available: true, ...(this.#warning !== undefined && { problem: this.#warning }), freshForMs };
  }

  /** What is known about the container that runs now. */
  samplesOf(metric: Metric, key: ContainerKey, life: Life | undefined): Found {
    return this.#samples?.of(metric, key, life) ?? { samples: [], bad: 0 };
  }

  /** Milliseconds since the newest sample was measured; undefined if there is none. */
  newestAgeMs(): number | undefined {
    return this.#samples?.newestAgeMs;
  }

  /** Asks once. For `explain`, which does not stay; the source does so for ever. */
  async poll(world: Pick<SourceWorld, "cached" | "environment" | "signal">): Promise<void> {
    const { cached, environment, signal } = world;
    const { clock } = environment;
    this.#clock = clock;
    const began = clock.monotonic();
    const { transport, timeoutMs } = this.#options;
    const looked = lookAround(cached);
    const question = nextQuestion({ ...looked, worked: this.#worked, empty: this.#empty });
    try {
      const heard = await ask(question, { transport, clock, timeoutMs, signal, isWanted: wantedIn(cached) });
      this.#answered(heard, question, looked.pods > 0);
      this.#tell(heard.warnings.length > 0 ? "partial" : "answered", clock.monotonic() - began, heard);
    } catch (error) {
      if (signal.aborted) throw error;
      this.#failed(error, clock);
      this.#tell(error instanceof PrometheusError ? error.code : "PROMETHEUS_UNREACHABLE", clock.monotonic() - began);
    }
  }

  async #run(world: SourceWorld): Promise<void> {
    const { environment, log, signal, wake, cached } = world;
    while (!signal.aborted) {
      const began = environment.clock.monotonic();
      const before = this.metrics();
      await this.poll(world);
      const { available, problem } = this.metrics();
      const hasChanged = available !== before.available || this.#failures === 1;
      if (hasChanged && !available) log.warn({ problem }, "no memory metrics; nothing is raised but after a kill");
      if (hasChanged && available) log.info({}, "memory metrics are there");
      if (available || hasChanged) for (const ref of appsIn(cached)) wake(ref, available ? "sampled" : "metrics unavailable");
      // One failure is an accident and costs no time; more of them are an outage.
      const patience = Math.min(mostPatience, 2 ** Math.max(0, this.#failures - 1));
      const pause = this.#options.intervalMs * patience * (1 + jitter * (2 * environment.random() - 1));
      await environment.clock.sleep(Math.max(0, pause - (environment.clock.monotonic() - began)), signal).catch(() => {});
    }
  }

  #answered({ samples, series, warnings }: Heard, question: Question, hasPods: boolean): void {
    this.#samples = samples;
    this.#failing = undefined;
    this.#failures = 0;
    this.#warning = warnings.length === 0 ? undefined : `Prometheus warns: ${warnings.join("; ").slice(0, 500)}`;
    if (series > 0)
      this.#worked = { labels: question.labels, metrics: samples.has("WorkingSet") ? ["WorkingSet"] : question.metrics };
    this.#empty = series > 0 || !hasPods ? 0 : this.#empty + 1;
  }

  #failed(error: unknown, clock: Clock): void {
    const problem = error instanceof Error ? error.message : String(error);
    this.#failing = { since: this.#failing?.since ?? clock.monotonic(), problem };
    this.#failures += 1;
  }

  #tell(outcome: QueryReport["outcome"], durationMs: number, heard?: Heard): void {
    this.#options.onQuery?.({ outcome, durationMs, series: heard?.series ?? 0, samples: heard?.samples.size ?? 0 });
  }
}

/** What there is to ask for. */
function lookAround(cached: CachedObjects): Pick<Experience, "namespaces" | "wantsUsage"> & { readonly pods: number } {
  const namespaces = new Set<string>();
  let pods = 0;
  for (const { metadata, facts } of cached.objects(PodView)) {
    if (facts.watched === undefined) continue;
    namespaces.add(metadata.namespace ?? "");
    pods += 1;
  }
  const wantsUsage = [...cached.objects(AppMonitor)].some(({ spec }) => spec.metric === "Usage");
  return { namespaces: [...namespaces], wantsUsage, pods };
}

function wantedIn(cached: CachedObjects): (key: ContainerKey) => boolean {
  return ({ namespace, pod, container }) =>
    cached.get(PodView, { namespace, name: pod })?.facts.watched?.containers.some(({ name }) => name === container) ?? false;
}

/** The apps of all pods that are looked after, each once. */
function appsIn(cached: CachedObjects): Iterable<ObjectRef> {
  const refs = new Map<string, ObjectRef>();
  for (const pod of cached.objects(PodView)) {
    if (pod.facts.watched === undefined) continue;
    const app = appOf(pod, cached);
    if (app === undefined) continue;
    const ref = appRef(app);
    refs.set(keyOf(ref), ref);
  }
  return refs.values();
}
