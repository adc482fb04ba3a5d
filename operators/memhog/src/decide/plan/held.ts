// The verdicts as they stand in the end: a raise that is not done now says why, and so does one that did not fit its node.
import type { Verdict } from "../../model/plan.ts";
import type { AppSeen } from "../../model/seen.ts";
import { type Hold, hold } from "../facts.ts";
import type { Braked } from "./pace.ts";
import { podOf } from "./progress.ts";

export function heldVerdicts(seen: AppSeen, verdicts: readonly Verdict[], held: ReadonlyMap<string, Braked>): readonly Verdict[] {
  return verdicts.map((verdict) => {
    const why = held.get(verdict.pod.uid)?.hold;
    if (why !== undefined && (verdict.decision.kind === "raise" || isWaiting(verdict))) return withHold(verdict, why);
    return why === undefined && isStuck(seen, verdict) ? withHold(verdict, stuck) : verdict;
  });
}

const isWaiting = ({ decision }: Verdict): boolean => decision.reason === "ResizeInProgress";

function withHold(verdict: Verdict, why: Hold): Verdict {
  const { decision } = verdict;
  const detail = decision.kind === "raise" ? `${decision.detail}; ${why.detail}` : why.detail;
  return { ...verdict, decision: { ...why, detail, ...(decision.wanted === undefined ? {} : { wanted: decision.wanted }) } };
}

const stuck = hold("InPlaceImpossible", "its spec asks for more than its node can ever give; the kubelet keeps to the old size");

/** Its spec was raised, and the kubelet will never follow: by its spec it would seem to be well. */
function isStuck(seen: AppSeen, { pod: { uid }, decision }: Verdict): boolean {
  if (decision.reason !== "BelowThreshold" || podOf(seen, uid)?.resize.state !== "infeasible") return false;
  return seen.record.actions.some(({ pod, outcome }) => pod.uid === uid && outcome === "Infeasible");
}
