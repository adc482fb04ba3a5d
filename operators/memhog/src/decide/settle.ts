// Compares the record with the cluster, and computes the next record: which intents have ended, which raises were reverted, which
// OOM kills are counted, which pods are stopped. The first part of every decision, so that the verdicts are based on the present state.
import { larger } from "../model/bytes.ts";
import { containerOf, hasEnded, live, type ObservedApp, type Policy, podOf, resizesInPlace } from "../model/observed-app.ts";
import {
  type Action,
  type AppRecord,
  type Change,
  type Command,
  type Given,
  type Intent,
  keptActions,
  type Learned,
  type Method,
  type Plan,
  type Stop,
  type Verdict,
} from "../model/plan.ts";
import type { HoldReason } from "../model/reasons.ts";
import { fellBackSince, isInForce, stopOn } from "./facts.ts";
import { inPlaceProgress } from "./in-place.ts";
import { methodFor } from "./methods.ts";
import { whatForbids } from "./need.ts";
import { ended, isExempt, isFrozen, isInfeasible, neverFits, type Progress, policyInCharge } from "./progress.ts";
import { copyProgress, isRollingBack, templateProgress, withdrawnCopy } from "./redeploy.ts";

interface Settlement {
  readonly record: AppRecord;
  readonly settled: Plan["settled"];
  /** Intents whose memory is applied, seen for the first time. */
  readonly arrived: readonly Intent[];
}

export function settle(seen: ObservedApp): Settlement {
  const start = settleReverts(seen);
  const now = { ...seen, record: start.record };
  return start.record.intents.reduce((sum, intent) => add(now, sum, intent), start);
}

function settleReverts(seen: ObservedApp): Settlement {
  const policy = policyInCharge(seen);
  if (policy === undefined) return { record: seen.record, settled: [], arrived: [] };
  const { record, lost } = countReverts(seen, forgetLiftedContest(seen.record, policy), policy);
  return lost.reduce((sum, intent) => end(seen, sum, ended(intent, "Abandoned", "another client reverted it")), {
    record,
    settled: [],
    arrived: [],
  } as Settlement);
}

function add(seen: ObservedApp, sum: Settlement, intent: Intent): Settlement {
  const progress = orInfeasible(seen, sum.record, progressOf(seen, intent));
  const intents = sum.record.intents.flatMap((one) => (one !== intent ? [one] : progress.open ? [progress.intent] : []));
  const given = withGiven({ ...sum.record, intents }, progress.given ?? []);
  const record = progress.arrived ? withRaise(seen, given, progress.intent) : given;
  const arrived = progress.arrived ? [...sum.arrived, progress.intent] : sum.arrived;
  return end(seen, { ...sum, record, arrived }, progress);
}

// An infeasible intent stays open until another method replaces it (intents.ts). Without another method it ends.
function orInfeasible(seen: ObservedApp, record: AppRecord, progress: Progress): Progress {
  const { intent } = progress;
  const pod = podOf(seen, intent.pod.uid);
  if (!progress.open || pod === undefined || !isInfeasible(intent) || isFrozen(seen, intent)) return progress;
  const over = { ...progress, ...ended(intent, "Infeasible", neverFits) };
  const after = withAction(record, over, seen.nowMs);
  const { changes, reason } = intent;
  return "hold" in methodFor(seen, after, { pod, changes, reason }) ? over : progress;
}

/** Records how an intent ended, if it did. */
export function end<T extends Pick<Settlement, "record" | "settled">>(seen: ObservedApp, sum: T, progress: Progress): T {
  const { intent, outcome, message } = progress;
  if (outcome === undefined) return sum;
  const record = withAction(sum.record, progress, seen.nowMs);
  return { ...sum, record, settled: [...sum.settled, { intent, outcome, ...(message !== undefined && { message }) }] };
}

const byMethod: Readonly<Record<Method, (seen: ObservedApp, intent: Intent) => Progress>> = {
  InPlace: inPlaceProgress,
  CopyPod: copyProgress,
  Template: templateProgress,
};

