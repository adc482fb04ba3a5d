// The facts that the rules of a verdict look at, computed once per container: its memory, recent raises, threshold, trend and caps.
import { type Bytes, bytes } from "../model/bytes.ts";
import type { ObservedApp, ObservedContainer, ObservedPod, Policy, Sample } from "../model/observed-app.ts";
import type { Action, Cap, Decision, Inputs, Intent, Memory, Stop } from "../model/plan.ts";
import type { HoldReason, RaiseReason } from "../model/reasons.ts";
import { capsOn, type Reservation } from "./caps.ts";

/** One container in its app. */
export interface Candidate {
  readonly seen: ObservedApp;
  readonly pod: ObservedPod;
  readonly container: ObservedContainer;
  /** Room reserved for others of this app that they do not have yet. */
  readonly reserved: readonly Reservation[];
}

/** The same, if exactly one AppMonitor applies and the container has a limit. */
export interface Facts extends Candidate {
  readonly policy: Policy;
  readonly has: Memory;
  readonly newest: Sample | undefined;
  readonly trend: Trend | undefined;
  readonly cooldownLeftMs: number;
  readonly cooldownSurelyLeftMs: number;
  readonly caps: readonly Cap[];
}

/** More memory is needed; objections may still prevent the raise. */
export interface Due {
  readonly reason: RaiseReason;
  readonly detail: string;
  readonly wanted: Memory;
}

export type Hold = Extract<Decision, { kind: "hold" }>;

export function hold(reason: HoldReason, detail: string, more: Pick<Hold, "wanted" | "cap"> = {}): Hold {
  return { kind: "hold", reason, detail, ...more };
}

export function factsOf(candidate: Candidate, policy: Policy, has: Memory): Facts {
  const { seen, pod, container } = candidate;
  return {
    ...candidate,
    policy,
    has,
    newest: newestOf(container.samples),
    trend: trendOf(container.samples, has.limit),
    cooldownLeftMs: cooldownLeft(seen, pod, container, policy.cooldownMs),
    cooldownSurelyLeftMs: cooldownSurelyLeft(seen, pod, container, policy.cooldownMs),
    caps: capsOn(candidate, policy.maxMemory),
  };
}

/** The numbers behind a verdict, as far as they exist. */
export function inputsOf(candidate: Candidate, facts: Facts | undefined): Inputs {
  const { seen, pod, container } = candidate;
  const newest = facts?.newest ?? newestOf(container.samples);
  return {
    usage: newest?.bytes,
    sampleAgeMs: newest?.ageMs,
    limit: container.limit,
    request: container.request,
    thresholdBytes: facts && thresholdOf(facts.has.limit, facts.policy.thresholdPercent),
    growth: facts?.trend?.growth,
    runsOutInMs: facts?.trend?.runsOutInMs,
    cooldownLeftMs: facts?.cooldownLeftMs ?? 0,
    raisesLastHour: raisesOf(seen, pod, container).length,
    caps: facts?.caps ?? [],
  };
}

/** Kubernetes treats a limit of 0 as none. */
export function memoryOf(container: ObservedContainer): Memory | undefined {
  const limit: Bytes = container.limit ?? bytes(0);
  return limit === 0 ? undefined : { limit, request: container.request };
}

// Recent raises of a container, and how long ago they were.
//
// The record has wall-clock times, and a wall clock may step. The monotonic clock of this process also knows how long ago it raised a
// pod (`raisedAgoMs`). If the two disagree, an age lies between them, and each caller takes the end that makes memhog wait (M5):
//
//   raised 20 s ago, cooldown 60 s     wall clock   monotonic   age        cooldown left   certainly left
//   nothing happened                   20 s         20 s        20 s       40 s            40 s
//   wall clock an hour ahead           1 h 20 s     20 s        20 s …     40 s            0
//   wall clock an hour behind          0            20 s        0 …        60 s            40 s
//   memhog was restarted               20 s         none        20 s       40 s            40 s

export interface Raise {
  readonly of: Action | Intent;
  /** Lower bound. */
  readonly agoMs: number;
  readonly atMostAgoMs: number;
}

const minuteMs = 60_000;
const hourMs = 3_600_000;

/** The raises that count for this container, oldest first: in place those of its pod, otherwise those of the container in any pod. */
export function countedRaises(seen: ObservedApp, pod: ObservedPod, container: ObservedContainer): readonly Raise[] {
  const counted = isCountedSince(seen, pod, container);
  return appliedTo(seen, pod, container).filter(({ of }) => counted(of));
}

