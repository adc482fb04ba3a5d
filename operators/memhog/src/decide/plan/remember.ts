// What is written down when something happened: each function takes a record and gives the next one, or the very same if there is
// nothing new, so that "nothing changed" is easily seen (E1). All lists are bounded, as in api/app-memory.ts.
import { keptActions } from "../../api/app-memory.ts";
import { larger } from "../../model/bytes.ts";
import type { Action, ActionOutcome, AppRecord, Change, Given, Intent, Learned, Stop } from "../../model/record.ts";
import type { AppSeen } from "../../model/seen.ts";

const most = { learned: 40, given: 500, kills: 500, stops: 100 } as const;

/** How an intent ended. A raise counts from when it was decided; a failure from when it was known, since patience begins then. */
export function withAction(record: AppRecord, intent: Intent, { nowMs, outcome, detail }: Ending): AppRecord {
  const { pod, changes, road, reason } = intent;
  const atMs = outcome === "Applied" ? intent.atMs : nowMs;
  const action: Action = {
    atMs,
    pod,
    changes,
    road,
    reason,
    outcome,
    ...(detail === undefined ? {} : { detail: detail.slice(0, 1024) }),
  };
  return { ...record, actions: [...record.actions, action].slice(-keptActions) };
}

/** The memory has arrived: it is what new pods of the app start with. What was known before is no new raise. */
export function withRaise(record: AppRecord, { changes, reason }: Intent, atMs: number): AppRecord {
  const raises = record.raises + (reason === "LearnedBefore" ? 0 : 1);
  return { ...record, raises, learned: changes.reduce((list, change) => withLearned(list, change, atMs), record.learned) };
}

export interface Ending {
  readonly nowMs: number;
  readonly outcome: ActionOutcome;
  readonly detail?: string | undefined;
}

function withLearned(list: readonly Learned[], { container, to }: Change, atMs: number): readonly Learned[] {
  const known = list.find((one) => one.container === container);
  if (known !== undefined && known.limit >= to.limit) return list;
  const request = known?.request !== undefined && to.request !== undefined ? larger(known.request, to.request) : to.request;
  const learned: Learned = { container, limit: to.limit, request, atMs };
  return [...list.filter((one) => one !== known), learned].slice(-most.learned);
}

export function withGiven(record: AppRecord, given: readonly Given[]): AppRecord {
  const news = given.filter((one) => !record.given.some((known) => same(known, one) && known.limit === one.limit));
  if (news.length === 0) return record;
  const others = record.given.filter((known) => !news.some((one) => same(known, one)));
  return { ...record, given: [...others, ...news].slice(-most.given) };
}

/** One of a kind: a new one takes the place of one that was lifted. */
export function withStop(record: AppRecord, stop: Stop): AppRecord {
  const others = record.stops.filter((one) => one.reason !== stop.reason || one.uid !== stop.uid);
  return { ...record, stops: [...others, stop].slice(-most.stops) };
}

/** A kill counts once: its restart count is above what was counted. */
export function withKill(record: AppRecord, uid: string, container: string, restart: number): AppRecord {
  const known = record.kills.find((kill) => kill.uid === uid && kill.container === container);
  if (known !== undefined && known.restart >= restart) return record;
  const kills = [...record.kills.filter((kill) => kill !== known), { uid, container, restart }].slice(-most.kills);
  return { ...record, kills, oomKills: record.oomKills + 1 };
}

/** What is only of interest while its pod lives goes with the pod. */
export function forgetGone(record: AppRecord, seen: AppSeen): AppRecord {
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
