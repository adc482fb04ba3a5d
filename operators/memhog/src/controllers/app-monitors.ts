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
import { monitorAnnotation } from "../api/names.ts";
import type { AppName, ObservedMetrics } from "../model/observed-app.ts";
import { holdReasons } from "../model/reasons.ts";
import { appOf, appRef, appText } from "../observe/app-of.ts";
import { AppMemoryView, AppMonitorView, JobView, PodView, ReplicaSetView, watchedPods } from "../observe/kinds.ts";
import type { MemoryPoller } from "../observe/memory-poller.ts";
import { monitorsOf, type Ranking, selectorProblem, selects } from "../observe/monitors.ts";

export interface AppMonitorsOptions {
  /** Whether Prometheus is available, and of which pods it has samples. */
  readonly memory: Pick<MemoryPoller, "metrics" | "visibility" | "unseenRevision">;
  /** Nothing is monitored in these namespaces. @default none */
  readonly isExcluded?: (namespace: string) => boolean;
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

export function appMonitors({ memory, isExcluded = () => false, ...options }: AppMonitorsOptions) {
  const reconcile = async (ref: ObjectRef, ctx: Ctx): Promise<Outcome> => {
    const monitor = ctx.get(AppMonitorView, ref);
    if (monitor === undefined) return done();
    const { available, unavailableForMs, problem } = memory.metrics();
    // Reporting MetricsUnavailable before the first query would be wrong, and would cost two writes.
    if (!available && unavailableForMs === undefined) return awaitChange("Prometheus has not been queried yet");
    await ctx.setStatus(
      monitor,
      monitorStatus({
        paused: monitor.spec.paused ?? false,
        excluded: isExcluded(ref.namespace ?? ""),
        ...shareOf(monitor, ctx, memory),
        metrics: { available, ...(problem !== undefined && { problem }) },
      }),
    );
    return done();
  };
  return definition.reconcile(reconcile, {
    // Status changes are ignored: two leaders that see different samples would otherwise trigger each other forever (L1).
    predicate: hasNewSpec,
    sources: [changesOf(memory)],
    ...options,
  });
}

/** Enqueues every AppMonitor when Prometheus becomes available or unavailable, and after each response that lacks some pods. */
function changesOf(memory: AppMonitorsOptions["memory"]): Source {
  const state = () => {
    const { available, unavailableForMs } = memory.metrics();
    const word = available ? "available" : unavailableForMs === undefined ? "unknown" : "unavailable";
    return { word, revision: memory.unseenRevision() };
  };
  return {
    name: "metrics",
    run: async ({ enqueue, cached, environment, signal }) => {
      // Starts from "unknown" because a reconcile may have seen that state before this loop started.
      for (let before = { word: "unknown", revision: 0 }; !signal.aborted; before = state()) {
        await environment.clock.sleep(seconds(1), signal).catch(() => {});
        if (!equals(state(), before))
          for (const monitor of cached.list(AppMonitorView)) enqueue(refOf(monitor), `Prometheus is ${state().word}`);
      }
    },
  };
}

/** The pods that this AppMonitor acts on, by the rule of observe/monitors.ts. Others that act on the same apps make it ambiguous. */
function shareOf(
  monitor: Stored<AppMonitor>,
  ctx: Ctx,
  memory: AppMonitorsOptions["memory"],
): Omit<ObservedMonitor, "paused" | "excluded" | "metrics"> {
  const annotated = ctx.lookup(watchedPods, monitor.metadata.namespace ?? "").filter(isLive);
  const selected = annotated.filter(({ metadata }) => selects(monitor, metadata.labels));
  const ranked = appsOf(selected, ctx).map(({ app, pods }) => ({ app, pods, ...monitorsOf(app, ctx) }));
  const isOwn = ({ acting }: Ranking) => acting.some(({ metadata }) => metadata.uid === monitor.metadata.uid);
  const own = ranked.filter(isOwn);
  const names = own.flatMap(({ acting }) => acting.map(({ metadata }) => metadata.name));
  const outranked = ranked.reduce((sum, app) => (isOwn(app) ? sum : sum + app.pods.length), 0);
  return {
    pods: selected.length - outranked,
    outranked,
    annotated: annotated.length,
    selectorProblem: selectorProblem(monitor),
    ...unseenAmong(
      own.flatMap(({ pods }) => pods),
      monitor,
      memory,
    ),
    apps: own.map(({ app }) => countsOf(app, ctx)),
    others: [...new Set(names)].filter((name) => name !== monitor.metadata.name),
  };
}

function isLive({ facts: { watched, deleting } }: KeptPod): boolean {
  return watched?.monitored === true && !deleting;
}

/** After a restart of memhog it takes the grace period to find out again; until then the condition stays as it is. */
function unseenAmong(
  pods: readonly KeptPod[],
  { spec, status }: Stored<AppMonitor>,
  memory: AppMonitorsOptions["memory"],
): Pick<ObservedMonitor, "unseen" | "unseenBefore"> {
  const found = pods.map(({ metadata }) => ({
    pod: metadata.name,
    is: memory.visibility(spec.metric ?? "WorkingSet", metadata.uid),
  }));
  const before = status?.conditions?.filter(({ reason }) => reason === "NoSamples") ?? [];
  const messages = Object.fromEntries(before.map(({ type, message }) => [type, message]));
  const undecided = found.some(({ is }) => is === "new") && !found.some(({ is }) => is === "unseen");
  return {
    unseen: found.filter(({ is }) => is === "unseen").map(({ pod }) => pod),
    unseenBefore: undecided ? messages : {},
  };
}

/** The apps of these pods, each with its pods. */
function appsOf(pods: readonly KeptPod[], ctx: Ctx): readonly { readonly app: AppName; readonly pods: readonly KeptPod[] }[] {
  const found = pods.flatMap((pod) => {
    const app = appOf(pod, ctx);
    return app === undefined ? [] : [{ app, pod }];
  });
  const byApp = Map.groupBy(found, ({ app }) => appText(app));
  return [...byApp.values()].flatMap((of) => of.slice(0, 1).map(({ app }) => ({ app, pods: of.map(({ pod }) => pod) })));
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
  /** memhog is configured to leave the namespace alone. @default false */
  readonly excluded?: boolean;
  /** Number of selected pods that it acts on. */
  readonly pods: number;
  /** Number of selected pods that a more specific AppMonitor acts on. */
  readonly outranked: number;
  /** Number of annotated pods in the namespace, selected or not. */
  readonly annotated: number;
  readonly selectorProblem?: string | undefined;
  /** Names of selected pods that run and have no samples. */
  readonly unseen: readonly string[];
  /** The messages of the present NoSamples conditions, while it is not known yet whether they still hold. */
  readonly unseenBefore: { readonly Ready?: string; readonly Degraded?: string };
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
    conditions: [readiness(seen), degradation(seen)],
  };
}

