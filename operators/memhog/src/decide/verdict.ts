// The verdict on one container: raise or hold, always with a reason. It is the first answer in four lists of rules, and the order of
// the rules is the policy of memhog:
//
//   1. applies      Is the container monitored at all? The simplest facts come first.
//   2. blocked      Stops, a VPA, or a raise in progress. These come before OOM kills: a second raise would only interfere.
//   3. needed       Is more memory needed? OOM kills come first, since they need no metrics; then what the app is known to need;
//                   then the samples of a running container. Missing or stale samples never trigger a raise.
//   4. objections   What speaks against the raise? Those that pass by themselves come before those that people have to end.
//
// Without an objection the verdict is a raise, by as much as the caps allow. intents.ts may still turn it into a hold, because no
// method is possible or too many raises are in progress.

import { type Bytes, quantityText, readable } from "../model/bytes.ts";
import {
  type ObservedApp,
  type ObservedContainer,
  type ObservedPod,
  resizesInPlace,
  type Sample,
} from "../model/observed-app.ts";
import type { Action, Decision, Intent, Verdict } from "../model/plan.ts";
import { type HoldReason, holdReasons } from "../model/reasons.ts";
import { type Grant, grantOf, isWorthwhile, reservationOf, reservationsIn } from "./caps.ts";
import {
  type Candidate,
  changeOf,
  countedRaises,
  type Due,
  type Facts,
  factsOf,
  type Hold,
  hold,
  inputsOf,
  isAnswered,
  isJump,
  isSameLife,
  memoryOf,
  raisesOf,
  standsStill,
  stopOn,
} from "./facts.ts";
import {
  belowThreshold,
  learnedBefore,
  metricsUnavailable,
  noSample,
  notRunning,
  oneStepUp,
  outOfMemory,
  runningOut,
  sampleStale,
  stepFrom,
  thresholdCrossed,
  unansweredKill,
} from "./need.ts";
import { isRefused, waitText } from "./progress.ts";

const applies: readonly ((candidate: Candidate) => Hold | undefined)[] = [
  terminating, // whatever else is true of it
  notMonitored, // never asked for, or stopped with "false"
  ambiguousMonitor, // before "paused": if one of two is paused, the other still does not act alone
  paused,
];

const blocked: readonly ((facts: Facts) => Hold | undefined)[] = [
  stoppedBefore, // only people end a stop
  verticalAutoscaler,
  underWay, // a raise by memhog that is not applied yet
  resizePending, // a resize by anybody that the kubelet has not applied yet
];

const needed: readonly ((facts: Facts) => Due | Hold | undefined)[] = [
  outOfMemory, // works without Prometheus, and while the container is down
  learnedBefore, // needs no metrics of this pod
  notRunning,
  metricsUnavailable, // before "no sample": it is the cause
  noSample,
  sampleStale,
  thresholdCrossed,
  runningOut,
];

const objections: readonly ((raise: DueRaise) => Hold | undefined)[] = [
  (raise) => horizontalAutoscaler(raise, raise.due), // never allowed
  coolingDown, // not allowed yet
  awaitingSample,
  nodeUnderPressure,
  leakByShape, // before the caps: a leak that reaches a cap is still a leak
  usageFollowsLimit,
  capReached, // names the cap to change
  recommendOnly, // the rules below cannot apply under Recommend, since nothing is ever raised
  raisesIneffective, // before the leak: more specific, and both may be true
  raisedTooOften,
];

/** @param reserved Room reserved for others. @default the room that the open intents of the app reserve */
export function verdictOn(
  seen: ObservedApp,
  pod: ObservedPod,
  container: ObservedContainer,
  reserved = reservationsIn(seen),
): Verdict {
  const candidate: Candidate = { seen, pod, container, reserved };
  const [policy, another] = seen.policies;
  const has = memoryOf(container);
  const facts = policy && !another && has ? factsOf(candidate, policy, has) : undefined;
  return {
    pod: { name: pod.name, uid: pod.uid },
    container: container.name,
    decision: first(applies, candidate) ?? (facts ? judge(facts) : policy ? noLimit(candidate) : noMonitor(candidate)),
    inputs: inputsOf(candidate, facts),
  };
}

