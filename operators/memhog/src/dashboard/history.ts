// The history that the dashboard shows: one point per app and evaluation, at most two hours. It is kept in process memory, and no
// decision uses it. 500 apps with 480 points each take about 15 MB; with more apps, each keeps fewer points.
import { keyOf, type ObjectRef, type Stored } from "@memhog/runtime";
import type { AppMonitor } from "../api/app-monitor.ts";
import { quantityText } from "../model/bytes.ts";
import type { ObservedApp, ObservedMetrics } from "../model/observed-app.ts";
import type { Action, Plan, Verdict } from "../model/plan.ts";
import { appRef } from "../observe/app-of.ts";

/** Null means unknown. */
export type Point = readonly [atMs: number, usage: number | null, limit: number | null, threshold: number | null];

export interface AppHistory {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly monitor: string | undefined;
  readonly pods: number;
  readonly summary: Plan["summary"];
  readonly usage: number | undefined;
  readonly limit: number | undefined;
  readonly oomKills: number;
  readonly actions: Plan["record"]["actions"];
  readonly points: readonly Point[];
}

const mostPoints = 480;
const mostOfAll = 240_000;

export class History {
  /** By the key of the AppMemory. */
  readonly #apps = new Map<string, AppHistory & { readonly points: Point[] }>();

  /** Adds a point after an evaluation. */
  note(seen: ObservedApp, plan: Plan): void {
    const { app, policies, pods, nowMs } = seen;
    const at = keyOf(appRef(app));
    const points = this.#apps.get(at)?.points ?? [];
    const tightest = nearestToLimit(plan.verdicts);
    const { usage, limit, thresholdBytes } = tightest?.inputs ?? {};
    points.push([nowMs, usage ?? null, limit ?? null, thresholdBytes ?? null]);
    const most = Math.min(mostPoints, Math.max(30, Math.floor(mostOfAll / Math.max(1, this.#apps.size))));
    if (points.length > most) points.splice(0, points.length - most);
    const monitor = policies.map(({ name }) => name).join(", ") || undefined;
    const key = `${app.namespace}/${app.kind}/${app.name}`;
    const about = { key, namespace: app.namespace, name: `${app.kind}/${app.name}`, monitor, pods: pods.length };
    const { actions, oomKills } = plan.record;
    this.#apps.set(at, { ...about, summary: plan.summary, usage, limit, oomKills, actions, points });
  }

  forget(ref: ObjectRef): void {
    this.#apps.delete(keyOf(ref));
  }

  apps(): readonly AppHistory[] {
    return [...this.#apps.values()];
  }
}

/** The container that uses the largest share of its limit. */
function nearestToLimit(verdicts: readonly Verdict[]): Verdict | undefined {
  const share = ({ inputs: { usage, limit } }: Verdict) => (usage === undefined || !limit ? 0 : usage / limit);
  return verdicts.reduce<Verdict | undefined>(
    (best, each) => (best === undefined || share(each) > share(best) ? each : best),
    undefined,
  );
}

/** The response of /api/state. */
export interface DashboardState {
  readonly now: number;
  readonly metrics: ObservedMetrics;
  /** Running pods that Prometheus has no samples of although it answers. */
  readonly unseenPods: number;
  readonly apps: readonly DashboardApp[];
  readonly monitors: readonly DashboardMonitor[];
}

interface DashboardApp {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly monitor: string | undefined;
  readonly pods: number;
  readonly phase: string;
  readonly reason: string;
  readonly message: string;
  readonly container: string | undefined;
  readonly usage: number | undefined;
  readonly limit: number | undefined;
  readonly oomKills: number;
  /** It keeps being OOM-killed, and memhog cannot help. Such apps come first. */
  readonly failing: boolean;
  readonly actions: readonly { readonly at: number; readonly text: string; readonly outcome: string }[];
  readonly points: readonly Point[];
}

interface DashboardMonitor {
  readonly namespace: string;
  readonly name: string;
  readonly threshold: number;
  readonly multiplier: number;
  readonly strategy: string;
  readonly pods: number;
  readonly raises: number;
  readonly oomKills: number;
  readonly conditions: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
}

export interface DashboardInputs {
  readonly nowMs: number;
  readonly metrics: ObservedMetrics;
  /** @default 0 */
  readonly unseenPods?: number;
  readonly apps: readonly AppHistory[];
  readonly monitors: Iterable<Stored<AppMonitor>>;
}

/** Contains only points after `sinceMs`: the browser keeps the earlier ones. */
export function dashboardState(inputs: DashboardInputs, sinceMs: number): DashboardState {
  const { nowMs, metrics, unseenPods = 0, apps, monitors } = inputs;
  return {
    now: nowMs,
    metrics,
    unseenPods,
    apps: apps.map((app) => dashboardApp(app, sinceMs)),
    monitors: Array.from(monitors, dashboardMonitor),
  };
}

function dashboardApp({ summary, points, actions, ...app }: AppHistory, sinceMs: number): DashboardApp {
  const { phase, reason, message, container } = summary;
  const fresh = points.filter(([atMs]) => atMs > sinceMs);
  const failing = reason === "OutOfMemoryAtCap" || reason === "RaisesIneffective";
  return { ...app, failing, phase, reason, message, container, actions: actions.map(dashboardAction), points: fresh };
}

function dashboardAction({ atMs, reason, method, outcome, changes }: Action): DashboardApp["actions"][number] {
  const what = changes.map(({ container, from, to }) => `${container} ${quantityText(from.limit)} → ${quantityText(to.limit)}`);
  return { at: atMs, outcome, text: `${reason}: ${what.join(", ")} (${method}, ${outcome})` };
}

function dashboardMonitor({ metadata, spec, status }: Stored<AppMonitor>): DashboardMonitor {
  return {
    namespace: metadata.namespace ?? "",
    name: metadata.name,
    threshold: spec.memThresholdPercent,
    multiplier: spec.memMultiplier,
    strategy: spec.strategy,
    pods: status?.pods ?? 0,
    raises: status?.raises ?? 0,
    oomKills: status?.oomKills ?? 0,
    conditions: (status?.conditions ?? []).map(({ type, status: is, reason }) => ({ type, status: is, reason })),
  };
}