/** The same, of the last hour. */
export function raisesOf(seen: ObservedApp, pod: ObservedPod, container: ObservedContainer): readonly Raise[] {
  return countedRaises(seen, pod, container).filter(({ agoMs }) => agoMs < hourMs);
}

/** Its limit was at least doubled within the last minute. */
export function doubledLately(seen: ObservedApp, pod: ObservedPod, container: ObservedContainer): boolean {
  const doubled = ({ of }: Raise) =>
    of.changes.some(({ container: name, from, to }) => name === container.name && to.limit >= 2 * from.limit);
  return raisesOf(seen, pod, container).some((raise) => raise.agoMs < minuteMs && doubled(raise));
}

/** Ages are computed from HTTP dates, which have a resolution of a second. */
const sampleToleranceMs = 2_000;

/** A raise was based on this sample, or on a newer one. If the clocks disagree, the sample counts as the older one. */
export function isAnswered(seen: ObservedApp, pod: ObservedPod, container: ObservedContainer, sample: Sample): boolean {
  return appliedTo(seen, pod, container).some((raise) => isNotNewer(sample, raise, container));
}

/** The sample is the one that the raise was based on, or an older one. */
function isNotNewer(sample: Sample, { of, agoMs }: Raise, container: ObservedContainer): boolean {
  const measured = changeOf(of, container)?.measured;
  return measured !== undefined && sample.ageMs + sampleToleranceMs >= agoMs + of.atMs - measured.atMs;
}

/** Usage that is lower by this share has fallen back. Less is noise, or garbage collection on top of a leak. */
const fallsBackBy = 0.25;

/** The last raise of this container, if usage has fallen back since and that is news. */
export function fellBackSince(seen: ObservedApp, pod: ObservedPod, container: ObservedContainer): Action | Intent | undefined {
  const last = appliedTo(seen, pod, container).at(-1);
  const measured = last && changeOf(last.of, container)?.measured;
  if (last === undefined || measured === undefined || measured.fellBack || !isSameLife(last.of, pod, container)) return undefined;
  const low = (sample: Sample) => isUsable(sample) && sample.bytes <= measured.usage * (1 - fallsBackBy);
  return container.samples.some((sample) => low(sample) && !isNotNewer(sample, last, container)) ? last.of : undefined;
}

/** The container has not been restarted or replaced since this raise. */
export const isSameLife = (of: Action | Intent, pod: ObservedPod, container: ObservedContainer): boolean =>
  of.pod.uid === pod.uid && of.method === "InPlace" && changeOf(of, container)?.measured?.restart === container.restarts;

export const changeOf = ({ changes }: Action | Intent, { name }: ObservedContainer) =>
  changes.find(({ container }) => container === name);

/** Milliseconds until the cooldown ends. */
function cooldownLeft(seen: ObservedApp, pod: ObservedPod, container: ObservedContainer, cooldownMs: number): number {
  const ages = appliedTo(seen, pod, container).map(({ agoMs }) => agoMs);
  return leftOf(cooldownMs, [...ages, ...witnessAlone(seen, pod)]);
}

/** The same as a lower bound: a clock that stepped must not make a raise look urgent. */
function cooldownSurelyLeft(seen: ObservedApp, pod: ObservedPod, container: ObservedContainer, cooldownMs: number): number {
  const ages = appliedTo(seen, pod, container).map(({ atMostAgoMs }) => atMostAgoMs);
  return leftOf(cooldownMs, [...ages, ...witnessAlone(seen, pod)]);
}

const leftOf = (cooldownMs: number, ages: readonly number[]) => Math.max(0, cooldownMs - Math.max(0, Math.min(...ages)));

/** After the AppMemory was deleted, only the monotonic clock knows. */
function witnessAlone(seen: ObservedApp, pod: ObservedPod): readonly number[] {
  const witness = seen.raisedAgoMs.get(pod.uid);
  return witness === undefined || entries(seen).some((entry) => entry.pod.uid === pod.uid) ? [] : [witness];
}

/** The stop of this container, while the AppMonitor is unchanged. */
export function stopOn(seen: ObservedApp, about: { pod: ObservedPod; container: string; policy: Policy }): Stop | undefined {
  return seen.record.stops.find((stop) => isAbout(stop, about) && isInForce(stop, about.policy));
}

/** Editing the AppMonitor ends its stops. */
export function isInForce(stop: Stop, policy: Policy): boolean {
  return stop.monitorUid === policy.uid && stop.monitorGeneration === policy.generation;
}

const isAbout = (stop: Stop, { pod, container }: { pod: ObservedPod; container: string }) =>
  (stop.uid ?? pod.uid) === pod.uid && (stop.container ?? container) === container;