/** A verdict on every container of the app, in order. Room that one is granted is not granted again to the next. */
export function verdictsOn(seen: ObservedApp): readonly Verdict[] {
  const reserved = [...reservationsIn(seen)];
  const judge = (pod: ObservedPod, container: ObservedContainer): Verdict => {
    const verdict = verdictOn(seen, pod, container, reserved);
    if (verdict.decision.kind === "raise") reserved.push(reservationOf(pod, container, verdict.decision.granted));
    return verdict;
  };
  // Those that are known to need memory come first. What is only learned gets what they leave (G3).
  const all = seen.pods.flatMap((pod) => pod.containers.map((container) => ({ pod, container })));
  const isLearned = ({ decision }: Verdict) => decision.kind === "raise" && decision.reason === "LearnedBefore";
  const suspected = new Set(all.filter(({ pod, container }) => isLearned(verdictOn(seen, pod, container, reserved))));
  const needed = new Map(all.filter((one) => !suspected.has(one)).map((one) => [one, judge(one.pod, one.container)]));
  return all.map((one) => needed.get(one) ?? judge(one.pod, one.container));
}

function judge(facts: Facts): Decision {
  const found = first(blocked, facts) ?? first(needed, facts) ?? belowThreshold(facts);
  if ("kind" in found) return outOfMemoryAtCap(facts, found) ?? found;
  const { reason, detail, wanted } = found;
  const grant = grantOf(facts, wanted);
  return (
    first(objections, { ...facts, due: found, grant }) ?? {
      kind: "raise",
      reason,
      detail,
      from: facts.has,
      wanted,
      ...grant,
    }
  );
}

