// Whether we may touch anything at all (E4). Paused, or not exactly one AppMonitor in charge: no command, and the intents stay as
// they are, so that whoever resumes finds what was under way. A pod whose annotation says no is left out alone.
import type { Policy } from "../../model/policy.ts";
import type { Intent } from "../../model/record.ts";
import type { AppSeen, PodSeen } from "../../model/seen.ts";
import { copyFor } from "./copy-pod.ts";
import { live, podOf } from "./progress.ts";

/** The one AppMonitor in charge, unless it is paused. */
export function policyInCharge(seen: AppSeen): Policy | undefined {
  const [policy, ...others] = seen.policies;
  return policy !== undefined && others.length === 0 && !policy.paused ? policy : undefined;
}

/** Nothing may be done about this intent. */
export function isOff(seen: AppSeen, intent: Intent): boolean {
  if (policyInCharge(seen) === undefined) return true;
  const concerned = intent.road === "Template" ? [newest(seen.pods)] : [podOf(seen, intent.pod.uid), copyFor(seen, intent)];
  return concerned.some((pod) => pod?.monitored === false);
}

// The annotation of a template is that of its newest pod: older ones may still say what it said before.
function newest(pods: readonly PodSeen[]): PodSeen | undefined {
  const alive = pods.filter(live);
  return (alive.length > 0 ? alive : pods).toSorted((a, b) => b.createdAtMs - a.createdAtMs || compare(a.name, b.name))[0];
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