/** After a stop was ended, the raises that led to it no longer count. */
function isCountedSince(seen: ObservedApp, pod: ObservedPod, { name }: ObservedContainer): (of: Action | Intent) => boolean {
  const stops = seen.record.stops.filter((stop) => isAbout(stop, { pod, container: name })).map(({ atMs }) => atMs);
  const last = Math.max(...stops, Number.NEGATIVE_INFINITY);
  return (of) => of.atMs > last;
}

function appliedTo(seen: ObservedApp, pod: ObservedPod, container: ObservedContainer): readonly Raise[] {
  const about = entries(seen).filter((entry) => isApplied(entry) && concerns(entry, pod, container));
  if (about.length === 0) return [];
  const { ahead, behind } = wallClock(seen, new Set([pod.uid, ...about.map((entry) => entry.pod.uid)]));
  return about.map((of) => {
    const ago = seen.nowMs - of.atMs;
    return { of, agoMs: Math.max(0, ago - ahead), atMostAgoMs: Math.max(0, ago + behind) };
  });
}

/** A new pod that gets what the app is known to need is not growing, so that does not count as a raise. */
function isApplied(entry: Action | Intent): boolean {
  if (entry.reason === "LearnedBefore") return false;
  return "outcome" in entry ? entry.outcome === "Applied" : entry.limitsApplied === true;
}

/** Resized in place, each pod has its own history. With the other methods pods are replaced, and the history belongs to the app. */
function concerns(entry: Action | Intent, pod: ObservedPod, container: ObservedContainer): boolean {
  if (entry.method === "InPlace" && entry.pod.uid !== pod.uid) return false;
  return entry.changes.some((change) => change.container === container.name);
}

/** How far the wall clock stepped since the last raises of these pods, judged by the monotonic clock. */
function wallClock(seen: ObservedApp, uids: ReadonlySet<string>): { readonly ahead: number; readonly behind: number } {
  const steps = [...uids].flatMap((uid) => {
    const witness = seen.raisedAgoMs.get(uid);
    const last = entries(seen).reduce((latest, { pod, atMs }) => (pod.uid === uid ? Math.max(latest, atMs) : latest), -Infinity);
    return witness === undefined || last === -Infinity ? [] : [seen.nowMs - last - witness];
  });
  return { ahead: Math.max(0, ...steps), behind: Math.max(0, ...steps.map((step) => -step)) };
}

const entries = (seen: ObservedApp): readonly (Action | Intent)[] => [...seen.record.actions, ...seen.record.intents];

// The threshold: usage ÷ limit is memThresholdPercent or more. The limit is that of the spec, not the one that the kubelet has
// applied so far; otherwise one crossing would raise twice.
//
//   limit   percent   threshold   usage      crossed
//   384Mi   75        288Mi       287.9Mi    no
//   384Mi   75        288Mi       288Mi      yes: "or more"
//   768Mi   75        576Mi       288Mi      no: one crossing, one raise
//   100Mi   72.5      72.5Mi      72.5Mi     yes: a percentage need not be whole
//   384Mi   100       384Mi       380Mi      no: only at the limit itself, where the kill comes first; WillRunOut still helps

/** The smallest usage that crosses the threshold. */
export function thresholdOf(limit: Bytes, percent: number): Bytes {
  return bytes(Math.ceil((limit * percent) / 100));
}

export function crosses(usage: Bytes, limit: Bytes, percent: number): boolean {
  return usage * 100 >= limit * percent;
}

// The trend: when the container runs out of memory, extrapolated from the last samples.
//
// Samples are 10-15 s apart and seen up to 15 s later, and a container that grows by 10 MiB/s gets from 75 % of 384Mi to its limit in
// 10 s: waiting for the threshold would be too late. But growth may be over by now, so the trend counts only as far as it was seen:
//
//   growth     what the last step added to the highest usage before it, per second. What came before the ramp does not matter: an idle
//              minute does not flatten it. Usage that only recovers from a dip does not grow.
//   steady     the step before it was at least a third as steep. Otherwise it may be one jump.
//   predicted  the newest sample + growth × its age, by at most one step
//   runs out   (limit − newest sample) ÷ growth − its age
//   can wait   the next sample is seen before that
//
// Growth of 10 MiB/s at 384Mi, with samples taken 0, 12 and 25 s after the start:
//
//   seen at   newest sample        growth     predicted   runs out in   lookahead 60 s says
//   15 s      120Mi, 3 s old       10 MiB/s   150Mi       23 s          hold: below half of the limit, like any start-up
//   20 s      120Mi, 8 s old       10 MiB/s   200Mi       18 s          raise: the next sample may be seen only in 19 s
//   30 s      250Mi, 5 s old       10 MiB/s   300Mi       8 s           (steady by now)
//
// Two samples cannot tell a ramp from a jump. A jump is raised only if there is no time for a third sample, and only if it can be a
// ramp at all: one that fills the limit in less than half a minute is a program that loads its data. After a raise that doubled the
// limit there is more time, so even steady growth waits for the next sample as long as it can: it may have ended.
//
// At 1 MiB/s and 287Mi the container runs out in 97 s, so slow growth is raised at the threshold; need.ts does so at the moment of the
// crossing rather than one sample later.

