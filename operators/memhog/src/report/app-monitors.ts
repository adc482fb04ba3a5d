// Keeps the status of every AppMonitor: how many pods and apps it looks after, and whether it can. Everything comes from caches
// that the other controller has anyway; nothing here acts on a workload.
import {
  type Change,
  type ContextFor,
  controller,
  done,
  equals,
  type ObjectOf,
  type ObjectRef,
  type Outcome,
  refOf,
  type Source,
  type Stored,
  seconds,
  waitForChange,
} from "@memhog/runtime";
import { AppMemory } from "../api/app-memory.ts";
import { AppMonitor } from "../api/app-monitor.ts";
import type { MetricsSeen } from "../model/seen.ts";
import { appOf, appRef, appText } from "../observe/app-of.ts";
import { JobView, monitorsByNamespace, PodView, ReplicaSetView, watchedPods } from "../observe/kinds.ts";
import { selects } from "../observe/policy.ts";
import { type MonitoredApp, monitorStatus } from "./monitor-status.ts";

export interface AppMonitorsOptions {
  /** How it stands with Prometheus. */
  readonly metrics: () => MetricsSeen;
  /** See ControllerOptions. */
  readonly resyncMs?: number;
}

type Watched = readonly [typeof PodView, typeof AppMemory, typeof AppMonitor, typeof ReplicaSetView, typeof JobView];
type Ctx = ContextFor<typeof AppMonitor, readonly [], Watched, readonly []>;
type KeptPod = Stored<ObjectOf<typeof PodView>>;

/** The controller. */
export function appMonitors({ metrics, ...options }: AppMonitorsOptions) {
  const reconcile = async (ref: ObjectRef, ctx: Ctx): Promise<Outcome> => {
    const monitor = ctx.get(AppMonitor, ref);
    if (monitor === undefined) return done();
    const { available, unavailableForMs, problem } = metrics();
    // After a start nothing is known for a moment; to say "unavailable" would be a lie, and two writes.
    if (!available && unavailableForMs === undefined) return waitForChange("Prometheus was not asked yet");
    const pods = ctx.lookup(watchedPods, ref.namespace ?? "").filter((pod) => isLookedAfter(pod, monitor));
    await ctx.setStatus(
      monitor,
      monitorStatus({
        paused: monitor.spec.paused ?? false,
        pods: pods.length,
        apps: appsOf(pods, ctx),
        others: othersFor(pods, monitor, ctx),
        metrics: { available, ...(problem !== undefined && { problem }) },
      }),
    );
    return done();
  };
  return controller(
    AppMonitor,
    {
      // Not by what its own status says: two of us that see different things would answer each other for ever (promise L1).
      when: isOtherMonitor,
      watches: [
        { kind: PodView, map: inNamespace, when: isOtherPod },
        { kind: AppMemory, map: inNamespace, when: isOtherMemory },
        { kind: AppMonitor, map: inNamespace, when: isOtherMonitor },
        // Only to find the apps of pods; the pods themselves are the news.
        { kind: ReplicaSetView, map: () => [] },
        { kind: JobView, map: () => [] },
      ],
      sources: [availabilityOf(metrics)],
      ...options,
    },
    reconcile,
  );
}

/** Wakes everyone when Prometheus begins or ceases to answer. */
function availabilityOf(metrics: () => MetricsSeen): Source {
  const state = () => {
    const { available, unavailableForMs } = metrics();
    return available ? "answers" : unavailableForMs === undefined ? "not asked" : "does not answer";
  };
  return {
    name: "metrics",
    run: async ({ wake, cached, environment, signal }) => {
      // From "not asked", whatever it is by now: somebody may have been told so before we began.
      for (let before = "not asked"; !signal.aborted; before = state()) {
        await environment.clock.sleep(seconds(1), signal).catch(() => {});
        if (state() !== before) for (const monitor of cached.objects(AppMonitor)) wake(refOf(monitor), `Prometheus ${state()}`);
      }
    },
  };
}

function isLookedAfter({ metadata, facts: { watched, deleting } }: KeptPod, monitor: Stored<AppMonitor>): boolean {
  return watched?.monitored === true && !deleting && selects(monitor, metadata.labels);
}

function appsOf(pods: readonly KeptPod[], ctx: Ctx): readonly MonitoredApp[] {
  const apps = new Map(
    pods.flatMap((pod) => {
      const app = appOf(pod, ctx.cached);
      return app === undefined ? [] : [[appText(app), app] as const];
    }),
  );
  return [...apps].map(([name, app]) => {
    const { reason, raises = 0, oomKills = 0 } = ctx.get(AppMemory, appRef(app))?.status ?? {};
    return { app: name, reason, raises, oomKills };
  });
}

function othersFor(pods: readonly KeptPod[], { metadata }: Stored<AppMonitor>, ctx: Ctx): readonly string[] {
  return ctx
    .lookup(monitorsByNamespace, metadata.namespace ?? "")
    .filter((other) => other.metadata.uid !== metadata.uid && other.metadata.deletionTimestamp === undefined)
    .filter((other) => pods.some((pod) => selects(other, pod.metadata.labels)))
    .map((other) => other.metadata.name);
}

/** Whatever happened in a namespace concerns its AppMonitors. */
function inNamespace(
  { metadata: { namespace = "" } }: { readonly metadata: { readonly namespace?: string } },
  monitors: { objects(namespace?: string): Iterable<Stored<AppMonitor>> },
): readonly ObjectRef[] {
  return [...monitors.objects(namespace)].map(refOf);
}

// What does not change a count or a condition concerns nobody.

function isOtherPod({ type, object, previous }: Change<ObjectOf<typeof PodView>>): boolean {
  if (type !== "changed") return object.facts.watched !== undefined;
  const facts = ({ facts: { watched, deleting }, metadata }: KeptPod) => [watched?.monitored, deleting, metadata.labels];
  return !equals(facts(object), facts(previous));
}

function isOtherMemory({ type, object, previous }: Change<AppMemory>): boolean {
  const facts = ({ status }: AppMemory) => [status?.reason, status?.raises, status?.oomKills];
  return type !== "changed" || !equals(facts(object), facts(previous));
}

function isOtherMonitor({ type, object, previous }: Change<AppMonitor>): boolean {
  if (type !== "changed") return true;
  const [is, was] = [object.metadata, previous.metadata];
  return is.generation !== was.generation || is.deletionTimestamp !== was.deletionTimestamp;
}
