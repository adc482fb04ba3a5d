// Which kills are counted with this record. A kill is counted by the very record that holds the answer to it: the intent that
// raises, or the hold that will not. As long as the answer is only "later" it stays uncounted, and so it is asked again.
import type { Verdict } from "../../model/plan.ts";
import type { HoldReason } from "../../model/reasons.ts";
import type { AppRecord, Intent } from "../../model/record.ts";
import type { AppSeen } from "../../model/seen.ts";
import { hasEnded } from "../in-place-able.ts";
import { containerOf, podOf } from "./progress.ts";
import { withKill } from "./remember.ts";

const later: ReadonlySet<HoldReason> = new Set<HoldReason>([
  "Terminating",
  "NotMonitored",
  "NoMonitor",
  "AmbiguousMonitor",
  "Paused",
  "ResizeInProgress",
  "ResizeDeferred",
  "RolloutInProgress",
  "ReplacementNotReady",
  "WouldCauseDowntime",
  "CircuitOpen",
  "Refused",
  "Busy",
  "NotRunning",
]);

export function countKills(seen: AppSeen, record: AppRecord, verdicts: readonly Verdict[]): AppRecord {
  return verdicts.reduce((sum, { pod: { uid }, container, decision }) => {
    const pod = podOf(seen, uid);
    const over = pod !== undefined && hasEnded(pod) && decision.reason === "NotRunning";
    const final = over || decision.kind === "raise" || !later.has(decision.reason);
    return final ? counted(seen, sum, uid, container) : sum;
  }, record);
}

/**
 * Memory that has just arrived answers every kill so far, also one between the decision and the arrival: that was of the old limit.
 * To be counted before the verdicts, or they would answer it once more.
 */
export function countAnswered(seen: AppSeen, record: AppRecord, arrived: readonly Intent[]): AppRecord {
  const containers = arrived.flatMap(({ pod, changes }) => changes.map(({ container }) => ({ uid: pod.uid, container })));
  return containers.reduce((sum, { uid, container }) => counted(seen, sum, uid, container), record);
}

function counted(seen: AppSeen, record: AppRecord, uid: string, container: string): AppRecord {
  const pod = podOf(seen, uid);
  const kill = pod && containerOf(pod, container)?.oomKill;
  return kill === undefined ? record : withKill(record, uid, container, kill.restart);
}
