// From raises to intents: one intent per pod for all its containers, or one per template for all its pods. A raise without a method or
// a free slot becomes a hold.
import { larger, quantityText, smaller } from "../model/bytes.ts";
import { containerOf, type ObservedApp, type ObservedPod, podOf } from "../model/observed-app.ts";
import type { Action, AppRecord, Change, Intent, Measured, Method, Plan, Verdict } from "../model/plan.ts";
import type { RaiseReason } from "../model/reasons.ts";
import { type Hold, hold, standsStill } from "./facts.ts";
import { methodFor, type Postponed, postponedBy, streak } from "./methods.ts";
import { ended, goingOn, isFrozen, isInfeasible, neverFits } from "./progress.ts";
import { copyName, isRollingBack, templateChanges } from "./redeploy.ts";
import { end, progressOf, withGiven } from "./settle.ts";

interface Intended {
  readonly record: AppRecord;
  readonly settled: Plan["settled"];
  /** By pod UID: why its raises are not begun now. */
  readonly held: ReadonlyMap<string, Postponed>;
}

export function intend(seen: ObservedApp, verdicts: readonly Verdict[]): Intended {
  const start: Intended = { record: seen.record, settled: [], held: new Map() };
  const all = [...infeasibleRaises(seen), ...raisesIn(seen, verdicts)];
  const onTheirWay = all.map((raise) => ({ raise, to: methodFor(seen, without(seen, seen.record, raise), raise) }));
  const single = onTheirWay.reduce((sum, { raise, to }) => {
    if ("hold" in to) return keep(sum, raise, { hold: to.hold });
    return to.method === "Template" ? sum : begin(seen, sum, [raise], to.method);
  }, start);
  const byTemplate = onTheirWay.flatMap(({ raise, to }) => ("method" in to && to.method === "Template" ? [raise] : []));
  return byTemplate.length === 0 ? single : begin(seen, single, byTemplate, "Template");
}

/** Raises that did not fit their node are still needed. No verdict asks for them again, since the spec may already have them. */
function infeasibleRaises(seen: ObservedApp): readonly PodRaise[] {
  return seen.record.intents.flatMap((intent) => {
    const pod = podOf(seen, intent.pod.uid);
    if (pod === undefined || !isInfeasible(intent) || isFrozen(seen, intent)) return [];
    return [{ pod, changes: intent.changes, reason: intent.reason, instead: intent }];
  });
}

/** The record if this raise begins: the intent that it replaces has ended. */
function without(seen: ObservedApp, record: AppRecord, raise: PodRaise): AppRecord {
  return makeRoom(seen, { record, settled: [], held: new Map() }, raise).record;
}

function makeRoom(seen: ObservedApp, sum: Intended, { pod, instead }: PodRaise): Intended {
  const prior = instead ?? sum.record.intents.find((one) => one.limitsApplied && one.pod.uid === pod.uid);
  if (prior === undefined || !sum.record.intents.includes(prior)) return sum;
  const record = { ...sum.record, intents: sum.record.intents.filter((one) => one !== prior) };
  const why = instead ? ended(prior, "Infeasible", neverFits) : ended(prior, "Applied", "the next raise followed");
  return end(seen, { ...sum, record }, why);
}

const keep = (sum: Intended, raise: PodRaise, postponed: Postponed): Intended => ({
  ...sum,
  held: new Map([...sum.held, [raise.pod.uid, postponed]]),
});

function begin(seen: ObservedApp, sum: Intended, raises: readonly PodRaise[], method: Method): Intended {
  const [first] = raises;
  if (first === undefined) return sum;
  const cleared = raises.reduce((all, raise) => makeRoom(seen, all, raise), sum);
  const holdAll = (postponed: Postponed) => raises.reduce((all, raise) => keep(all, raise, postponed), sum);
  const changes = method === "Template" ? templateChanges(seen, raises) : withPriorRequests(sum.record, first);
  if (changes.length === 0) return holdAll({ hold: rollingOut });
  const postponed = postponedBy(seen, cleared.record, { method, pod: first.pod, changes });
  if (postponed !== undefined) return holdAll(postponed);
  const progress = progressOf(seen, intentFor(seen, cleared.record, { method, pod: first.pod, changes, reason: first.reason }));
  // It would end before it begins: the template already has it, and its rollout is stuck.
  if (!progress.open || isRollingBack(progress.intent)) return holdAll({ hold: rollingOut });
  const record = withGiven(cleared.record, progress.given ?? []);
  return { ...cleared, record: { ...record, intents: [...record.intents, progress.intent] } };
}

