// The state of an app in one word and one sentence. What is being done comes first; then, of all verdicts, the one that a person
// would want to know about. The order is stable: a sample more or less must not move it (E1).
import type { Phase, Summary, Verdict } from "../../model/plan.ts";
import type { Reason } from "../../model/reasons.ts";
import type { AppRecord, Intent } from "../../model/record.ts";
import type { AppSeen } from "../../model/seen.ts";
import { containerOf, isInfeasible, isRefused, podOf } from "./progress.ts";

/** The most telling first, and the phase that goes with it. Raise reasons are those of raises that begin with this plan. */
const order: readonly (readonly [Phase, readonly Reason[]])[] = [
  ["Stopped", ["AmbiguousMonitor", "Paused", "Contested", "RaisesFutile", "SuspectedLeak"]],
  ["Raising", ["OutOfMemory", "WillRunOut", "ThresholdCrossed", "LearnedBefore"]],
  ["Waiting", ["CircuitOpen", "Refused", "ReplacementNotReady", "WouldCauseDowntime", "InPlaceImpossible", "OwnerNotEditable"]],
  [
    "Waiting",
    [
      "AnotherAutoscaler",
      "AtCeiling",
      "RecommendOnly",
      "ResizeDeferred",
      "RolloutInProgress",
      "ResizeInProgress",
      "Busy",
      "CoolingDown",
    ],
  ],
  ["Watching", ["MetricsUnavailable", "SampleStale", "BelowThreshold", "NoSample", "NotRunning", "NoLimit", "Terminating"]],
  ["Stopped", ["NoMonitor", "NotMonitored"]],
];
const ranks: ReadonlyMap<Reason, number> = new Map(order.flatMap(([, reasons]) => reasons).map((reason, i) => [reason, i]));
const rank = (reason: Reason): number => ranks.get(reason) ?? ranks.size;
const phaseOf = (reason: Reason): Phase => order.find(([, reasons]) => reasons.includes(reason))?.[0] ?? "Watching";

/** Of whatever it is about; the rival is that of the app. */
type State = Omit<Summary, "rival">;

export function summarise(seen: AppSeen, record: AppRecord, verdicts: readonly Verdict[]): Summary {
  return { ...stateIn(seen, record, verdicts), rival: seen.rival };
}

function stateIn(seen: AppSeen, record: AppRecord, verdicts: readonly Verdict[]): State {
  const foremost = verdicts.toSorted(byImportance)[0];
  const intent = record.intents.find((one) => !one.limitsApplied) ?? record.intents[0];
  if (intent !== undefined && (foremost === undefined || phaseOf(foremost.decision.reason) !== "Stopped")) {
    return ofIntent(seen, intent, foremost);
  }
  return foremost === undefined ? ofNothing(seen) : ofVerdict(seen, foremost);
}

function byImportance(a: Verdict, b: Verdict): number {
  const first = rank(a.decision.reason) - rank(b.decision.reason);
  if (first !== 0) return first;
  const nearest = phaseOf(a.decision.reason) === "Watching" ? share(b) - share(a) : 0;
  return nearest || (b.inputs.limit ?? 0) - (a.inputs.limit ?? 0) || (keyOf(a) < keyOf(b) ? -1 : 1);
}

const share = ({ inputs: { usage, limit } }: Verdict): number => (usage === undefined || !limit ? 0 : usage / limit);
const keyOf = ({ pod, container }: Verdict): string => `${pod.name}/${container}`;

function ofVerdict(seen: AppSeen, { pod, container, decision, inputs }: Verdict): State {
  return {
    phase: phaseOf(decision.reason),
    reason: decision.reason,
    message: `${pod.name}/${container}: ${decision.detail}`,
    container,
    limit: inputs.limit,
    wanted: decision.wanted?.limit ?? inputs.limit,
    applied: appliedOf(seen, pod.uid, container),
  };
}

function ofIntent(seen: AppSeen, intent: Intent, foremost: Verdict | undefined): State {
  const [change] = intent.changes;
  const container = change?.container;
  const pod = podOf(seen, intent.pod.uid);
  const has = pod && container !== undefined ? containerOf(pod, container)?.limit : undefined;
  return {
    ...stateOf(intent, foremost),
    message: `${intent.pod.name}: ${intent.waitingFor === undefined ? `${intent.road}, because of ${intent.reason}` : `waits for ${intent.waitingFor}`}`,
    container,
    limit: has ?? change?.from.limit,
    wanted: change?.to.limit,
    applied: container === undefined ? undefined : appliedOf(seen, intent.pod.uid, container),
  };
}

function stateOf(intent: Intent, foremost: Verdict | undefined): Pick<Summary, "phase" | "reason"> {
  if (isRefused(intent)) return { phase: "Waiting", reason: "Refused" };
  if (isInfeasible(intent)) return { phase: "Waiting", reason: heldFor(foremost) };
  if (intent.road === "CopyPod" || intent.waitingFor === undefined) return { phase: "Raising", reason: intent.reason };
  return { phase: "Waiting", reason: intent.road === "Template" ? "RolloutInProgress" : "ResizeDeferred" };
}

const heldFor = (foremost: Verdict | undefined): Reason =>
  foremost?.decision.kind === "hold" ? foremost.decision.reason : "Busy";

function ofNothing(seen: AppSeen): State {
  const reason = seen.policies.length === 0 ? "NoMonitor" : "NotRunning";
  const nothing = { container: undefined, limit: undefined, wanted: undefined, applied: undefined };
  return { phase: phaseOf(reason), reason, message: `${seen.app.name} has no pods`, ...nothing };
}

function appliedOf(seen: AppSeen, uid: string, container: string): Summary["applied"] {
  const pod = podOf(seen, uid);
  return pod && containerOf(pod, container)?.appliedLimit;
}