function first<In, Out>(rules: readonly ((about: In) => Out | undefined)[], about: In): Out | undefined {
  for (const rule of rules) {
    const answer = rule(about);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

function terminating({ pod }: Candidate): Hold | undefined {
  return pod.deleting ? hold("Terminating", `${pod.name} is being deleted`) : undefined;
}

function notMonitored({ pod }: Candidate): Hold | undefined {
  return pod.monitored ? undefined : hold("NotMonitored", `${pod.name} is not annotated to be monitored`);
}

function noMonitor({ seen }: Candidate): Hold {
  return hold("NoMonitor", `no AppMonitor in namespace ${seen.app.namespace} selects the pod`);
}

/** Following one of them would silently ignore the other (F2). */
function ambiguousMonitor({ seen }: Candidate): Hold | undefined {
  if (seen.policies.length < 2) return undefined;
  const names = seen.policies.map(({ name }) => name).toSorted();
  return hold(
    "AmbiguousMonitor",
    `the AppMonitors ${names.join(" and ")} are equally specific and select ${seen.app.name}; none of them acts on it`,
  );
}

export function paused({ seen }: Candidate): Hold | undefined {
  const policy = seen.policies.find((each) => each.paused);
  return policy && hold("Paused", `AppMonitor ${policy.name} is paused`);
}

function noLimit({ pod, container }: Candidate): Hold {
  if (pod.podLevel?.limit !== undefined) return podLevelLimit(pod, pod.podLevel.limit);
  return hold("NoLimit", `${container.name} has no memory limit`);
}

/** The containers share the limit, so only their sum says how near it is. */
function podLevelLimit(pod: ObservedPod, limit: Bytes): Hold {
  const usage = pod.containers.reduce((sum, { samples }) => sum + (samples.at(-1)?.bytes ?? 0), 0);
  const share = Math.round((usage / Math.max(1, limit)) * 100);
  const used = `its containers use ${readable(usage)} together (${share} %)`;
  return hold(
    "PodLevelLimit",
    `the limit of the pod is ${readable(limit)}, and ${used}; set a limit for the container to have it raised`,
  );
}

/** Stops are stored, so they survive a restart of memhog. */
function stoppedBefore({ seen, pod, container, policy }: Facts): Hold | undefined {
  const stop = stopOn(seen, { pod, container: container.name, policy });
  return stop && hold(stop.reason, `${holdReasons[stop.reason]}; edit AppMonitor ${policy.name} to continue`);
}

/** A VPA sets both requests and limits; the two would revert each other forever (F1). */
function verticalAutoscaler({ seen }: Facts): Hold | undefined {
  if (seen.otherAutoscaler?.kind !== "VPA") return undefined;
  return hold("ManagedByAutoscaler", `${seen.otherAutoscaler.name} manages the memory of ${seen.app.name}`);
}

/** The previous raise is in progress. Once its limits are applied it blocks nothing, even while its requests wait for room. */
export function underWay({ seen, pod }: Facts): Hold | undefined {
  const intent = seen.record.intents.find((each) => each.limitsApplied !== true && isAbout(each, pod.uid));
  if (intent === undefined) return undefined;
  const what = `${towards(intent)}, decided because of ${intent.reason}`;
  if (intent.waiting !== undefined && isRefused(intent)) return hold("Refused", `${what}: ${waitText(intent.waiting)}`);
  if (intent.method === "Template") return hold("RolloutInProgress", `${seen.app.kind} ${seen.app.name} is rolling out ${what}`);
  if (intent.method === "CopyPod") return hold("ResizeInProgress", `${intent.copy ?? "a copy"} is being created with ${what}`);
  return pod.resize.state === "deferred" ? undefined : hold("ResizeInProgress", `${intent.pod.name} is being resized: ${what}`);
}

/** A template concerns all pods; a copy concerns the original and the copy. */
function isAbout(intent: Intent, uid: string): boolean {
  return intent.method === "Template" || intent.pod.uid === uid || intent.copyUid === uid;
}

/** The kubelet handles the resizes of a pod as a whole: another one would only wait behind this one, whoever asked for it. */
function resizePending({ pod }: Facts): Hold | undefined {
  const { state, message } = pod.resize;
  const says = message === undefined ? "" : `: ${message}`;
  if (state === "deferred") return hold("ResizeDeferred", `the node has no room for the last resize now${says}`);
  return state === "inProgress" ? hold("ResizeInProgress", `the kubelet is resizing the pod${says}`) : undefined;
}

/** Between two kills a container looks fine: it is down, or has just been started and uses little. */
const quiet: ReadonlySet<HoldReason> = new Set<HoldReason>([
  "NotRunning",
  "BelowThreshold",
  "NoSample",
  "SampleStale",
  "MetricsUnavailable",
]);

/** A container that keeps being killed at its cap is reported as long as this goes on (M6). */
function outOfMemoryAtCap(facts: Facts, found: Hold): Hold | undefined {
  const kill = quiet.has(found.reason) ? unansweredKill(facts) : undefined;
  if (kill === undefined) return undefined;
  const wanted = oneStepUp(facts);
  const due: Due = { reason: "OutOfMemory", detail: `OOM-killed at ${readable(facts.has.limit)}; ${found.detail}`, wanted };
  return capReached({ ...facts, due, grant: grantOf(facts, wanted) });
}

const towards = ({ changes }: Intent) => changes.map(({ container, to }) => `${container} ${readable(to.limit)}`).join(", ");

/**
 * An HPA on memory utilization divides usage by the request. A higher limit does not affect it, so next to an HPA only limits are
 * raised, in place (F1).
 */
function horizontalAutoscaler({ seen, pod, container }: Facts, { wanted }: Due): Hold | undefined {
  if (seen.otherAutoscaler?.kind !== "HPA") return undefined;
  const why = pod.qos === "Guaranteed" ? "the request would have to grow too" : "the pod would have to be redeployed";
  if (pod.qos !== "Guaranteed" && resizesInPlace(seen, pod, container)) return undefined;
  return hold("ManagedByAutoscaler", `${seen.otherAutoscaler.name} scales on memory utilization, and ${why}`, { wanted });
}

// Objections to a raise that is due. Some are stored as stops that people have to end: leaks and usage that follows the limit, which are
// recognized by their shape, and two counts, raisesIneffective and raisedTooOften. The counts come last: only if the raise would
// otherwise be made.

interface DueRaise extends Facts {
  readonly due: Due;
  readonly grant: Grant;
}

/** If the limit is reached this soon after the cooldown, waiting is too risky: samples are up to 15 s old, and 15 s apart. */
const cooldownMarginMs = 30_000;
/** This many OOM kills within an hour were answered by a raise, and another one followed. */
const ineffectiveRaises = 3;

/** Does not apply to OOM kills, to what was learned before, and to containers that would run out of memory before it ends. */
function coolingDown({ due, cooldownLeftMs, cooldownSurelyLeftMs, trend, has }: DueRaise): Hold | undefined {
  if (cooldownLeftMs === 0 || due.reason === "OutOfMemory" || due.reason === "LearnedBefore") return undefined;
  const growing = trend !== undefined && !isJump(trend, has.limit);
  if (growing && trend.runsOutInMs <= cooldownSurelyLeftMs + cooldownMarginMs) return undefined;
  const left = Math.ceil(cooldownLeftMs / 1000);
  return hold("CoolingDown", `${due.detail}; the next raise is possible in ${left} s`, { wanted: due.wanted });
}

/** The samples still show what the last raise was for (G6). OOM kills and what was learned before need no sample. */
function awaitingSample({ due, seen, pod, container, newest }: DueRaise): Hold | undefined {
  if (due.reason === "OutOfMemory" || due.reason === "LearnedBefore" || newest === undefined) return undefined;
  if (!isAnswered(seen, pod, container, newest)) return undefined;
  return hold("AwaitingSample", `${due.detail}; the previous raise answered this sample`, { wanted: due.wanted });
}

/** A higher limit lets the container take what the kubelet is about to evict other pods for (G1). */
function nodeUnderPressure({ due, pod }: DueRaise): Hold | undefined {
  if (pod.node?.underPressure !== true) return undefined;
  return hold("NodeUnderPressure", `${due.detail}; node ${pod.node.name} reports MemoryPressure`, { wanted: due.wanted });
}

function capReached(raise: DueRaise): Hold | undefined {
  const { due, grant, has, policy } = raise;
  const { limit } = grant.granted;
  // Several steps may be due at once. Room for one of them is enough.
  if (isWorthwhile(grant, has) || (limit > has.limit && limit >= stepFrom(has.limit, policy))) return undefined;
  const reason = unansweredKill(raise) === undefined ? "CapReached" : "OutOfMemoryAtCap";
  const by = grant.cappedBy ?? "the largest number";
  return hold(reason, `${due.detail}; ${by} leaves no more than ${quantityText(grant.granted.limit)}`, {
    wanted: due.wanted,
    cap: by,
  });
}

function recommendOnly({ due, grant, policy }: DueRaise): Hold | undefined {
  if (policy.strategy !== "Recommend") return undefined;
  const cap = grant.cappedBy === undefined ? {} : { cap: grant.cappedBy };
  return hold("RecommendOnly", `${due.reason}: ${due.detail}`, { wanted: due.wanted, ...cap });
}

/** A container that is killed at any size does not lack memory (G2). */
function raisesIneffective({ due, seen, pod, container }: DueRaise): Hold | undefined {
  if (due.reason !== "OutOfMemory") return undefined;
  const answers = raisesOf(seen, pod, container).filter(({ of }) => of.reason === "OutOfMemory").length;
  if (answers < ineffectiveRaises) return undefined;
  return hold("RaisesIneffective", `${due.detail}; ${answers} raises within an hour did not help`, { wanted: due.wanted });
}

/** The last resort: no shape was recognized, but no healthy container needs this many raises (G1). */
function raisedTooOften({ due, seen, pod, container, policy }: DueRaise): Hold | undefined {
  const raises = raisesOf(seen, pod, container).length;
  if (due.reason === "LearnedBefore" || raises < policy.maxRaisesPerHour) return undefined;
  const detail = `${due.detail}; it was raised ${raises} times within an hour, and maxRaisesPerHour is ${policy.maxRaisesPerHour}`;
  return hold("SuspectedLeak", detail, { wanted: due.wanted });
}

// Shapes. The record keeps what was in use at each raise, and whether usage fell back after it, so the shape of hours or months is
// known although samples are kept for minutes.
//
//   shape                       in use at the raises     after each raise   rate of growth   the next raise
//   leak, 1 MiB/s or 1 MiB/h    288, 576, 1152Mi         not lower          constant         SuspectedLeak
//   garbage collection          288, 576, 1152Mi         falls back         any              is made
//   day and night               288, 576Mi               falls back         any              is made
//   cache that fills up         288, 576, 1152Mi         not lower          decreasing       is made: growth comes to an end
//   more users                  288, 576Mi               not lower          any              is made: too early to tell

/** A leak has been raised this often, and has grown by this factor since the first of these raises. */
const leakRaises = 3;
const leakGrowth = 6;
/** Growth that has slowed down to this share of its rate before is about to end. */
const slowsDown = 0.6;

/** Growth that never falls back over several raises and does not slow down is a leak, whatever its rate (G1). */
function leakByShape({ due, seen, pod, container, newest }: DueRaise): Hold | undefined {
  if (newest === undefined || (due.reason !== "ThresholdCrossed" && due.reason !== "WillRunOut")) return undefined;
  const run = sinceFallBack(levelsOf({ seen, pod, container, newest }));
  const first = run[0];
  if (first === undefined || run.length <= leakRaises || newest.bytes < leakGrowth * first.usage || isSlowing(run))
    return undefined;
  const grew = `it grew from ${readable(first.usage)} to ${readable(newest.bytes)} over ${run.length - 1} raises and never fell back`;
  return hold("SuspectedLeak", `${due.detail}; ${grew}`, { wanted: due.wanted });
}

/** Usage at a raise, or now. */
interface Level {
  readonly usage: number;
  readonly fellBack: boolean;
  readonly limit: number;
  readonly agoMs: number;
  readonly still: boolean;
  /** Usage began at zero since the level before: the container was restarted or replaced. */
  readonly anew: boolean;
}

function levelsOf({
  seen,
  pod,
  container,
  newest,
}: Pick<Facts, "seen" | "pod" | "container"> & { newest: Sample }): readonly Level[] {
  const raises = countedRaises(seen, pod, container).filter(({ of: { reason } }) => reason !== "OutOfMemory");
  const past = raises.flatMap(({ of, agoMs }, at) => {
    const change = changeOf(of, container);
    const before = raises[at - 1];
    if (change?.measured === undefined) return [];
    const { usage, restart, fellBack = false, still = false } = change.measured;
    const anew = before === undefined || !isSameLifeAs(before.of, of, restart, container);
    return [{ usage, fellBack, limit: change.from.limit, agoMs: agoMs + of.atMs - change.measured.atMs, still, anew }];
  });
  const last = raises.at(-1);
  const now = {
    usage: newest.bytes,
    fellBack: false,
    limit: container.limit ?? 0,
    agoMs: newest.ageMs,
    still: standsStill(container),
  };
  return [...past, { ...now, anew: last === undefined || !isSameLife(last.of, pod, container) }];
}

const isSameLifeAs = (before: Action | Intent, of: Action | Intent, restart: number, container: ObservedContainer): boolean =>
  before.method === "InPlace" && before.pod.uid === of.pod.uid && changeOf(before, container)?.measured?.restart === restart;

/** The levels since usage last fell back. */
function sinceFallBack(levels: readonly Level[]): readonly Level[] {
  return levels.slice(levels.findLastIndex(({ fellBack }) => fellBack) + 1);
}

/** The last step grew more slowly than those before. */
function isSlowing(run: readonly Level[]): boolean {
  const rates = run.slice(1).map((level, at) => {
    const before = run[at] ?? level;
    return (level.usage - (level.anew ? 0 : before.usage)) / Math.max(1, before.agoMs - level.agoMs);
  });
  const last = rates.at(-1) ?? 0;
  const before = rates.slice(0, -1);
  return before.length > 0 && last < (slowsDown * before.reduce((sum, rate) => sum + rate, 0)) / before.length;
}

/** Of what a restart with a larger limit added to the limit, at least this share is in use: the program sizes itself by it (G5). */
const followsBy = 0.5;

/** Usage stood still when it was raised, and after a restart with the larger limit it stands still at a similar share of that. */
function usageFollowsLimit(raise: DueRaise): Hold | undefined {
  const { due, trend, newest, has } = raise;
  if (newest === undefined || due.reason !== "ThresholdCrossed") return undefined;
  const [before, now] = levelsOf({ ...raise, newest }).slice(-2);
  if (before === undefined || now === undefined || !now.anew || now.limit <= before.limit) return undefined;
  if (trend !== undefined && isJump(trend, has.limit)) {
    return hold("AwaitingSample", `${due.detail}; after a restart, the next sample tells whether it grows on`, {
      wanted: due.wanted,
    });
  }
  const more = (now.usage - before.usage) / (now.limit - before.limit);
  if (!before.still || !now.still || more < followsBy) return undefined;
  const shares = `${percent(before)} of ${readable(before.limit)}, then ${percent(now)} of ${readable(now.limit)}`;
  return hold("UsageFollowsLimit", `${due.detail}; it used ${shares}, each time after a restart`, { wanted: due.wanted });
}

const percent = ({ usage, limit }: Level): string => `${Math.round((100 * usage) / limit)} %`;
