// Decides what to do about one app. A pure function: every decision of memhog is made in this folder, from values alone.
//
//   1. settle      compares the raises in progress with the cluster: applied, gone, deferred, rejected, reverted? (settle.ts)
//   2. judge       a verdict on every container (verdict.ts). A raise becomes an intent (intents.ts) if there is a method for it
//                  and a free slot (methods.ts); otherwise it becomes a hold. OOM kills and stops are recorded.
//   3. commands    the next step of every intent (in-place.ts, redeploy.ts)
//
// The record is stored before any command runs, and a command follows from the stored intent and the cluster, never from the time at
// which it was decided. So a crash at any point, or a second leader, makes no difference: decide() on its own record and the same
// cluster returns the same record and the same commands (C1). The id of an intent contains no time: two leaders make the same one,
// and only one of them can store it (L1).
//
// While an AppMonitor is paused, not even the record changes (E4).
import { containerOf, copyFor, type ObservedApp, podOf } from "../model/observed-app.ts";
import type { AppRecord, Intent, Phase, Plan, Summary, Verdict } from "../model/plan.ts";
import type { Reason } from "../model/reasons.ts";
import { type Hold, hold } from "./facts.ts";
import { intend } from "./intents.ts";
import type { Postponed } from "./methods.ts";
import { isInfeasible, isRefused, policyInCharge, waitText } from "./progress.ts";
import { copyAge, copyPatienceMs, isRollingBack, rolloutDeadlines } from "./redeploy.ts";
import { countAnswered, countKills, forgetGone, noteFallBacks, progressOf, settle, storeStops } from "./settle.ts";
import { verdictsOn } from "./verdict.ts";

export function decide(seen: ObservedApp): Plan {
  if (seen.policies.some((policy) => policy.paused)) return pausedPlan(seen);
  const before = settle(seen);
  const known = noteFallBacks(seen, forgetGone(countAnswered(seen, before.record, before.arrived), seen));
  const { record, verdicts, settled, held } = judgeUntilStable({ ...seen, record: known });
  return {
    verdicts,
    record,
    commands: record.intents.flatMap((intent) => progressOf({ ...seen, record }, intent).command ?? []),
    settled: [...before.settled, ...settled],
    summary: summarize(seen, record, verdicts),
    requeueAfterMs: requeueDelayMs(seen, record, verdicts, held.values()),
  };
}

function pausedPlan(seen: ObservedApp): Plan {
  const verdicts = verdictsOn(seen);
  const summary = summarize(seen, seen.record, verdicts);
  return { verdicts, record: seen.record, commands: [], settled: [], summary, requeueAfterMs: undefined };
}

// One round of verdicts is not always enough. Room is shared, and pods are judged in their order but begun in order of urgency; some
// are held back (Busy). So after a round there may be more or less room than a verdict assumed, and a counted kill is no longer
// there for the next verdict. Rounds repeat until nothing changes: otherwise the next pass would decide differently on the same
// cluster, and a crash in between would make a difference (C1).

interface Round {
  readonly record: AppRecord;
  readonly verdicts: readonly Verdict[];
  readonly settled: Plan["settled"];
  readonly held: ReadonlyMap<string, Postponed>;
}

/** A guard against an endless loop. Every round adds an intent, a kill or a stop, and all of these are bounded. */
const mostRounds = 20;

function judgeUntilStable(seen: ObservedApp): Round {
  let all = judge(seen);
  for (let round = 1; round < mostRounds; round++) {
    const next = judge({ ...seen, record: all.record });
    if (next.record === all.record) break;
    all = {
      ...next,
      verdicts: all.verdicts.map((verdict, i) => newsOf(verdict, next.verdicts[i])),
      settled: [...all.settled, ...next.settled],
    };
  }
  return all;
}

// The first verdict on a container is the one to report: later rounds only see it in progress. Unless a later round raises it.
const newsOf = (first: Verdict, later: Verdict | undefined): Verdict => (later?.decision.kind === "raise" ? later : first);

function judge(seen: ObservedApp): Round {
  const judged = verdictsOn(seen);
  const { record, settled, held } = intend(seen, judged);
  const verdicts = heldVerdicts(seen, judged, held);
  const policy = policyInCharge(seen);
  if (policy === undefined) return { record, verdicts, settled, held };
  const counted = countKills(seen, record, verdicts);
  return { record: storeStops(seen, counted, verdicts, policy), verdicts, settled, held };
}

// The final verdicts: a raise that is not begun now says why, and so does one that did not fit its node.

