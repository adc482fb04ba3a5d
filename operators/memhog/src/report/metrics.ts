// The metrics of memhog, in addition to those of the runtime (workqueue_*, controller_runtime_*, rest_client_*). Decisions,
// raises and OOM kills have the labels `namespace` and `app`. Their number is bounded: the first 500 apps have series of their own, and
// all further ones share the series with empty labels. When an app is gone its series are removed, and the next app gets its place.
// No label contains the name of a pod.
import { Counter, Gauge, Histogram, keyOf, type ObjectRef } from "@memhog/runtime";
import type { Clock } from "@memhog/runtime/concurrency";
import type { CustomMetric } from "@memhog/runtime/operator";
import type { CommandOutcome } from "../execute/outcome.ts";
import type { AppName } from "../model/observed-app.ts";
import type { AppRecord, Plan } from "../model/plan.ts";
import { appRef, appText } from "../observe/app-of.ts";
import { newShrinks } from "./events.ts";

/** The result of one Prometheus query. */
export interface Polled {
  readonly outcome: string;
  readonly durationMs: number;
  readonly samples: number;
}

export interface MemhogMetrics {
  /** To be registered by the operator. */
  readonly own: readonly CustomMetric[];
  /** Called after each Prometheus query. */
  polled(report: Polled): void;
  /** Called after each stored plan. */
  planned(app: AppName, before: AppRecord, plan: Plan): void;
  /** Called when an app is gone or no longer monitored: removes its series. */
  forget(ref: ObjectRef): void;
  /** Called after the commands of a pass. */
  executed(outcomes: readonly CommandOutcome[]): void;
  /** Called for each malformed entry of an AppMemory. */
  broken(): void;
}

export interface MetricsOptions {
  readonly clock: Pick<Clock, "monotonic">;
  /** Milliseconds since the newest sample was measured; undefined if there is none. Called on every scrape. */
  readonly newestSampleAgeMs: () => number | undefined;
  /** The number of running pods without samples by namespace. Called on every scrape. */
  readonly unseenPods: () => ReadonlyMap<string, number>;
}

export function memhogMetrics({ clock, ...sources }: MetricsOptions): MemhogMetrics {
  const all = definitions(sources);
  const apps = new AppSeries();
  const delays = sampleToApplied(clock, (seconds) => all.sampleToApplied.observe(seconds));
  return {
    own: Object.values(all),
    polled: ({ outcome, durationMs, samples }) => {
      all.queries.inc({ outcome });
      all.querySeconds.observe(durationMs / 1000);
      all.samples.set(samples);
    },
    planned: (app, before, plan) => {
      for (const { decision } of plan.verdicts)
        apps.inc(all.decisions, app, { decision: decision.kind, reason: decision.reason });
      for (const { intent, outcome } of plan.settled) apps.inc(all.resizes, app, { method: intent.method, outcome });
      for (const { state } of newShrinks(before, plan.record))
        if (state === "Applied" || state === "Undone" || state === "Refused") all.shrinks.inc({ outcome: state });
      const kills = plan.record.oomKills - before.oomKills;
      if (kills > 0) apps.inc(all.kills, app, {}, kills);
      delays(before, plan);
    },
    forget: (ref) => apps.forget(ref),
    executed: (outcomes) => {
      for (const { command, outcome } of outcomes) all.commands.inc({ command: command.do, outcome });
    },
    broken: () => all.broken.inc(),
  };
}

const mostNamespaces = 100;
const mostApps = 500;

type Labels = Readonly<Record<string, string>>;

/** The series of each app, so that they can be bounded and removed. */
class AppSeries {
  /** By the key of the AppMemory; the labels by metric and label values. */
  readonly #apps = new Map<string, Map<string, { readonly of: Counter; readonly labels: Labels }>>();

