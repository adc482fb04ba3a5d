// What an AppMonitor says about itself, as a value. Nothing that moves with every sample is in it: a settled world writes nothing
// (promise E1). Since when Prometheus has not answered is the transition time of the condition.
import { condition, type StatusInput } from "@memhog/runtime";
import { AppMonitor } from "../api/app-monitor.ts";
import { holdReasons } from "../model/reasons.ts";
import type { MetricsSeen } from "../model/seen.ts";

export interface MonitorSeen {
  readonly paused: boolean;
  /** How many pods it selects. */
  readonly pods: number;
  /** The apps they belong to. */
  readonly apps: readonly MonitoredApp[];
  /** The names of other AppMonitors that select some of the same pods. */
  readonly others: readonly string[];
  readonly metrics: Pick<MetricsSeen, "available" | "problem">;
}

export interface MonitoredApp {
  /** "Deployment/web" */
  readonly app: string;
  /** AppMemory.status.reason */
  readonly reason: string | undefined;
  readonly raises: number;
  readonly oomKills: number;
}

type Status = StatusInput<typeof AppMonitor>;

export function monitorStatus(seen: MonitorSeen): Status {
  const { pods, apps } = seen;
  return {
    pods,
    apps: apps.length,
    raises: sum(apps.map(({ raises }) => raises)),
    oomKills: sum(apps.map(({ oomKills }) => oomKills)),
    conditions: [readiness(seen), degradation(apps)],
  };
}

// The CRD's bound.
const sum = (counts: readonly number[]) =>
  Math.min(
    1_000_000,
    counts.reduce((all, count) => all + count, 0),
  );

function readiness({ paused, pods, apps, others, metrics }: MonitorSeen) {
  if (paused) return condition(AppMonitor, "Ready", "Paused", "spec.paused is true");
  if (others.length > 0)
    return condition(AppMonitor, "Ready", "AmbiguousMonitor", `the same pods are selected by ${enumerate(others)}`);
  if (!metrics.available)
    return condition(AppMonitor, "Ready", "MetricsUnavailable", (metrics.problem ?? "Prometheus does not answer").slice(0, 1000));
  return condition(AppMonitor, "Ready", "Watching", `${pods} pods of ${apps.length} apps`);
}

/** What a person should look at first comes first. */
const troubles = ["SuspectedLeak", "RaisesFutile", "Contested", "AtCeiling", "AnotherAutoscaler", "Refused"] as const;

function degradation(apps: readonly MonitoredApp[]) {
  const trouble = troubles.find((one) => apps.some(({ reason }) => reason === one));
  if (trouble === undefined) return condition(AppMonitor, "Degraded", "AsExpected", "nothing stands in the way");
  const those = apps.filter(({ reason }) => reason === trouble).map(({ app }) => app);
  return condition(AppMonitor, "Degraded", trouble, `${enumerate(those)}: ${holdReasons[trouble]}`);
}

/** "a, b, c and 4 more": in an order of its own, so that the order of a cache is no news. */
function enumerate(names: readonly string[]): string {
  const shown = names.toSorted().slice(0, 3).join(", ");
  return names.length > 3 ? `${shown} and ${names.length - 3} more` : shown;
}
