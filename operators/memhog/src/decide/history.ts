// What we did to a container lately, and how long ago that was.
//
// The record has times of the wall clock, and a wall clock may step. A second witness is asked where there is one: the monotonic
// clock of this process knows how long ago it last raised a pod. If the two do not agree, all ages lie between what the one and the
// other make of them, and whoever asks takes the end that makes us wait (promise M5):
//
//   the raise was 20 s ago, cooldown 60 s     wall clock   witness   ago        left to wait   surely left
//   nothing happened                          20 s         20 s      20 s       40 s           40 s
//   the wall clock went an hour ahead         1 h 20 s     20 s      20 s …     40 s           0
//   the wall clock went an hour back          0            20 s      0 …        60 s           40 s
//   we were restarted                         20 s         none      20 s       40 s           40 s
import type { Policy } from "../model/policy.ts";
import type { Action, Intent, Stop } from "../model/record.ts";
import type { AppSeen, ContainerSeen, PodSeen } from "../model/seen.ts";

export interface Raise {
  readonly of: Action | Intent;
  /** At least. */
  readonly agoMs: number;
  readonly atMostAgoMs: number;
}

const minuteMs = 60_000;
const hourMs = 3_600_000;

/** The raises within the last hour that bear on this container: those in place of its pod, others of this container in any pod. */
export function raisesOf(seen: AppSeen, pod: PodSeen, container: ContainerSeen): readonly Raise[] {
  const counted = isCountedSince(seen, pod);
  return appliedTo(seen, pod, container).filter((raise) => raise.agoMs < hourMs && counted(raise.of));
}

/** Within the last minute it was given at least twice of what it had. */
export function doubledLately(seen: AppSeen, pod: PodSeen, container: ContainerSeen): boolean {
  const doubled = ({ of }: Raise) =>
    of.changes.some(({ container: name, from, to }) => name === container.name && to.limit >= 2 * from.limit);
  return raisesOf(seen, pod, container).some((raise) => raise.agoMs < minuteMs && doubled(raise));
}

/** Until the next raise of this container may follow, unless something is urgent. */
export function cooldownLeft(seen: AppSeen, pod: PodSeen, container: ContainerSeen, cooldownMs: number): number {
  const ages = appliedTo(seen, pod, container).map(({ agoMs }) => agoMs);
  return leftOf(cooldownMs, [...ages, ...witnessAlone(seen, pod)]);
}

/** The same, but no more of it than is certain: what is urgent only because of a long cooldown must not be so by a clock's mistake. */
export function cooldownSurelyLeft(seen: AppSeen, pod: PodSeen, container: ContainerSeen, cooldownMs: number): number {
  const ages = appliedTo(seen, pod, container).map(({ atMostAgoMs }) => atMostAgoMs);
  return leftOf(cooldownMs, [...ages, ...witnessAlone(seen, pod)]);
}

const leftOf = (cooldownMs: number, ages: readonly number[]) => Math.max(0, cooldownMs - Math.max(0, Math.min(...ages)));

/** The record was deleted "to make us forget": then the other witness is the only one. */
function witnessAlone(seen: AppSeen, pod: PodSeen): readonly number[] {
  const witness = seen.raisedAgoMs.get(pod.uid);
  return witness === undefined || entries(seen).some((entry) => entry.pod.uid === pod.uid) ? [] : [witness];
}

/** What was decided to be left alone, while the AppMonitor that this was decided under is what it was. */
export function stopOn(seen: AppSeen, pod: PodSeen, policy: Policy): Stop | undefined {
  return seen.record.stops.find((stop) => isAbout(stop, pod) && isInForce(stop, policy));
}

/** An edit of the AppMonitor lifts its stops. */
export function isInForce(stop: Stop, policy: Policy): boolean {
  return stop.monitorUid === policy.uid && stop.monitorGeneration === policy.generation;
}

const isAbout = (stop: Stop, pod: PodSeen) => stop.uid === undefined || stop.uid === pod.uid;

/** Whoever lifts a stop wants another try: the raises that led to it are not counted against the next. */
function isCountedSince(seen: AppSeen, pod: PodSeen): (of: Action | Intent) => boolean {
  const stops = seen.record.stops.filter((stop) => isAbout(stop, pod)).map(({ atMs }) => atMs);
  const last = Math.max(...stops, Number.NEGATIVE_INFINITY);
  return (of) => of.atMs > last;
}

function appliedTo(seen: AppSeen, pod: PodSeen, container: ContainerSeen): readonly Raise[] {
  const about = entries(seen).filter((entry) => isApplied(entry) && concerns(entry, pod, container));
  if (about.length === 0) return [];
  const { ahead, behind } = wallClock(seen, new Set([pod.uid, ...about.map((entry) => entry.pod.uid)]));
  return about.map((of) => {
    const ago = seen.nowMs - of.atMs;
    return { of, agoMs: Math.max(0, ago - ahead), atMostAgoMs: Math.max(0, ago + behind) };
  });
}

/** A new pod that starts with what the app was known to need is not growing: that counts as no raise. */
function isApplied(entry: Action | Intent): boolean {
  if (entry.reason === "LearnedBefore") return false;
  return "outcome" in entry ? entry.outcome === "Applied" : entry.limitsApplied === true;
}

/** In place a pod has a history of its own. On the other roads pods come and go, and the app has one. */
function concerns(entry: Action | Intent, pod: PodSeen, container: ContainerSeen): boolean {
  if (entry.road === "InPlace") return entry.pod.uid === pod.uid;
  return entry.changes.some((change) => change.container === container.name);
}

/** How far the wall clock stepped since the last raises of these pods, as far as the witness can tell. */
function wallClock(seen: AppSeen, uids: ReadonlySet<string>): { readonly ahead: number; readonly behind: number } {
  const steps = [...uids].flatMap((uid) => {
    const witness = seen.raisedAgoMs.get(uid);
    const last = entries(seen).reduce((latest, { pod, atMs }) => (pod.uid === uid ? Math.max(latest, atMs) : latest), -Infinity);
    return witness === undefined || last === -Infinity ? [] : [seen.nowMs - last - witness];
  });
  return { ahead: Math.max(0, ...steps), behind: Math.max(0, ...steps.map((step) => -step)) };
}

const entries = (seen: AppSeen): readonly (Action | Intent)[] => [...seen.record.actions, ...seen.record.intents];