/** The progress of an intent, as far as memhog may act on it. If it may not, only an end is noted: the pod is gone, or it expired. */
export function progressOf(seen: ObservedApp, intent: Intent): Progress {
  const progress = byMethod[intent.method](seen, intent);
  const over = progress.outcome === "Abandoned" || progress.outcome === "Refused";
  const withdrawn = intent.method === "CopyPod" && !isWanted(seen, intent) ? withdrawnCopy(seen, intent) : undefined;
  if (withdrawn !== undefined) return withdrawn;
  if (isExempt(seen, intent)) return over ? progress : { intent, open: true };
  // A rollout that memhog began and that is stuck is undone even if nobody asks for raises any more (D6).
  if (progress.command?.do === "restoreTemplate" || isRollingBack(intent)) return progress;
  if (isFrozen(seen, intent)) return over ? progress : { intent, open: true };
  // memhog was restarted with fewer permissions: its commands would only be rejected.
  if (progress.command !== undefined && seen.cluster.inPlaceOnly && intent.method !== "InPlace")
    return ended(intent, "Abandoned", "memhog runs with --in-place-only now");
  const policy = policyInCharge(seen);
  const strategy = policy?.strategy;
  const allowed = strategy !== "Recommend" && (strategy !== "InPlace" || intent.method === "InPlace");
  if (progress.command === undefined) return progress;
  if (isFirst(progress.command) && isContested(seen))
    return ended(intent, "Abandoned", "another client keeps reverting the memory");
  const tooMuch = policy && isFirst(progress.command) ? whatForbids(seen, intent, policy) : undefined;
  if (tooMuch !== undefined) return ended(intent, "Abandoned", `it now exceeds ${tooMuch}`);
  if (allowed) return progress;
  // The strategy was changed meanwhile. A raise that has not begun is abandoned; one that has begun is completed, except under Recommend.
  if (isFirst(progress.command)) return ended(intent, "Abandoned", `the strategy is ${strategy} now`);
  const { command, ...rest } = progress;
  return strategy === "Recommend" ? rest : { ...rest, command };
}

/** Whether anybody still asks for the raise. Changing the strategy to InPlace does not withdraw what has begun. */
const isWanted = (seen: ObservedApp, intent: Intent): boolean =>
  !isFrozen(seen, intent) && policyInCharge(seen)?.strategy !== "Recommend";

function isFirst(command: Command): boolean {
  if (command.do === "resize") return command.step !== "requests";
  return command.do === "createCopy" || command.do === "patchTemplate";
}

/** Never before the creation of an existing pod: with a clock an hour behind, all pods would look new (M5). */
const learnedAt = ({ nowMs, pods }: ObservedApp): number => Math.max(nowMs, ...pods.map(({ createdAtMs }) => createdAtMs));

// Another client reverts a raise: GitOps restores a template, or a controller lowers a pod. After the second time memhog stops with
// Contested (F2). What was reverted is removed from `given`, so each revert counts once.

const tolerated = 1;

interface Contest {
  readonly record: AppRecord;
  /** Intents that were reverted while in progress. */
  readonly lost: readonly Intent[];
}

function countReverts(seen: ObservedApp, record: AppRecord, policy: Policy): Contest {
  const back = new Set(record.given.filter((given) => takenBack(seen, given)).map(({ uid }) => uid));
  if (back.size === 0) return { record, lost: [] };
  const lost = record.intents.filter((intent) => back.has(intent.method === "Template" ? templateUid(intent) : intent.pod.uid));
  const reverts = Math.min(record.reverts + back.size, 1_000_000);
  const next = {
    ...record,
    reverts,
    given: record.given.filter(({ uid }) => !back.has(uid)),
    intents: record.intents.filter((intent) => !lost.includes(intent)),
  };
  if (reverts <= tolerated) return { record: next, lost };
  const { uid: monitorUid, generation: monitorGeneration } = policy;
  const stop: Stop = { reason: "Contested", atMs: seen.nowMs, monitorUid, monitorGeneration };
  return { record: unlearned(withStop(next, stop), () => true), lost };
}

function isContested({ record, policies: [policy] }: ObservedApp): boolean {
  return policy !== undefined && record.stops.some((stop) => stop.reason === "Contested" && isInForce(stop, policy));
}

function takenBack(seen: ObservedApp, { uid, container, limit }: Given): boolean {
  const pod = seen.pods.find((one) => one.uid === uid && live(one) && one.monitored);
  const holder = pod ?? (seen.template?.uid === uid ? seen.template : undefined);
  const now = holder?.containers.find(({ name }) => name === container);
  return now !== undefined && (now.limit ?? 0) < limit;
}

const templateUid = (intent: Intent): string => intent.id.slice(0, intent.id.indexOf("/"));

/**
 * Editing the AppMonitor ends every stop (facts.ts). Only Contested is removed, and its count restarts. The others stay on the list,
 * because raises before them no longer count.
 */
