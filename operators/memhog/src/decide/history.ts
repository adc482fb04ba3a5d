// What we did to a container lately, and how long ago that was.
//
// The record has times of the wall clock, and a wall clock may step. A second witness is asked where there is one: the monotonic
// clock of this process knows how long ago it last raised a pod. If by the wall clock that was longer ago, the wall clock has
// stepped forward since, and all its ages are shortened by as much; if it was less long ago, or not even yet, the wall clock is
// believed: of two witnesses the one who says "just now" (promise M5). So a step may make us wait; it never makes us act.
import type { Policy } from "../model/policy.ts";
import type { Action, Intent, Stop } from "../model/record.ts";
import type { AppSeen, ContainerSeen, PodSeen } from "../model/seen.ts";

export interface Raise {
  readonly of: Action | Intent;
  readonly agoMs: number;
}

const hourMs = 3_600_000;

/** The raises within the last hour that bear on this container: those in place of its pod, others of this container in any pod. */
export function raisesOf(seen: AppSeen, pod: PodSeen, container: ContainerSeen): readonly Raise[] {
  const counted = isCountedSince(seen, pod);
  return appliedTo(seen, pod, container).filter((raise) => raise.agoMs < hourMs && counted(raise.of));
}

/** Until the next raise of this container may follow, unless something is urgent. */
export function cooldownLeft(seen: AppSeen, pod: PodSeen, container: ContainerSeen, cooldownMs: number): number {
  const ages = appliedTo(seen, pod, container).map(({ agoMs }) => agoMs);
  // The record was deleted "to make us forget": then the other witness is the only one.
  const witness = entries(seen).some((entry) => entry.pod.uid === pod.uid) ? undefined : seen.raisedAgoMs.get(pod.uid);
  const last = Math.min(...ages, witness ?? Number.POSITIVE_INFINITY);
  return Math.max(0, cooldownMs - Math.max(0, last));
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
  const ahead = clockAhead(seen, new Set([pod.uid, ...about.map((entry) => entry.pod.uid)]));
  return about.map((of) => ({ of, agoMs: Math.max(0, seen.nowMs - of.atMs - ahead) }));
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

/** How far the wall clock stepped forward since the last raise of these pods, as far as the witness can tell. */
function clockAhead(seen: AppSeen, uids: ReadonlySet<string>): number {
  let ahead = 0;
  for (const uid of uids) {
    const witness = seen.raisedAgoMs.get(uid);
    const last = Math.max(...entries(seen).flatMap((entry) => (entry.pod.uid === uid ? [entry.atMs] : [])));
    if (witness !== undefined && Number.isFinite(last)) ahead = Math.max(ahead, seen.nowMs - last - witness);
  }
  return ahead;
}

const entries = (seen: AppSeen): readonly (Action | Intent)[] => [...seen.record.actions, ...seen.record.intents];
