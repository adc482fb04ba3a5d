// How far an intent has come, judged by the world alone. Each road has one function that says so; it is asked twice in a
// decision: before the verdicts, to end what has ended, and after them, for the next command of whatever is open. One function for
// both is what makes a decision repeatable: whoever finds the intent, after a crash or as a second leader, derives the same step.
import type { Command } from "../../model/plan.ts";
import type { ActionOutcome, Change, Given, Intent } from "../../model/record.ts";
import type { AppSeen, ContainerSeen, PodSeen } from "../../model/seen.ts";

export interface Progress {
  /** As it is to be recorded from now on. */
  readonly intent: Intent;
  /** There is still something to do or to wait for. */
  readonly open: boolean;
  /** The memory has arrived, seen for the first time. An intent may stay open after that: the requests follow the limits. */
  readonly arrived?: boolean;
  /** How it ended; there is one if, and only if, it is not open any more. */
  readonly outcome?: ActionOutcome;
  readonly detail?: string;
  /** What to do now; nothing where we wait. */
  readonly command?: Command;
  /** What the world was seen to have taken from us. */
  readonly given?: readonly Given[];
}

export const ended = (intent: Intent, outcome: ActionOutcome, detail: string): Progress => ({
  intent,
  open: false,
  arrived: outcome === "Applied" && !intent.limitsApplied,
  outcome,
  detail,
});

/** Nothing to do but wait, and why. The same words each time: a reason that changes would be a write on every pass (E1). */
export function waiting(intent: Intent, waitingFor: string, rest: Partial<Progress> = {}): Progress {
  return { intent: intent.waitingFor === waitingFor ? intent : { ...intent, waitingFor }, open: true, ...rest };
}

/** Nothing stands in its way (any more). */
export function goingOn(intent: Intent, rest: Partial<Progress> = {}): Progress {
  const { waitingFor, ...free } = intent;
  return { intent: waitingFor === undefined ? intent : free, open: true, ...rest };
}

/** What reconcile stores in waitingFor when the API server said no. */
export const isRefused = (intent: Intent): boolean => intent.waitingFor?.startsWith("Refused") ?? false;
/** … or that no node of this size exists (403, cause NodeCapacity). */
export const isInfeasible = (intent: Intent): boolean =>
  intent.road === "InPlace" && !intent.limitsApplied && (intent.waitingFor?.startsWith("Infeasible") ?? false);
export const neverFits = "it never fits this node";

/** A patch that is accepted and changes nothing (a webhook may do that) is not sent for ever. */
export const takenUpWithinMs = 600_000;
/** Or we were not there to send it: so the first time it is tried again at once (plan/pace.ts). */
export const notTakenUp = "it was not taken up within 10 minutes";

export const podOf = (seen: AppSeen, uid: string): PodSeen | undefined => seen.pods.find((pod) => pod.uid === uid);

/** It has run to its end, and will not run again. */
export const over = (pod: PodSeen): boolean => pod.phase === "Succeeded" || pod.phase === "Failed";
export const live = (pod: PodSeen): boolean => !pod.deleting && !over(pod);

export const containerOf = (pod: PodSeen, name: string): ContainerSeen | undefined =>
  pod.containers.find((container) => container.name === name);

/** Milliseconds since then. A clock that was set back has not made time run backwards (M5). */
export const since = (seen: AppSeen, atMs: number): number => Math.max(0, seen.nowMs - atMs);

/**
 * How long a pod that took the place of another has been there: by the time of the API server, which made it, and by the witness, who
 * saw us ask for it. The shorter counts: a clock that is an hour ahead takes nobody's time away (M5).
 */
export function sinceMade(seen: AppSeen, intent: Intent, pod: PodSeen): number {
  return Math.min(since(seen, pod.createdAtMs), seen.raisedAgoMs.get(intent.pod.uid) ?? Number.POSITIVE_INFINITY);
}

export const minutes = (count: number): number => count * 60_000;

export const limitsOf = (uid: string, changes: readonly Change[]): readonly Given[] =>
  changes.map((change) => ({ uid, container: change.container, limit: change.to.limit }));
