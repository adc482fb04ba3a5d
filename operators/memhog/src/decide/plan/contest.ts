// Somebody takes back what we gave: GitOps restores a template, another controller lowers a pod. Once may be chance; the second
// time we stop and say Contested (F2). What was taken back is forgotten with the count, so one revert counts once.
import type { Policy } from "../../model/policy.ts";
import type { AppRecord, Given, Intent } from "../../model/record.ts";
import type { AppSeen } from "../../model/seen.ts";
import { isInForce } from "../history.ts";
import { live } from "./progress.ts";
import { withStop } from "./remember.ts";

const tolerated = 1;

export interface Contest {
  readonly record: AppRecord;
  /** These were taken back while they were still under way. */
  readonly lost: readonly Intent[];
}

export function countReverts(seen: AppSeen, record: AppRecord, policy: Policy): Contest {
  const back = new Set(record.given.filter((given) => takenBack(seen, given)).map(({ uid }) => uid));
  if (back.size === 0) return { record, lost: [] };
  const lost = record.intents.filter((intent) => back.has(intent.road === "Template" ? templateUid(intent) : intent.pod.uid));
  const reverts = Math.min(record.reverts + back.size, 1_000_000);
  const next = {
    ...record,
    reverts,
    given: record.given.filter(({ uid }) => !back.has(uid)),
    intents: record.intents.filter((intent) => !lost.includes(intent)),
  };
  if (reverts <= tolerated) return { record: next, lost };
  const { uid: monitorUid, generation: monitorGeneration } = policy;
  return { record: withStop(next, { reason: "Contested", atMs: seen.nowMs, monitorUid, monitorGeneration }), lost };
}

/** Nothing more is begun in this app. */
export function isContested({ record, policies: [policy] }: AppSeen): boolean {
  return policy !== undefined && record.stops.some((stop) => stop.reason === "Contested" && isInForce(stop, policy));
}

function takenBack(seen: AppSeen, { uid, container, limit }: Given): boolean {
  const pod = seen.pods.find((one) => one.uid === uid && live(one) && one.monitored);
  const holder = pod ?? (seen.template?.uid === uid ? seen.template : undefined);
  const now = holder?.containers.find(({ name }) => name === container);
  return now !== undefined && (now.limit ?? 0) < limit;
}

const templateUid = (intent: Intent): string => intent.id.slice(0, intent.id.indexOf("/"));

/**
 * An edit of the AppMonitor lifts every stop (decide/history.ts sees to that). Only Contested is taken off the list, and the
 * count starts anew; the others stay: raises before them are not counted against the next try.
 */
export function forgetLiftedContest(record: AppRecord, policy: Policy): AppRecord {
  const stops = record.stops.filter((stop) => stop.reason !== "Contested" || isInForce(stop, policy));
  return stops.length === record.stops.length ? record : { ...record, stops, reverts: 0 };
}