export interface Trend {
  /** Bytes per second; more than 0. */
  readonly growth: number;
  /** Extrapolated usage now, in bytes. */
  readonly predicted: number;
  readonly runsOutInMs: number;
  readonly steady: boolean;
  /** The next sample is seen in time. */
  readonly canWait: boolean;
}

/** The slope of samples closer together than this is mostly noise. */
const apartMs = 4_000;
/** A kubelet measures at least this often. */
const mostApartMs = 15_000;
/** From the measurement to the new limit: a scrape and a pass, 5 s each, one of them late, and the resize. */
const seenWithinMs = 15_000;
/** Below this share of the limit, growth is taken for a start-up. */
const atLeast = 0.5;
/** No ramp fills the limit sooner than this; a jump does. */
const fastestRampMs = 30_000;

/** Undefined if the samples, oldest first, show no growth. */
export function trendOf(samples: readonly Sample[], limit: Bytes): Trend | undefined {
  const usable = samples.filter(isUsable);
  const last = usable.at(-1);
  const before = stepBack(usable, last);
  if (last === undefined || before === undefined) return undefined;
  const earlier = usable.filter(({ ageMs }) => ageMs >= before.ageMs);
  const highest = earlier.reduce((most, { bytes: used }) => Math.max(most, used), 0);
  const stepMs = before.ageMs - last.ageMs;
  const growth = ((last.bytes - highest) / stepMs) * 1000;
  if (!(growth > 0)) return undefined;
  const first = stepBack(usable, before);
  const runsOutInMs = Math.max(0, ((limit - last.bytes) / growth) * 1000 - last.ageMs);
  return {
    growth,
    predicted: last.bytes + (growth * Math.min(last.ageMs, stepMs, mostApartMs)) / 1000,
    runsOutInMs,
    steady: first !== undefined && slope(first, before) >= growth / 3,
    canWait: runsOutInMs > Math.max(0, Math.min(stepMs, mostApartMs) + seenWithinMs - last.ageMs),
  };
}

/**
 * Usage reaches the limit within the lookahead, and is above half of it.
 * @param doubled The limit was doubled within the last minute.
 */
export function willRunOut(trend: Trend | undefined, limit: Bytes, lookaheadMs: number, doubled = false): boolean {
  if (trend === undefined || trend.runsOutInMs > lookaheadMs || lookaheadMs <= 0) return false;
  if (trend.predicted < limit * atLeast) return false;
  if (doubled) return trend.steady && !trend.canWait;
  return trend.steady || (!trend.canWait && !isJump(trend, limit));
}

/** A jump that is no ramp: usage has probably reached what the program needs. */
export function isJump(trend: Trend, limit: Bytes): boolean {
  return !trend.steady && (limit / trend.growth) * 1000 < fastestRampMs;
}

/** The last three samples show no growth. */
export function standsStill({ samples, limit }: ObservedContainer): boolean {
  return samples.filter(isUsable).length >= 3 && trendOf(samples, limit ?? bytes(0)) === undefined;
}

const stepBack = (usable: readonly Sample[], from: Sample | undefined): Sample | undefined =>
  from && usable.findLast((sample) => sample.ageMs >= from.ageMs + apartMs);

const slope = (from: Sample, to: Sample) => ((to.bytes - from.bytes) / (from.ageMs - to.ageMs)) * 1000;

// Which samples count. observe/ drops values that are not numbers; here, samples with an invalid or negative age are ignored (M2).

function newestOf(samples: readonly Sample[]): Sample | undefined {
  return samples.findLast(isUsable);
}

function isUsable({ ageMs }: Sample): boolean {
  return ageMs >= 0 && Number.isFinite(ageMs);
}

export function isFresh(sample: Sample, freshForMs: number): boolean {
  return sample.ageMs <= freshForMs;
}
