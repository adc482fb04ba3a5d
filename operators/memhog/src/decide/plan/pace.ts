// Not everything that is due is done at once (D3), and what failed is not tried again at once (A1, D5). These are the brakes on
// what we do; those on what a container may get are in the verdict.
import type { Action, AppRecord, Change, Intent, Road } from "../../model/record.ts";
import type { AppSeen, PodSeen } from "../../model/seen.ts";
import { type Hold, hold } from "../facts.ts";
import { containerOf, live, minutes, notTakenUp, since } from "./progress.ts";

const atATime = { inPlace: 3, otherwise: 1, cluster: 10 } as const;
const circuitMs = minutes(10);
const firstPatienceMs = minutes(5);
const longestPatienceMs = minutes(60);

export interface Step {
  readonly road: Road;
  readonly pod: PodSeen;
  readonly changes: readonly Change[];
}

/** Why this step is not taken now, and for how long if that is known. */
export interface Braked {
  readonly hold: Hold;
  readonly forMs?: number;
}

/** In the order in which they are worth telling. */
export function brakeOn(seen: AppSeen, record: AppRecord, step: Step): Braked | undefined {
  return (
    afterRefusal(seen, record, step) ?? afterBadCopy(seen, record, step) ?? circuit(seen, record) ?? busy(seen, record, step)
  );
}

/** The same once more, sooner than is sensible. Another target is another matter: something has changed. */
function afterRefusal(seen: AppSeen, record: AppRecord, { pod, road, changes }: Step): Braked | undefined {
  const last = streak(record, (action) => action.pod.uid === pod.uid && action.road === road, "Refused");
  const newest = last[0];
  if (newest === undefined || !sameTarget(newest.changes, changes)) return undefined;
  if (newest.detail === notTakenUp && last.length === 1) return undefined;
  return during(seen, newest, last.length, hold("Refused", newest.detail ?? "the API server refused it"));
}

function afterBadCopy(seen: AppSeen, record: AppRecord, { pod, road }: Step): Braked | undefined {
  if (road !== "CopyPod") return undefined;
  const last = streak(record, (action) => action.pod.uid === pod.uid && action.road === road, "NotReady");
  const newest = last[0];
  return newest && during(seen, newest, last.length, hold("ReplacementNotReady", newest.detail ?? "the copy was not Ready"));
}

/** What was redeployed did not come back, twice in a row. */
function circuit(seen: AppSeen, record: AppRecord): Braked | undefined {
  const redeployed = (action: Action) =>
    action.road !== "InPlace" && (action.outcome === "Applied" || action.outcome === "NotReady");
  const last = streak(record, redeployed, "NotReady");
  const newest = last[0];
  if (newest === undefined || last.length < 2) return undefined;
  const forMs = circuitMs - since(seen, newest.atMs);
  return forMs > 0 ? { hold: hold("CircuitOpen", "two redeployments in a row did not become Ready"), forMs } : undefined;
}

function during(seen: AppSeen, last: Action, times: number, why: Hold): Braked | undefined {
  const patience = Math.min(firstPatienceMs * 2 ** (times - 1), longestPatienceMs);
  const forMs = patience - since(seen, last.atMs);
  return forMs > 0 ? { hold: why, forMs } : undefined;
}

/** The newest actions of that sort, newest first, as far as they all ended like this. */
export function streak(record: AppRecord, which: (action: Action) => boolean, outcome: Action["outcome"]): readonly Action[] {
  const newestFirst = record.actions.filter(which).toReversed();
  const other = newestFirst.findIndex((action) => action.outcome !== outcome);
  return other === -1 ? newestFirst : newestFirst.slice(0, other);
}

const sameTarget = (a: readonly Change[], b: readonly Change[]): boolean =>
  a.length === b.length && a.every(({ container, to }) => b.some((o) => o.container === container && o.to.limit === to.limit));

/** Under way is what was begun and has not arrived. Requests that wait for room disturb nobody. */
function busy(seen: AppSeen, record: AppRecord, { road, pod, changes }: Step): Braked | undefined {
  const open = record.intents.filter((intent) => !intent.limitsApplied);
  if (open.some((intent) => intent.pod.uid === pod.uid)) return { hold: hold("ResizeInProgress", "the last raise is under way") };
  if (seen.underWayElsewhere + open.length >= atATime.cluster) return tooMany(`${atATime.cluster} raises in the cluster`);
  if (open.some((intent) => intent.road !== "InPlace")) return tooMany("a redeployment of this app");
  if (open.length >= (road === "InPlace" ? atATime.inPlace : atATime.otherwise))
    return tooMany(`${open.length} raises of this app`);
  if (road !== "InPlace" || !changes.some(({ container }) => containerOf(pod, container)?.restartsOnResize)) return undefined;
  return mayRestart(seen, pod, open) ? undefined : tooMany("restarts of this app: one pod at a time, while the others are Ready");
}

const tooMany = (what: string): Braked => ({ hold: hold("Busy", `under way already: ${what}`) });

// resizePolicy RestartContainer: no disruption budget protects against it, so we count it as a disruption ourselves.
function mayRestart(seen: AppSeen, pod: PodSeen, open: readonly Intent[]): boolean {
  const others = seen.pods.filter((other) => other.uid !== pod.uid && live(other));
  return open.length === 0 && others.every((other) => other.ready);
}
