// The progress of an intent, judged by the cluster alone. Each method has one function that computes it (in-place.ts, redeploy.ts). It
// is called twice in a decision: before the verdicts, to end intents, and after them, for the next command. So whoever finds the
// intent, after a crash or as a second leader, derives the same command.
import { copyFor, live, type ObservedApp, type ObservedPod, type Policy, podOf } from "../model/observed-app.ts";
import type { ActionOutcome, Change, Command, Given, Intent, Waiting } from "../model/plan.ts";
import { type ActionCause, type WaitReason, waitReasons } from "../model/reasons.ts";

export interface Progress {
  /** The intent as it is stored from now on. */
  readonly intent: Intent;
  /** The intent has not ended. */
  readonly open: boolean;
  /** The memory is applied, seen for the first time. The intent may stay open, because requests follow the limits. */
  readonly arrived?: boolean;
  /** How it ended; set if, and only if, `open` is false. */
  readonly outcome?: ActionOutcome;
  readonly cause?: ActionCause;
  readonly message?: string;
  /** What to do now; unset while it waits. */
  readonly command?: Command;
  /** Limits that pods and templates were given, to detect reverts. */
  readonly given?: readonly Given[];
}

export const ended = (intent: Intent, outcome: ActionOutcome, message: string, cause?: ActionCause): Progress => ({
  intent,
  open: false,
  arrived: outcome === "Applied" && !intent.limitsApplied,
  outcome,
  message,
  ...(cause !== undefined && { cause }),
});

/** It waits. The reason must be stable: one that changes would be a write on every pass (E1). */
export function waiting(intent: Intent, reason: WaitReason, rest: Partial<Progress> = {}): Progress {
  return { intent: intent.waiting?.reason === reason ? intent : { ...intent, waiting: { reason } }, open: true, ...rest };
}

/** It makes progress (again). */
export function goingOn(intent: Intent, rest: Partial<Progress> = {}): Progress {
  const { waiting: before, ...free } = intent;
  return { intent: before === undefined ? intent : free, open: true, ...rest };
}

export const waitText = ({ reason, message }: Waiting): string => message ?? waitReasons[reason];

/** The API server rejected it (execute/outcome.ts). */
export const isRefused = ({ waiting: why }: Intent): boolean => why?.reason === "Refused" || why?.reason === "NameTaken";
/** The API server (403, cause NodeCapacity) or the kubelet says that it can never fit on the node. */
export const isInfeasible = ({ method, limitsApplied, waiting: why }: Intent): boolean =>
  method === "InPlace" && !limitsApplied && why?.reason === "ResizeInfeasible";
export const neverFits = "it can never fit on the node";

export function endedRefused(intent: Intent): Progress {
  const cause = intent.waiting?.reason === "NameTaken" ? "NameTaken" : undefined;
  return ended(intent, "Refused", intent.waiting === undefined ? "" : waitText(intent.waiting), cause);
}

/** A patch that is accepted and changes nothing, perhaps because of a webhook, is not sent forever. */
export const takenUpWithinMs = 600_000;
/** Or memhog was not running, so the first time it is retried at once (methods.ts). */
export const endedWithoutEffect = (intent: Intent): Progress =>
  ended(intent, "Refused", "it had no effect within 10 minutes", "NoEffect");

/** Milliseconds since then; never negative, even if the clock was set back (M5). */
export const since = (seen: ObservedApp, atMs: number): number => Math.max(0, seen.nowMs - atMs);

/**
 * The age of a replacement pod: by its creation time, and by the monotonic clock since memhog asked for it. The shorter one counts, so
 * a clock that is an hour ahead does not expire it (M5).
 */
export function sinceMade(seen: ObservedApp, intent: Intent, pod: ObservedPod): number {
  return Math.min(since(seen, pod.createdAtMs), seen.raisedAgoMs.get(intent.pod.uid) ?? Number.POSITIVE_INFINITY);
}

export const minutes = (count: number): number => count * 60_000;

export const limitsOf = (uid: string, changes: readonly Change[]): readonly Given[] =>
  changes.map((change) => ({ uid, container: change.container, limit: change.to.limit }));

// Whether memhog may act at all (E4). While the AppMonitor is paused, or if not exactly one selects the app, there are no commands and
// the intents stay as they are. The annotation "false" exempts single pods.

/** The AppMonitor to follow: the only one, unless it is paused. */
export function policyInCharge(seen: ObservedApp): Policy | undefined {
  const [policy, ...others] = seen.policies;
  return policy !== undefined && others.length === 0 && !policy.paused ? policy : undefined;
}

/** memhog must not act on this intent. */
export const isFrozen = (seen: ObservedApp, intent: Intent): boolean =>
  policyInCharge(seen) === undefined || isExempt(seen, intent);

/** A pod that it concerns is not monitored. */
export function isExempt(seen: ObservedApp, intent: Intent): boolean {
  const concerned = intent.method === "Template" ? [newest(seen.pods)] : [podOf(seen, intent.pod.uid), copyFor(seen, intent)];
  return concerned.some((pod) => pod?.monitored === false);
}

// The annotation of the newest pod is that of the template. Older pods may still have the previous one.
function newest(pods: readonly ObservedPod[]): ObservedPod | undefined {
  const alive = pods.filter(live);
  return (alive.length > 0 ? alive : pods).toSorted((a, b) => b.createdAtMs - a.createdAtMs || compare(a.name, b.name))[0];
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