const rollingOut: Hold = hold("RolloutInProgress", "the template already has it; the pods are not replaced yet");

/** The next raise keeps a request that still waits for room. */
function withPriorRequests(record: AppRecord, { pod, changes }: PodRaise): readonly Change[] {
  const prior = record.intents.find((one) => one.limitsApplied && one.pod.uid === pod.uid);
  return changes.map((change) => {
    const waits = prior?.changes.find(({ container }) => container === change.container)?.to.request;
    const { limit, request } = change.to;
    if (waits === undefined || request === undefined) return change;
    return { ...change, to: { limit, request: smaller(larger(request, waits), limit) } };
  });
}

/** The id contains no time: two leaders make the same one (L1). */
function intentFor(
  seen: ObservedApp,
  record: AppRecord,
  { method, pod, changes, reason }: Omit<PodRaise, "instead"> & { readonly method: Method },
): Intent {
  const failed = (outcome: "Refused" | "NotReady") =>
    streak(record, (action) => action.pod.uid === pod.uid && action.method === method, outcome);
  const attempt = 1 + failed("Refused").length + failed("NotReady").length;
  const about = method === "Template" ? seen.template?.uid : pod.uid;
  const id = `${about}/${method}/${targetOf(changes)}/${attempt}`;
  const intent: Intent = { id, method, pod: { name: pod.name, uid: pod.uid }, changes, reason, atMs: seen.nowMs, attempt };
  return goingOn(method === "CopyPod" ? { ...intent, copy: copyName(seen, failed("Refused").filter(nameTaken).length) } : intent)
    .intent;
}

// The pod that has the name does not belong to the app, so it is not observed; execute/pods.ts reports it.
const nameTaken = ({ cause }: Action): boolean => cause === "NameTaken";

function targetOf(changes: readonly Change[]): string {
  return quantityText(changes.map(({ to }) => to.limit).reduce((sum, limit) => (sum + limit) as typeof limit));
}

// The raises of a decision by pod, the most urgent first, since not all of them may begin at once.

export interface PodRaise {
  readonly pod: ObservedPod;
  readonly changes: readonly Change[];
  readonly reason: RaiseReason;
  /** The infeasible in-place intent that this raise replaces. */
  readonly instead?: Intent;
}

const urgency: readonly RaiseReason[] = ["OutOfMemory", "WillRunOut", "ThresholdCrossed", "LearnedBefore"];
const rank = (reason: RaiseReason): number => urgency.indexOf(reason);

function raisesIn(seen: ObservedApp, verdicts: readonly Verdict[]): readonly PodRaise[] {
  return seen.pods
    .flatMap((pod) => {
      const raises = verdicts.filter((verdict) => verdict.pod.uid === pod.uid).flatMap((verdict) => raiseOf(seen, pod, verdict));
      const [first] = raises.toSorted((a, b) => rank(a.reason) - rank(b.reason));
      return first === undefined ? [] : [{ pod, changes: raises.map(({ change }) => change), reason: first.reason }];
    })
    .toSorted((a, b) => rank(a.reason) - rank(b.reason) || (a.pod.name < b.pod.name ? -1 : 1));
}

function raiseOf(seen: ObservedApp, pod: ObservedPod, verdict: Verdict): readonly ContainerRaise[] {
  const { container, decision } = verdict;
  if (decision.kind !== "raise") return [];
  const { from, granted: to, cappedBy, reason } = decision;
  const measured = measuredBy(seen, pod, verdict);
  return [
    { change: { container, from, to, ...(cappedBy !== undefined && { cappedBy }), ...(measured && { measured }) }, reason },
  ];
}

interface ContainerRaise {
  readonly change: Change;
  readonly reason: RaiseReason;
}

function measuredBy({ nowMs }: ObservedApp, pod: ObservedPod, { container, inputs }: Verdict): Measured | undefined {
  const { usage, sampleAgeMs } = inputs;
  const found = containerOf(pod, container);
  if (usage === undefined || sampleAgeMs === undefined || found === undefined) return undefined;
  const still = standsStill(found);
  return { usage, atMs: Math.round(nowMs - sampleAgeMs), restart: found.restarts, ...(still && { still }) };
}
