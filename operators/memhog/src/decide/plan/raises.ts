// The raises of a decision, gathered by pod, the most urgent first: where not all can be done at once, order is survival.
import type { Decision, Verdict } from "../../model/plan.ts";
import type { RaiseReason } from "../../model/reasons.ts";
import type { Change, Intent } from "../../model/record.ts";
import type { AppSeen, PodSeen } from "../../model/seen.ts";

export interface PodRaise {
  readonly pod: PodSeen;
  readonly changes: readonly Change[];
  readonly reason: RaiseReason;
  /** The intent in place that turned out to be infeasible, and that this takes the place of. */
  readonly instead?: Intent;
}

const urgency: readonly RaiseReason[] = ["OutOfMemory", "WillRunOut", "ThresholdCrossed", "LearnedBefore"];
const rank = (reason: RaiseReason): number => urgency.indexOf(reason);

export function raisesIn(seen: AppSeen, verdicts: readonly Verdict[]): readonly PodRaise[] {
  return seen.pods
    .flatMap((pod) => {
      const raises = verdicts
        .filter((verdict) => verdict.pod.uid === pod.uid)
        .flatMap(({ container, decision }) => raiseOf(container, decision));
      const [first] = raises.toSorted((a, b) => rank(a.reason) - rank(b.reason));
      return first === undefined ? [] : [{ pod, changes: raises.map(({ change }) => change), reason: first.reason }];
    })
    .toSorted((a, b) => rank(a.reason) - rank(b.reason) || (a.pod.name < b.pod.name ? -1 : 1));
}

function raiseOf(container: string, decision: Decision): readonly { readonly change: Change; readonly reason: RaiseReason }[] {
  if (decision.kind !== "raise") return [];
  const { from, granted: to, cappedBy, reason } = decision;
  return [{ change: { container, from, to, ...(cappedBy === undefined ? {} : { cappedBy }) }, reason }];
}
