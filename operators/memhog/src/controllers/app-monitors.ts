// Writes the status of every AppMonitor: the number of its pods and apps, and its conditions. Reads only the caches that the app
// controller uses too, and never changes a workload.
import {
  awaitChange,
  type CacheReader,
  condition,
  defineController,
  done,
  type KubernetesObject,
  type ObjectOf,
  type ObjectRef,
  type Outcome,
  refOf,
  type Source,
  type StatusInput,
  type Stored,
  seconds,
} from "@memhog/runtime";
import type { Change } from "@memhog/runtime/cache";
import { equals } from "@memhog/runtime/objects";
import type { AppMemory } from "../api/app-memory.ts";
import { AppMonitor } from "../api/app-monitor.ts";
import type { AppName, ObservedMetrics } from "../model/observed-app.ts";
import { holdReasons } from "../model/reasons.ts";
import { appOf, appRef, appText } from "../observe/app-of.ts";
import { AppMemoryView, AppMonitorView, JobView, PodView, ReplicaSetView, watchedPods } from "../observe/kinds.ts";
import { monitorsOf, type Ranking, selects } from "../observe/monitors.ts";

export interface AppMonitorsOptions {
  /** Whether Prometheus is available. */
  readonly metrics: () => ObservedMetrics;
  /** See ControllerOptions. */
  readonly resyncMs?: number;
}

const definition = defineController(AppMonitorView, {
  watches: [
    { kind: PodView, map: inNamespace, predicate: hasNewPodFacts },
    { kind: AppMemoryView, map: inNamespace, predicate: hasNewCounts },
    { kind: AppMonitorView, map: inNamespace, predicate: hasNewSpec },
    // Only to find the apps of pods; changes of the pods themselves trigger reconciles.
    { kind: ReplicaSetView, map: () => [] },
    { kind: JobView, map: () => [] },
  ],
});
type Ctx = typeof definition.Context;
type KeptPod = Stored<ObjectOf<typeof PodView>>;

export function appMonitors({ metrics, ...options }: AppMonitorsOptions) {
  const reconcile = async (ref: ObjectRef, ctx: Ctx): Promise<Outcome> => {
    const monitor = ctx.get(AppMonitorView, ref);
    if (monitor === undefined) return done();
    const { available, unavailableForMs, problem } = metrics();
    // Reporting MetricsUnavailable before the first query would be wrong, and would cost two writes.
    if (!available && unavailableForMs === undefined) return awaitChange("Prometheus has not been queried yet");
    await ctx.setStatus(
      monitor,
      monitorStatus({
        paused: monitor.spec.paused ?? false,
        ...shareOf(monitor, ctx),
        metrics: { available, ...(problem !== undefined && { problem }) },
      }),
    );
    return done();
  };
  return definition.reconcile(reconcile, {
    // Status changes are ignored: two leaders that see different samples would otherwise trigger each other forever (L1).
    predicate: hasNewSpec,
    sources: [availabilityOf(metrics)],
    ...options,
  });
}

/** Enqueues every AppMonitor when Prometheus becomes available or unavailable. */
function availabilityOf(metrics: () => ObservedMetrics): Source {
  const state = () => {
    const { available, unavailableForMs } = metrics();
    return available ? "available" : unavailableForMs === undefined ? "unknown" : "unavailable";
  };
  return {
    name: "metrics",
    run: async ({ enqueue, cached, environment, signal }) => {
      // Starts from "unknown" because a reconcile may have seen that state before this loop started.
      for (let before = "unknown"; !signal.aborted; before = state()) {
        await environment.clock.sleep(seconds(1), signal).catch(() => {});
        if (state() !== before)
          for (const monitor of cached.list(AppMonitorView)) enqueue(refOf(monitor), `Prometheus is ${state()}`);
      }
    },
  };
}

/** The pods that this AppMonitor acts on, by the rule of observe/monitors.ts. Others that act on the same apps make it ambiguous. */
function shareOf(monitor: Stored<AppMonitor>, ctx: Ctx): Omit<ObservedMonitor, "paused" | "metrics"> {
  const selected = ctx.lookup(watchedPods, monitor.metadata.namespace ?? "").filter((pod) => isSelected(pod, monitor));
  const ranked = appsOf(selected, ctx).map(({ app, pods }) => ({ app, pods, ...monitorsOf(app, ctx) }));
  const isOwn = ({ acting }: Ranking) => acting.some(({ metadata }) => metadata.uid === monitor.metadata.uid);
  const own = ranked.filter(isOwn);
  const names = own.flatMap(({ acting }) => acting.map(({ metadata }) => metadata.name));
  const outranked = ranked.reduce((sum, app) => (isOwn(app) ? sum : sum + app.pods), 0);
  return {
    pods: selected.length - outranked,
    outranked,
    apps: own.map(({ app }) => countsOf(app, ctx)),
    others: [...new Set(names)].filter((name) => name !== monitor.metadata.name),
  };
}

