// What the AppMonitors of a namespace ask for, with every default filled in.
import { type LabelSelector, matches, type Stored } from "@memhog/runtime";
import type { AppMonitor } from "../api/app-monitor.ts";
import { type Bytes, bytesOf } from "../model/bytes.ts";
import type { Policy } from "../model/policy.ts";

type Labels = Readonly<Record<string, string>> | undefined;

/** The AppMonitors that select at least one of these pods, by name. One is as it should be. */
export function policiesFor(monitors: Iterable<Stored<AppMonitor>>, pods: readonly Labels[]): readonly Policy[] {
  return [...monitors]
    .filter((monitor) => monitor.metadata.deletionTimestamp === undefined && pods.some((labels) => selects(monitor, labels)))
    .map(policyOf)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Without a selector all pods of the namespace; with one that cannot be read none. */
export function selects({ spec }: AppMonitor, labels: Labels): boolean {
  try {
    return spec.selector === undefined || matches(spec.selector as LabelSelector, labels);
  } catch {
    return false;
  }
}

export function policyOf({ metadata, spec }: Stored<AppMonitor>): Policy {
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
  };
}

/** The CRD refuses what is no quantity. Should one get past it, a cap that cannot be read allows nothing rather than everything. */
function capIn(quantity: string | number | undefined): Bytes | undefined {
  if (quantity === undefined) return undefined;
  try {
    return bytesOf(quantity);
  } catch {
    return 0 as Bytes;
  }
}
