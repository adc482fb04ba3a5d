// Which AppMonitor acts on an app. Several may select one pod, usually a default for the namespace and one for the app. The most
// specific one acts on the pod: the one whose selector has the most requirements. Each entry of matchLabels and of matchExpressions is
// one requirement.
//
//     AppMonitors that select a pod               requirements   acts
//     all {}, web {app: web}                      0, 1           web
//     all {}, web {app: web}, tier {app, tier}    0, 1, 2        tier
//     web {app: web}, front {tier: front}         1, 1           none: AmbiguousMonitor
//     all {}, everything (no selector)            0, 0           none: AmbiguousMonitor
//
// The number of values of an expression and the pods that a selector happens to match do not count: whoever reads two AppMonitors can
// tell which one acts, without looking at the pods. Pausing an AppMonitor does not make room for a less specific one; deleting it does.
//
// An app is decided as a whole. If different AppMonitors act on its pods, all of them are returned, and none acts (F2).
import type { Stored } from "@memhog/runtime";
import type { CacheReader } from "@memhog/runtime/controller";
import type { LabelSelector } from "@memhog/runtime/kinds";
import { matches } from "@memhog/runtime/objects";
import type { AppMonitor } from "../api/app-monitor.ts";
import { type Bytes, bytesOf } from "../model/bytes.ts";
import type { AppName, Policy } from "../model/observed-app.ts";
import { monitorsByNamespace } from "./kinds.ts";
import { type KeptPod, podsOf } from "./pods.ts";

type Monitor = Stored<AppMonitor>;
type Labels = Readonly<Record<string, string>> | undefined;

/** The AppMonitors that select pods of an app, sorted by name. */
export interface Ranking {
  /** The most specific ones. With more than one, none acts. */
  readonly acting: readonly Monitor[];
  /** They select pods of the app too, but a more specific one acts on each of these. */
  readonly outranked: readonly Monitor[];
}

/** Pods without the annotation do not count. */
export function monitorsOf(
  app: AppName,
  cached: Pick<CacheReader, "get" | "lookup">,
  pods: readonly KeptPod[] = podsOf(app, cached),
): Ranking {
  const watched = pods.filter(({ facts }) => facts.watched !== undefined);
  return rank(
    cached.lookup(monitorsByNamespace, app.namespace),
    watched.map(({ metadata }) => metadata.labels),
  );
}

/** @param pods The labels of each pod. */
export function rank(monitors: Iterable<Monitor>, pods: readonly Labels[]): Ranking {
  const present = [...monitors].filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const selected = present.filter((monitor) => pods.some((labels) => selects(monitor, labels)));
  const acting = new Set(pods.flatMap((labels) => mostSpecific(selected.filter((monitor) => selects(monitor, labels)))));
  return {
    acting: selected.filter((monitor) => acting.has(monitor)).sort(byName),
    outranked: selected.filter((monitor) => !acting.has(monitor)).sort(byName),
  };
}

function mostSpecific(monitors: readonly Monitor[]): readonly Monitor[] {
  const most = Math.max(...monitors.map(requirements));
  return monitors.filter((monitor) => requirements(monitor) === most);
}

function requirements({ spec: { selector = {} } }: AppMonitor): number {
  return Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions?.length ?? 0);
}

/** No selector selects all pods of the namespace. A malformed selector selects none. */
export function selects({ spec }: AppMonitor, labels: Labels): boolean {
  try {
    return spec.selector === undefined || matches(spec.selector as LabelSelector, labels);
  } catch {
    return false;
  }
}

/** Why the selector selects nothing whatever the labels are. The CRD cannot reject malformed keys of matchLabels. */
export function selectorProblem({ spec }: AppMonitor): string | undefined {
  try {
    if (spec.selector !== undefined) matches(spec.selector as LabelSelector, {});
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const byName = (a: Monitor, b: Monitor): number => (a.metadata.name < b.metadata.name ? -1 : 1);

/** The spec of an AppMonitor with its defaults. */
export function policyOf({ metadata, spec }: Monitor): Policy {
  return {
    name: metadata.name,
    uid: metadata.uid,
    generation: metadata.generation ?? 0,
    thresholdPercent: spec.memThresholdPercent,
    multiplier: spec.memMultiplier,
    strategy: spec.strategy ?? "Auto",
    metric: spec.metric ?? "WorkingSet",
    maxMemory: capIn(spec.maxMemory),
    cooldownMs: (spec.cooldownSeconds ?? 60) * 1000,
    lookaheadMs: (spec.lookaheadSeconds ?? 60) * 1000,
    maxRaisesPerHour: spec.maxRaisesPerHour ?? 6,
    paused: spec.paused ?? false,
    shrink: spec.shrink && shrinkIn(spec.shrink),
  };
}

const hourMs = 3_600_000;
export const windows = { Day: 24 * hourMs, Week: 168 * hourMs } as const;

function shrinkIn({ window = "Day", marginPercent = 20, belowTemplate = false }: NonNullable<AppMonitor["spec"]["shrink"]>) {
  return { windowMs: windows[window], margin: marginPercent / 100, belowTemplate };
}

/** The CRD rejects malformed quantities. If one is stored anyway, it fails safe: nothing is raised. */
function capIn(quantity: string | number | undefined): Bytes | undefined {
  if (quantity === undefined) return undefined;
  try {
    return bytesOf(quantity);
  } catch {
    return 0 as Bytes;
  }
}
