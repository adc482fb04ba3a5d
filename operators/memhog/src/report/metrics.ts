// What is counted, beside what the runtime counts (workqueue_*, controller_runtime_*, rest_client_*). No label ever names a pod or
// an app: their number has no bound, and a memory autoscaler should not fill the memory of Prometheus.
import { type Clock, Counter, Gauge, Histogram, type OwnMetric } from "@memhog/runtime";
import type { CommandOutcome } from "../act/outcome.ts";
import type { Plan } from "../model/plan.ts";
import type { AppRecord } from "../model/record.ts";

/** What the poller says about one question to Prometheus. */
export interface Polled {
  readonly outcome: string;
  readonly durationMs: number;
  readonly samples: number;
}

export interface MemhogMetrics {
  /** For the operator that serves them. */
  readonly own: readonly OwnMetric[];
  /** After each question to Prometheus. */
  polled(report: Polled): void;
  /** After each plan that was stored. */
  planned(before: AppRecord, plan: Plan): void;
  /** After each command. */
  carriedOut(outcomes: readonly CommandOutcome[]): void;
  /** An entry of an AppMemory that could not be read. */
  broken(): void;
}

export interface MetricsOptions {
  readonly clock: Pick<Clock, "monotonic">;
  /** Milliseconds since the newest sample was measured; undefined while there is none. Read when somebody looks. */
  readonly newestSampleAgeMs: () => number | undefined;
}

export function memhogMetrics({ clock, newestSampleAgeMs }: MetricsOptions): MemhogMetrics {
  const all = definitions(newestSampleAgeMs);
  const delays = sampleToApplied(clock, (seconds) => all.sampleToApplied.observe(seconds));
  return {
    own: Object.values(all),
    polled: ({ outcome, durationMs, samples }) => {
      all.queries.inc({ outcome });
      all.querySeconds.observe(durationMs / 1000);
      all.samples.set(samples);
    },
    planned: (before, plan) => {
      for (const { decision } of plan.verdicts) all.decisions.inc({ decision: decision.kind, reason: decision.reason });
      for (const { intent, outcome } of plan.settled) all.resizes.inc({ strategy: intent.road, outcome });
      all.kills.inc(Math.max(0, plan.record.oomKills - before.oomKills));
      delays(before, plan);
    },
    carriedOut: (outcomes) => {
      for (const { command, ended } of outcomes) all.commands.inc({ command: command.do, ended });
    },
    broken: () => all.broken.inc(),
  };
}

function definitions(newestSampleAgeMs: () => number | undefined) {
  const registers: [] = []; // none yet: the operator registers what it is given
  const counter = (name: string, help: string, ...labelNames: readonly string[]) =>
    new Counter({ name, help, labelNames: [...labelNames], registers });
  const histogram = (name: string, help: string, buckets: readonly number[]) =>
    new Histogram({ name, help, buckets: [...buckets], registers });
  return {
    sampleAge: new Gauge({
      name: "memhog_sample_age_seconds",
      help: "How old the newest sample of any container's memory is; NaN while there is none.",
      registers,
      collect() {
        const age = newestSampleAgeMs();
        this.set(age === undefined ? Number.NaN : age / 1000);
      },
    }),
    samples: new Gauge({ name: "memhog_samples", help: "Samples of containers' memory in the last answer.", registers }),
    queries: counter("memhog_prometheus_queries_total", "Questions to Prometheus, by how they were answered.", "outcome"),
    querySeconds: histogram(
      "memhog_prometheus_query_seconds",
      "How long Prometheus took to answer.",
      [0.01, 0.05, 0.2, 1, 5, 10],
    ),
    decisions: counter("memhog_decisions_total", "Decisions about containers, each time one was made.", "decision", "reason"),
    resizes: counter("memhog_resizes_total", "Raises that have ended, by the road they took.", "strategy", "outcome"),
    commands: counter("memhog_commands_total", "Steps of raises that were tried.", "command", "ended"),
    kills: counter("memhog_oom_kills_total", "Kills for lack of memory that were seen."),
    broken: counter("memhog_broken_records_total", "Entries of AppMemory objects that could not be read."),
    sampleToApplied: histogram(
      "memhog_sample_to_applied_seconds",
      "From the measuring of the sample that gave reason to a raise, to its confirmation.",
      [1, 2, 5, 10, 15, 20, 30, 60, 120, 300],
    ),
  };
}

/**
 * Notes when the sample of a new intent was measured and tells how long it took until the memory was there. On the monotonic
 * clock and in memory only: what was begun before a restart is not told, rather than told wrongly.
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