  inc(of: Counter, app: AppName, labels: Labels, by = 1): void {
    const key = keyOf(appRef(app));
    const series = this.#apps.get(key) ?? new Map();
    if (!this.#apps.has(key) && this.#apps.size < mostApps) this.#apps.set(key, series);
    const isOwn = this.#apps.has(key);
    const all = { ...labels, namespace: isOwn ? app.namespace : "", app: isOwn ? appText(app) : "" };
    if (isOwn) series.set(Object.entries(all).join(), { of, labels: all });
    of.inc(all, by);
  }

  forget(ref: ObjectRef): void {
    for (const { of, labels } of this.#apps.get(keyOf(ref))?.values() ?? []) of.remove(labels);
    this.#apps.delete(keyOf(ref));
  }
}

function definitions({ newestSampleAgeMs, unseenPods }: Omit<MetricsOptions, "clock">) {
  const registers: [] = []; // the operator registers them
  const ofApp = ["namespace", "app"];
  const counter = (name: string, help: string, ...labelNames: readonly string[]) =>
    new Counter({ name, help, labelNames: [...labelNames], registers });
  const histogram = (name: string, help: string, buckets: readonly number[]) =>
    new Histogram({ name, help, buckets: [...buckets], registers });
  return {
    sampleAge: new Gauge({
      name: "memhog_sample_age_seconds",
      help: "Age of the newest memory sample of any container. NaN if there is none.",
      registers,
      collect() {
        const age = newestSampleAgeMs();
        this.set(age === undefined ? Number.NaN : age / 1000);
      },
    }),
    samples: new Gauge({ name: "memhog_samples", help: "Number of memory samples in the last Prometheus response.", registers }),
    unseen: new Gauge({
      name: "memhog_pods_without_samples",
      help: "Number of monitored pods that run and have no samples although Prometheus answers, by namespace.",
      labelNames: ["namespace"],
      registers,
      collect() {
        this.reset();
        for (const [namespace, count] of boundedNamespaces(unseenPods())) this.set({ namespace }, count);
      },
    }),
    queries: counter("memhog_prometheus_queries_total", "Number of Prometheus queries, by outcome.", "outcome"),
    querySeconds: histogram("memhog_prometheus_query_seconds", "Duration of Prometheus queries.", [0.01, 0.05, 0.2, 1, 5, 10]),
    decisions: counter("memhog_decisions_total", "Number of decisions about containers.", "decision", "reason", ...ofApp),
    resizes: counter("memhog_resizes_total", "Number of finished raises, by method and outcome.", "method", "outcome", ...ofApp),
    shrinks: counter("memhog_shrinks_total", "Number of finished decreases, by outcome.", "outcome"),
    commands: counter("memhog_commands_total", "Number of commands executed for raises, by outcome.", "command", "outcome"),
    kills: counter("memhog_oom_kills_total", "Number of OOM kills of monitored containers.", ...ofApp),
    broken: counter("memhog_broken_records_total", "Number of malformed entries found in AppMemory objects."),
    sampleToApplied: histogram(
      "memhog_sample_to_applied_seconds",
      "Time from the sample that triggered a raise until the kubelet confirmed the new limit.",
      [1, 2, 5, 10, 15, 20, 30, 60, 120, 300],
    ),
  };
}

/** One series per namespace; beyond a maximum, the rest is added up under an empty name. */
function boundedNamespaces(counts: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const all = [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const rest = all.slice(mostNamespaces).reduce((sum, [, count]) => sum + count, 0);
  return new Map([...all.slice(0, mostNamespaces), ...(rest > 0 ? [["", rest] as const] : [])]);
}

/**
 * Measures the time from the sample of a new intent until its limits are applied. The start times are kept in process memory, on
 * the monotonic clock, so raises that began before a restart are not measured.
 */
function sampleToApplied(clock: Pick<Clock, "monotonic">, observe: (seconds: number) => void) {
  const measuredAt = new Map<string, number>();
  const arrive = (id: string) => {
    const at = measuredAt.get(id);
    if (measuredAt.delete(id) && at !== undefined) observe((clock.monotonic() - at) / 1000);
  };
  return (before: AppRecord, { record, settled, verdicts }: Plan): void => {
    for (const { id, pod, changes, limitsApplied } of record.intents) {
      const isNew = !before.intents.some((intent) => intent.id === id);
      const of = verdicts.find((verdict) => verdict.pod.uid === pod.uid && verdict.container === changes[0]?.container);
      if (isNew && of?.inputs.sampleAgeMs !== undefined) measuredAt.set(id, clock.monotonic() - of.inputs.sampleAgeMs);
      if (limitsApplied) arrive(id);
    }
    for (const { intent, outcome } of settled) {
      if (outcome === "Applied") arrive(intent.id);
      measuredAt.delete(intent.id);
    }
  };
}
