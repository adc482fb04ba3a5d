// What the page asks for, as JSON: the apps with the points that are new to it, and the AppMonitors.
import type { Stored } from "@memhog/runtime";
import type { AppMonitor } from "../api/app-monitor.ts";
import { quantityText } from "../model/bytes.ts";
import type { Action } from "../model/record.ts";
import type { MetricsSeen } from "../model/seen.ts";
import type { AppHistory, Point } from "./history.ts";

export interface PageState {
  readonly now: number;
  readonly metrics: MetricsSeen;
  readonly apps: readonly PageApp[];
  readonly monitors: readonly PageMonitor[];
}

interface PageApp {
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
  readonly actions: readonly { readonly at: number; readonly text: string; readonly outcome: string }[];
  readonly points: readonly Point[];
}

interface PageMonitor {
  readonly namespace: string;
  readonly name: string;
  readonly threshold: number;
  readonly multiplier: number;
  readonly strategy: string;
  readonly pods: number;
  readonly raises: number;
  readonly conditions: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
}

export interface PageInputs {
  readonly nowMs: number;
  readonly metrics: MetricsSeen;
  readonly apps: readonly AppHistory[];
  readonly monitors: Iterable<Stored<AppMonitor>>;
}

/** Only points after `sinceMs`: the page keeps the others. */
export function pageState({ nowMs, metrics, apps, monitors }: PageInputs, sinceMs: number): PageState {
  return { now: nowMs, metrics, apps: apps.map((app) => pageApp(app, sinceMs)), monitors: Array.from(monitors, pageMonitor) };
}

function pageApp({ summary, points, actions, ...app }: AppHistory, sinceMs: number): PageApp {
  const { phase, reason, message, container } = summary;
  const fresh = points.filter(([atMs]) => atMs > sinceMs);
  return { ...app, phase, reason, message, container, actions: actions.map(pageAction), points: fresh };
}

function pageAction({ atMs, reason, road, outcome, changes }: Action): PageApp["actions"][number] {
  const what = changes.map(({ container, from, to }) => `${container} ${quantityText(from.limit)} → ${quantityText(to.limit)}`);
  return { at: atMs, outcome, text: `${reason}: ${what.join(", ")} (${road}, ${outcome})` };
}

function pageMonitor({ metadata, spec, status }: Stored<AppMonitor>): PageMonitor {
  return {
    namespace: metadata.namespace ?? "",
    name: metadata.name,
    threshold: spec.memThresholdPercent,
    multiplier: spec.memMultiplier,
    strategy: spec.strategy,
    pods: status?.pods ?? 0,
    raises: status?.raises ?? 0,
    conditions: (status?.conditions ?? []).map(({ type, status: is, reason }) => ({ type, status: is, reason })),
  };
}
