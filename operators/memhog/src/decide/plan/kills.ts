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
  "CircuitOpen",
  "Refused",
  "Busy",
  "NotRunning",
]);

export function countKills(
  seen: AppSeen,
  record: AppRecord,
  verdicts: readonly Verdict[],
  arrived: readonly Intent[],
): AppRecord {
  return verdicts.reduce((sum, verdict) => {
    const pod = podOf(seen, verdict.pod.uid);
    const kill = pod && containerOf(pod, verdict.container)?.oomKill;
    if (pod === undefined || kill === undefined) return sum;
    // The memory came after the kill, or with it: then that is the answer.
    const answered = arrived.some(
      ({ pod: of, changes }) => of.uid === pod.uid && changes.some((c) => c.container === verdict.container),
    );
    const final = answered || isFinal(verdict) || (hasEnded(pod) && isOver(verdict));
    return final ? withKill(sum, pod.uid, verdict.container, kill.restart) : sum;
  }, record);
}

const isFinal = ({ decision }: Verdict): boolean => decision.kind === "raise" || !later.has(decision.reason);
const isOver = ({ decision }: Verdict): boolean => decision.reason === "NotRunning";