function isSelected({ metadata, facts: { watched, deleting } }: KeptPod, monitor: Stored<AppMonitor>): boolean {
  return watched?.monitored === true && !deleting && selects(monitor, metadata.labels);
}

/** The apps of these pods, and how many of the pods belong to each. */
function appsOf(pods: readonly KeptPod[], ctx: Ctx): readonly { readonly app: AppName; readonly pods: number }[] {
  const apps = new Map<string, { app: AppName; pods: number }>();
  for (const pod of pods) {
    const app = appOf(pod, ctx);
    if (app !== undefined) apps.set(appText(app), { app, pods: (apps.get(appText(app))?.pods ?? 0) + 1 });
  }
  return [...apps.values()];
}

function countsOf(app: AppName, ctx: Ctx): MonitoredApp {
  const { reason, raises = 0, oomKills = 0 } = ctx.get(AppMemoryView, appRef(app))?.status ?? {};
  return { app: appText(app), reason, raises, oomKills };
}

/** Any relevant change in a namespace enqueues all its AppMonitors. */
function inNamespace({ metadata: { namespace } }: Stored<KubernetesObject>, cached: CacheReader): readonly ObjectRef[] {
  return cached.list(AppMonitorView, { namespace }).map(refOf);
}

// Changes that affect neither a count nor a condition are filtered out.

function hasNewPodFacts({ type, object, previous }: Change<ObjectOf<typeof PodView>>): boolean {
  if (type !== "changed") return object.facts.watched !== undefined;
  const facts = ({ facts: { watched, deleting }, metadata }: KeptPod) => [watched?.monitored, deleting, metadata.labels];
  return !equals(facts(object), facts(previous));
}

function hasNewCounts({ type, object, previous }: Change<AppMemory>): boolean {
  const facts = ({ status }: AppMemory) => [status?.reason, status?.raises, status?.oomKills];
  return type !== "changed" || !equals(facts(object), facts(previous));
}

function hasNewSpec({ type, object, previous }: Change<AppMonitor>): boolean {
  if (type !== "changed") return true;
  const [is, was] = [object.metadata, previous.metadata];
  return is.generation !== was.generation || is.deletionTimestamp !== was.deletionTimestamp;
}

/**
 * What the status of an AppMonitor is computed from. It contains nothing that changes with every sample, so that a steady state
 * causes no writes (E1).
 */
export interface ObservedMonitor {
  readonly paused: boolean;
  /** Number of selected pods that it acts on. */
  readonly pods: number;
  /** Number of selected pods that a more specific AppMonitor acts on. */
  readonly outranked: number;
  /** The apps they belong to. */
  readonly apps: readonly MonitoredApp[];
  /** The names of other AppMonitors that act on the same apps. */
  readonly others: readonly string[];
  readonly metrics: Pick<ObservedMetrics, "available" | "problem">;
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

export function monitorStatus(seen: ObservedMonitor): Status {
  const { pods, apps } = seen;
  return {
    pods,
    apps: apps.length,
    raises: sum(apps.map(({ raises }) => raises)),
    oomKills: sum(apps.map(({ oomKills }) => oomKills)),
    conditions: [readiness(seen), degradation(apps)],
  };
}

/** Limited to the maximum in the CRD. */
const sum = (counts: readonly number[]) =>
  Math.min(
    1_000_000,
    counts.reduce((all, count) => all + count, 0),
  );

function readiness({ paused, pods, outranked, apps, others, metrics }: ObservedMonitor) {
  if (paused) return condition(AppMonitor, "Ready", "Paused", "spec.paused is true");
  if (others.length > 0)
    return condition(
      AppMonitor,
      "Ready",
      "AmbiguousMonitor",
      `equally specific AppMonitors select the same apps: ${enumerate(others)}`,
    );
  if (!metrics.available)
    return condition(
      AppMonitor,
      "Ready",
      "MetricsUnavailable",
      (metrics.problem ?? "Prometheus does not respond").slice(0, 1000),
    );
  const rest = outranked === 0 ? "" : `; more specific AppMonitors act on ${outranked} others`;
  return condition(AppMonitor, "Ready", "Watching", `${pods} pods of ${apps.length} apps${rest}`);
}

/** Most urgent first. */
const troubles = ["SuspectedLeak", "RaisesIneffective", "Contested", "CapReached", "ManagedByAutoscaler", "Refused"] as const;

function degradation(apps: readonly MonitoredApp[]) {
  const trouble = troubles.find((one) => apps.some(({ reason }) => reason === one));
  if (trouble === undefined) return condition(AppMonitor, "Degraded", "AsExpected", "no app is blocked");
  const those = apps.filter(({ reason }) => reason === trouble).map(({ app }) => app);
  return condition(AppMonitor, "Degraded", trouble, `${enumerate(those)}: ${holdReasons[trouble]}`);
}

/** "a, b, c and 4 more". Sorted, so that the order of the cache does not change the message. */
function enumerate(names: readonly string[]): string {
  const shown = names.toSorted().slice(0, 3).join(", ");
  return names.length > 3 ? `${shown} and ${names.length - 3} more` : shown;
}