function forgetLiftedContest(record: AppRecord, policy: Policy): AppRecord {
  const stops = record.stops.filter((stop) => stop.reason !== "Contested" || isInForce(stop, policy));
  return stops.length === record.stops.length ? record : { ...record, stops, reverts: 0 };
}

// Which OOM kills are counted. A kill is counted by the record that holds the answer to it: an intent, or a final hold. While the
// answer is one of these it is not counted, and it is considered again in the next pass:

const later: ReadonlySet<HoldReason> = new Set<HoldReason>([
  "Terminating",
  "NotMonitored",
  "NoMonitor",
  "AmbiguousMonitor",
  "Paused",
  "ResizeInProgress",
  "ResizeDeferred",
  "RolloutInProgress",
  "RolloutUndone",
  "ReplacementNotReady",
  "CopyUnsafe",
  "WouldCauseDowntime",
  "CircuitOpen",
  "Refused",
  "Busy",
  "NotRunning",
  "NodeUnderPressure",
]);

export function countKills(seen: ObservedApp, record: AppRecord, verdicts: readonly Verdict[]): AppRecord {
  return verdicts.reduce((sum, { pod: { uid }, container, decision }) => {
    const pod = podOf(seen, uid);
    const over = pod !== undefined && hasEnded(pod) && decision.reason === "NotRunning";
    const final = over || decision.kind === "raise" || !later.has(decision.reason);
    return final ? counted(seen, sum, uid, container) : sum;
  }, record);
}

/**
 * A raise that was just applied answers every kill so far, including one between the decision and now, which happened at the old
 * limit. Counted before the verdicts; otherwise they would answer it again.
 */
export function countAnswered(seen: ObservedApp, record: AppRecord, arrived: readonly Intent[]): AppRecord {
  const containers = arrived.flatMap(({ pod, changes }) => changes.map(({ container }) => ({ uid: pod.uid, container })));
  return containers.reduce((sum, { uid, container }) => counted(seen, sum, uid, container), record);
}

function counted(seen: ObservedApp, record: AppRecord, uid: string, container: string): AppRecord {
  const pod = podOf(seen, uid);
  const kill = pod && containerOf(pod, container)?.oomKill;
  return kill === undefined ? record : withKill(record, uid, container, kill.restart);
}

// Verdicts that stop an app are stored, so that neither a restart nor the passing of an hour ends the stop. Editing the AppMonitor does.

export function storeStops(seen: ObservedApp, record: AppRecord, verdicts: readonly Verdict[], policy: Policy): AppRecord {
  return verdicts.reduce((sum, { pod: { uid }, container, decision }) => {
    const pod = podOf(seen, uid);
    if (pod === undefined || !isStop(decision.reason)) return sum;
    if (stopOn({ ...seen, record: sum }, { pod, container, policy }) !== undefined) return sum;
    const found = containerOf(pod, container);
    // Resized in place, each pod has its own history. Where pods are replaced, the stop must outlive them.
    const about = found !== undefined && resizesInPlace(seen, pod, found) ? { uid } : {};
    const by = { monitorUid: policy.uid, monitorGeneration: policy.generation };
    const stopped = withStop(sum, { reason: decision.reason, atMs: seen.nowMs, ...about, container, ...by });
    return unlearned(stopped, (one) => one.container === container && one.revision === pod.revision);
  }, record);
}

const isStop = (reason: Verdict["decision"]["reason"]): reason is Exclude<Stop["reason"], "Contested"> =>
  reason === "SuspectedLeak" || reason === "UsageFollowsLimit" || reason === "RaisesIneffective";

// Usage that falls back after a raise is the evidence against a leak. It is stored once, with the raise that it followed: a steady
// state costs no writes (E1), and the evidence survives a restart (C3).

export function noteFallBacks(seen: ObservedApp, record: AppRecord): AppRecord {
  const containers = seen.pods.filter(live).flatMap((pod) => pod.containers.map((container) => ({ pod, container })));
  return containers.reduce((sum, { pod, container }) => {
    const since = fellBackSince({ ...seen, record: sum }, pod, container);
    return since === undefined ? sum : withFallBack(sum, since, container.name);
  }, record);
}

function withFallBack(record: AppRecord, since: Action | Intent, container: string): AppRecord {
  const noted = (change: Change): Change =>
    change.container !== container || change.measured === undefined
      ? change
      : { ...change, measured: { ...change.measured, fellBack: true } };
  const of = <T extends Action | Intent>(entry: T): T =>
    (entry as Action | Intent) === since ? { ...entry, changes: entry.changes.map(noted) } : entry;
  return { ...record, actions: record.actions.map(of), intents: record.intents.map(of) };
}