/** Limited to the maximum in the CRD. */
const sum = (counts: readonly number[]) =>
  Math.min(
    1_000_000,
    counts.reduce((all, count) => all + count, 0),
  );

function readiness(seen: ObservedMonitor) {
  const { paused, pods, outranked, apps, others, metrics, unseen, unseenBefore } = seen;
  if (seen.excluded)
    return condition(AppMonitor, "Ready", "NamespaceExcluded", "the flags of the operator exclude this namespace");
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
  if (pods + outranked === 0) return condition(AppMonitor, "Ready", "NoPods", whyNoPods(seen));
  const blind = unseen.length > 0 && unseen.length === pods ? noSamplesText(seen) : unseenBefore.Ready;
  if (blind !== undefined) return condition(AppMonitor, "Ready", "NoSamples", blind);
  const rest = outranked === 0 ? "" : `; more specific AppMonitors act on ${outranked} others`;
  return condition(AppMonitor, "Ready", "Watching", `${pods} pods of ${apps.length} apps${rest}`);
}

function whyNoPods({ annotated, selectorProblem: problem }: ObservedMonitor): string {
  if (problem !== undefined) return `spec.selector is invalid and matches no pod: ${problem}`.slice(0, 1000);
  if (annotated === 0) return `no pod in the namespace has the annotation ${monitorAnnotation}: "true"`;
  return `spec.selector matches none of the ${annotated} annotated pods in the namespace`;
}

/** What to check is in the order of how often it is the cause. */
function noSamplesText({ unseen, pods }: ObservedMonitor): string {
  return (
    `Prometheus answers, but has no samples of ${unseen.length} of ${pods} running pods: ${enumerate(unseen)}. ` +
    "Check that it scrapes cAdvisor on their nodes, the tenant in --prometheus-header, and --prometheus-matcher; " +
    "memhog-operator explain POD shows the query"
  );
}

/** Most urgent first. */
const troubles = [
  "SuspectedLeak",
  "UsageFollowsLimit",
  "RaisesIneffective",
  "Contested",
  "RolloutUndone",
  "CapReached",
  "NodeUnderPressure",
  "ManagedByAutoscaler",
  "Refused",
] as const;

function degradation(seen: ObservedMonitor) {
  const { apps, unseen, unseenBefore } = seen;
  const dying = apps.filter(({ reason }) => reason === "OutOfMemoryAtCap");
  if (dying.length > 0) return condition(AppMonitor, "Degraded", "OutOfMemoryAtCap", troubleText(dying, "OutOfMemoryAtCap"));
  const blind = unseen.length > 0 ? noSamplesText(seen) : unseenBefore.Degraded;
  if (blind !== undefined) return condition(AppMonitor, "Degraded", "NoSamples", blind);
  const trouble = troubles.find((one) => apps.some(({ reason }) => reason === one));
  if (trouble === undefined) return condition(AppMonitor, "Degraded", "AsExpected", "no app is blocked");
  const those = apps.filter(({ reason }) => reason === trouble);
  return condition(AppMonitor, "Degraded", trouble, troubleText(those, trouble));
}

/** Reasons of apps that keep being killed. */
const killing: ReadonlySet<string> = new Set(["OutOfMemoryAtCap", "RaisesIneffective"]);

function troubleText(apps: readonly MonitoredApp[], reason: keyof typeof holdReasons): string {
  const named = apps.map(({ app, oomKills }) => (killing.has(reason) ? `${app} (${oomKills} OOM kills)` : app));
  return `${enumerate(named)}: ${holdReasons[reason]}`;
}

/** "a, b, c and 4 more". Sorted, so that the order of the cache does not change the message. */
function enumerate(names: readonly string[]): string {
  const shown = names.toSorted().slice(0, 3).join(", ");
  return names.length > 3 ? `${shown} and ${names.length - 3} more` : shown;
}