function heldVerdicts(seen: ObservedApp, verdicts: readonly Verdict[], held: ReadonlyMap<string, Postponed>): readonly Verdict[] {
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

const stuck = hold("InPlaceImpossible", "the pod spec asks for more than the node can ever give; the kubelet keeps the old size");

/** The spec was raised and the kubelet will never apply it. Judged by its spec alone, the pod would look fine. */
function isStuck(seen: ObservedApp, { pod: { uid }, decision }: Verdict): boolean {
  if (decision.reason !== "BelowThreshold" || podOf(seen, uid)?.resize.state !== "infeasible") return false;
  return seen.record.actions.some(({ pod, outcome }) => pod.uid === uid && outcome === "Infeasible");
}

// When to reconcile again without an event, because time alone changes the decision. Samples requeue the app too, but less exactly,
// and not while Prometheus is down.

function requeueDelayMs(
  seen: ObservedApp,
  record: AppRecord,
  verdicts: readonly Verdict[],
  held: Iterable<Postponed>,
): number | undefined {
  const cooldowns = verdicts.flatMap(({ decision, inputs }) =>
    decision.reason === "CoolingDown" ? [inputs.cooldownLeftMs] : [],
  );
  const brakes = [...held].flatMap(({ forMs }) => (forMs === undefined ? [] : [forMs]));
  const copies = record.intents.flatMap((intent) => {
    const copy = intent.method === "CopyPod" ? copyFor(seen, intent) : undefined;
    return copy === undefined || copy.ready || copy.deleting ? [] : [copyPatienceMs - copyAge(seen, intent, copy)];
  });
  const rollouts = record.intents.flatMap((intent) => rolloutDeadlines(seen, intent));
  const ahead = [...cooldowns, ...brakes, ...copies, ...rollouts].filter((ms) => ms > 0);
  return ahead.length === 0 ? undefined : Math.min(...ahead);
}

// The summary of an app: a container that nothing helps comes first, then a raise in progress, then the most important verdict. The order is stable: one more sample must
// not change the summary (E1).

/** Most important first, with the phase of each. Raise reasons belong to raises that begin with this plan. */
const order: readonly (readonly [Phase, readonly Reason[]])[] = [
  ["Stopped", ["AmbiguousMonitor", "Paused", "Contested", "RaisesIneffective", "UsageFollowsLimit", "SuspectedLeak"]],
  ["Waiting", ["OutOfMemoryAtCap"]],
  ["Raising", ["OutOfMemory", "WillRunOut", "ThresholdCrossed", "LearnedBefore"]],
  ["Waiting", ["CircuitOpen", "RolloutUndone", "Refused", "ReplacementNotReady", "WouldCauseDowntime", "CopyUnsafe"]],
  ["Waiting", ["InPlaceImpossible", "InPlaceOnly", "OwnerNotEditable"]],
  [
    "Waiting",
    [
      "ManagedByAutoscaler",
      "NodeUnderPressure",
      "CapReached",
      "RecommendOnly",
      "ResizeDeferred",
      "RolloutInProgress",
      "ResizeInProgress",
      "Busy",
      "CoolingDown",
      "AwaitingSample",
    ],
  ],
  [
    "Watching",
    ["MetricsUnavailable", "SampleStale", "BelowThreshold", "NoSample", "NotRunning", "NoLimit", "PodLevelLimit", "Terminating"],
  ],
  ["Stopped", ["NoMonitor", "NotMonitored"]],
];
const ranks: ReadonlyMap<Reason, number> = new Map(order.flatMap(([, reasons]) => reasons).map((reason, i) => [reason, i]));
const rank = (reason: Reason): number => ranks.get(reason) ?? ranks.size;
const phaseOf = (reason: Reason): Phase => order.find(([, reasons]) => reasons.includes(reason))?.[0] ?? "Watching";

type State = Omit<Summary, "otherAutoscaler">;

function summarize(seen: ObservedApp, record: AppRecord, verdicts: readonly Verdict[]): Summary {
  return { ...stateIn(seen, record, verdicts), otherAutoscaler: seen.otherAutoscaler };
}

function stateIn(seen: ObservedApp, record: AppRecord, verdicts: readonly Verdict[]): State {
  const foremost = verdicts.toSorted(byImportance)[0];
  const intent = record.intents.find((one) => !one.limitsApplied) ?? record.intents[0];
  const urgent = foremost !== undefined && rank(foremost.decision.reason) <= rank("OutOfMemoryAtCap");
  const over = foremost !== undefined && phaseOf(foremost.decision.reason) === "Stopped";
  if (intent !== undefined && !urgent && !over) return ofIntent(seen, intent, foremost);
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

function ofVerdict(seen: ObservedApp, { pod, container, decision, inputs }: Verdict): State {
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

function ofIntent(seen: ObservedApp, intent: Intent, foremost: Verdict | undefined): State {
  const [change] = intent.changes;
  const container = change?.container;
  const pod = podOf(seen, intent.pod.uid);
  const has = pod && container !== undefined ? containerOf(pod, container)?.limit : undefined;
  return {
    ...stateOf(intent, foremost),
    message: `${intent.pod.name}: ${intent.waiting === undefined ? `${intent.method}, because of ${intent.reason}` : waitText(intent.waiting)}`,
    container,
    limit: has ?? change?.from.limit,
    wanted: change?.to.limit,
    applied: container === undefined ? undefined : appliedOf(seen, intent.pod.uid, container),
  };
}

function stateOf(intent: Intent, foremost: Verdict | undefined): Pick<Summary, "phase" | "reason"> {
  if (isRefused(intent)) return { phase: "Waiting", reason: "Refused" };
  if (isInfeasible(intent)) return { phase: "Waiting", reason: heldFor(foremost) };
  if (isRollingBack(intent)) return { phase: "Waiting", reason: "RolloutUndone" };
  if (intent.method === "CopyPod" || intent.waiting === undefined) return { phase: "Raising", reason: intent.reason };
  return { phase: "Waiting", reason: intent.method === "Template" ? "RolloutInProgress" : "ResizeDeferred" };
}

const heldFor = (foremost: Verdict | undefined): Reason =>
  foremost?.decision.kind === "hold" ? foremost.decision.reason : "Busy";

function ofNothing(seen: ObservedApp): State {
  const reason = seen.policies.length === 0 ? "NoMonitor" : "NotRunning";
  const none = { container: undefined, limit: undefined, wanted: undefined, applied: undefined };
  return { phase: phaseOf(reason), reason, message: `${seen.app.name} has no pods`, ...none };
}

function appliedOf(seen: ObservedApp, uid: string, container: string): Summary["applied"] {
  const pod = podOf(seen, uid);
  return pod && containerOf(pod, container)?.appliedLimit;
}