// Changes of the record. Each function returns the next record, or the same one if nothing changed, so that an unchanged record is
// easy to detect (E1). All lists are bounded, as in api/app-memory.ts.

const most = { learned: 40, given: 500, kills: 500, stops: 100 } as const;

/** The time of an applied raise is that of the decision. The time of a failure is now, since back-off starts now. */
function withAction(record: AppRecord, { intent, outcome, cause, message }: Progress, nowMs: number): AppRecord {
  if (outcome === undefined) return record;
  const { pod, changes, method, reason } = intent;
  const atMs = outcome === "Applied" ? intent.atMs : nowMs;
  const why = { ...(cause !== undefined && { cause }), ...(message !== undefined && { message: message.slice(0, 1024) }) };
  const action: Action = { atMs, pod, changes, method, reason, outcome, ...why };
  return { ...record, actions: [...record.actions, action].slice(-keptActions) };
}

/** The raise is applied. A raise to what was learned before is not counted. */
function withRaise(seen: ObservedApp, record: AppRecord, { pod, changes, reason }: Intent): AppRecord {
  const raises = record.raises + (reason === "LearnedBefore" ? 0 : 1);
  const revision = podOf(seen, pod.uid)?.revision;
  const by = { atMs: learnedAt(seen), ...(revision !== undefined && { revision }) };
  return { ...record, raises, learned: changes.reduce((list, change) => withLearned(list, change, by), record.learned) };
}

/** New pods of this revision start with it. What a cap reduced is not what the container needs, so nothing is learned from it (G3). */
function withLearned(
  list: readonly Learned[],
  { container, to, cappedBy }: Change,
  by: Pick<Learned, "revision" | "atMs">,
): readonly Learned[] {
  const known = list.find((one) => one.container === container && one.revision === by.revision);
  if (cappedBy !== undefined || (known !== undefined && known.limit >= to.limit)) return list;
  const request = known?.request !== undefined && to.request !== undefined ? larger(known.request, to.request) : to.request;
  const learned: Learned = { container, ...by, limit: to.limit, request };
  return [...list.filter((one) => one !== known), learned].slice(-most.learned);
}

/** What was learned from a container that turned out to leak, or from an app that is contested, is not given to new pods (G3). */
function unlearned(record: AppRecord, isWrong: (one: Learned) => boolean): AppRecord {
  const learned = record.learned.filter((one) => !isWrong(one));
  return learned.length === record.learned.length ? record : { ...record, learned };
}

export function withGiven(record: AppRecord, given: readonly Given[]): AppRecord {
  const news = given.filter((one) => !record.given.some((known) => same(known, one) && known.limit === one.limit));
  if (news.length === 0) return record;
  const others = record.given.filter((known) => !news.some((one) => same(known, one)));
  return { ...record, given: [...others, ...news].slice(-most.given) };
}

/** One per reason, pod and container: a new stop replaces one that has ended. */
function withStop(record: AppRecord, stop: Stop): AppRecord {
  const others = record.stops.filter(
    (one) => one.reason !== stop.reason || one.uid !== stop.uid || one.container !== stop.container,
  );
  return { ...record, stops: [...others, stop].slice(-most.stops) };
}

/** A kill counts once: its restart count is higher than the one that was counted. */
function withKill(record: AppRecord, uid: string, container: string, restart: number): AppRecord {
  const known = record.kills.find((kill) => kill.uid === uid && kill.container === container);
  if (known !== undefined && known.restart >= restart) return record;
  const kills = [...record.kills.filter((kill) => kill !== known), { uid, container, restart }].slice(-most.kills);
  return { ...record, kills, oomKills: record.oomKills + 1 };
}

/** Drops kills, given limits and stops of pods that no longer exist. */
export function forgetGone(record: AppRecord, seen: ObservedApp): AppRecord {
  const known = new Set(seen.pods.map((pod) => pod.uid));
  if (seen.template !== undefined) known.add(seen.template.uid);
  const kills = record.kills.filter(({ uid }) => known.has(uid));
  const given = record.given.filter(({ uid }) => known.has(uid));
  const stops = record.stops.filter(({ uid }) => uid === undefined || known.has(uid));
  const same =
    kills.length === record.kills.length && given.length === record.given.length && stops.length === record.stops.length;
  return same ? record : { ...record, kills, given, stops };
}

const same = (a: Given, b: Given): boolean => a.uid === b.uid && a.container === b.container;
