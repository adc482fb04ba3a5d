// How and when a raise may begin: the method by which a pod gets more memory, then the limits on concurrency and retries.
//
//   strategy    in place possible   not possible: Pod    Deployment … CronJob   Job, Other
//   Auto        InPlace             CopyPod              Template (1)           hold OwnerNotEditable
//   InPlace     InPlace             hold InPlaceImpossible (NotRunning if it may run again)
//   Redeploy    –                   CopyPod              Template               hold OwnerNotEditable
//   Recommend   hold RecommendOnly, always
//
// With --in-place-only, CopyPod and Template become hold InPlaceOnly.
//
// (1) Only in clusters that do not serve pods/resize. In all others Auto leaves templates alone, as InPlace does, so that a tool that
// applies them from a repository finds no difference (docs/decisions/0007-auto-leaves-templates-alone.md).
//
// CopyPod is held as CopyUnsafe if two copies must not run at the same time. Template is held as WouldCauseDowntime if its rollout would remove every Ready pod first (redeploy.ts). Next to an HPA on memory
// utilization, only limits are raised in place, and nothing is redeployed: a larger request would make it remove replicas (F1).
import {
  containerOf,
  hasEnded,
  live,
  type ObservedApp,
  type ObservedPod,
  type Policy,
  resizesInPlace,
} from "../model/observed-app.ts";
import type { Action, AppRecord, Change, Intent, Method } from "../model/plan.ts";
import { actionCauses, type HoldReason } from "../model/reasons.ts";
import { type Hold, hold } from "./facts.ts";
import type { PodRaise } from "./intents.ts";
import { isFrozen, minutes, policyInCharge, since } from "./progress.ts";
import { causesDowntime, copyRisks, toAvoidDowntime } from "./redeploy.ts";

type MethodChoice = { readonly method: Method } | { readonly hold: Hold };

export function methodFor(seen: ObservedApp, record: AppRecord, { pod, changes, reason }: PodRaise): MethodChoice {
  const policy = policyInCharge(seen);
  if (policy === undefined) return no("NoMonitor", "no AppMonitor selects the pod");
  if (policy.strategy === "Recommend") return no("RecommendOnly", "the strategy is Recommend");
  const obstacle = policy.strategy === "Redeploy" ? "the strategy is Redeploy" : inPlaceObstacle(seen, record, pod, changes);
  if (obstacle === undefined) return inPlace(seen, pod);
  // No pod is replaced only because other pods of the app needed more.
  if (policy.strategy === "InPlace" || reason === "LearnedBefore" || leavesTemplate(seen, policy)) {
    return stuck(pod, changes, obstacle);
  }
  return seen.cluster.inPlaceOnly ? stuck(pod, changes, obstacle, "InPlaceOnly") : redeploy(seen, pod, obstacle);
}

const no = (reason: HoldReason, detail: string): MethodChoice => ({ hold: hold(reason, detail) });

function inPlace(seen: ObservedApp, pod: ObservedPod): MethodChoice {
  if (seen.otherAutoscaler?.kind === "HPA" && pod.qos === "Guaranteed") {
    return no(
      "ManagedByAutoscaler",
      `${seen.otherAutoscaler.name} divides by the request, which has to grow in a Guaranteed pod`,
    );
  }
  return { method: "InPlace" };
}

/** Why this pod cannot be resized in place. */
function inPlaceObstacle(seen: ObservedApp, record: AppRecord, pod: ObservedPod, changes: readonly Change[]): string | undefined {
  if (!seen.cluster.inPlace) return "the cluster does not serve pods/resize";
  if (pod.notResizable !== undefined) return pod.notResizable;
  // The kubelet handles the spec of a pod as a whole: while it is infeasible, nothing else in it is applied.
  if (pod.resize.state === "infeasible") return "the pod spec can never fit on the node";
  if (record.actions.some((action) => provedInfeasible(action, pod, changes))) return "the node is too small";
  const able = changes.every(({ container: name }) => {
    const container = containerOf(pod, name);
    return container !== undefined && resizesInPlace(seen, pod, container);
  });
  return able ? undefined : "its containers cannot be resized in their present state";
}

// What did not fit the node does not fit if it is larger, and a pod never moves to another node.
function provedInfeasible(action: Action, pod: ObservedPod, changes: readonly Change[]): boolean {
  if (action.outcome !== "Infeasible" || action.pod.uid !== pod.uid) return false;
  return changes.some(({ container, to }) =>
    action.changes.some((tried) => tried.container === container && tried.to.limit <= to.limit),
  );
}

const leavesTemplate = ({ app, cluster }: ObservedApp, { strategy }: Policy): boolean =>
  strategy === "Auto" && cluster.inPlace && !["Pod", "Job", "Other"].includes(app.kind);

function stuck(
  pod: ObservedPod,
  changes: readonly Change[],
  obstacle: string,
  reason: HoldReason = "InPlaceImpossible",
): MethodChoice {
  const waits = !hasEnded(pod) && changes.some(({ container }) => containerOf(pod, container)?.running === false);
  return waits ? no("NotRunning", "it can be resized in place when it runs again") : no(reason, obstacle);
}

function redeploy(seen: ObservedApp, pod: ObservedPod, obstacle: string): MethodChoice {
  const { kind } = seen.app;
  if (seen.otherAutoscaler?.kind === "HPA")
    return no("ManagedByAutoscaler", `${seen.otherAutoscaler.name} divides by the request of new pods`);
  if (kind === "Job" || kind === "Other") return no("OwnerNotEditable", obstacle);
  if (kind !== "Pod") return byTemplate(seen, obstacle);
  // A bare pod that has ended is not run again.
  if (hasEnded(pod)) return no("NotRunning", "the pod has ended");
  return pod.copyRisk === undefined ? { method: "CopyPod" } : no("CopyUnsafe", `${obstacle}, and ${copyRisks[pod.copyRisk]}`);
}

function byTemplate(seen: ObservedApp, obstacle: string): MethodChoice {
  if (seen.template === undefined) return no("OwnerNotEditable", "its owner was not found");
  // What memhog adds to a rollout that a person holds back reaches nobody, and cannot be told from their own changes.
  if (seen.template.held !== undefined) return no("RolloutInProgress", seen.template.held);
  if (!causesDowntime(seen)) return { method: "Template" };
  return no("WouldCauseDowntime", `${obstacle}, and ${toAvoidDowntime(seen)}`);
}

// When a raise may begin: not too many at the same time (D3), and not too soon after a failure (A1, D5).

const atATime = { inPlace: 3, otherwise: 1, cluster: 10 } as const;
/** The kubelet confirms a resize within seconds. An unconfirmed one must not block others for longer. */
const slotMs = minutes(2);
const circuitMs = minutes(10);
const firstPatienceMs = minutes(5);
const longestPatienceMs = minutes(60);
const firstRolloutPatienceMs = minutes(30);
const longestRolloutPatienceMs = minutes(24 * 60);

export interface Step {
  readonly method: Method;
  readonly pod: ObservedPod;
  readonly changes: readonly Change[];
}

/** Why a raise does not begin now, and for how long, if that is known. */
export interface Postponed {
  readonly hold: Hold;
  readonly forMs?: number;
}

/** The most important reason first. */
export function postponedBy(seen: ObservedApp, record: AppRecord, step: Step): Postponed | undefined {
  return (
    afterRefusal(seen, record, step) ??
    afterBadCopy(seen, record, step) ??
    afterUndoneRollout(seen, record, step) ??
    circuit(seen, record) ??
    busy(seen, record, step)
  );
}

/** The same raise was rejected a short time ago. A raise to another size may be tried at once. */
function afterRefusal(seen: ObservedApp, record: AppRecord, { pod, method, changes }: Step): Postponed | undefined {
  const last = streak(record, (action) => action.pod.uid === pod.uid && action.method === method, "Refused");
  const newest = last[0];
  if (newest === undefined || !sameTarget(newest.changes, changes)) return undefined;
  if (newest.cause === "NoEffect" && last.length === 1) return undefined;
  return during(seen, newest, last.length, hold("Refused", newest.message ?? "the API server rejected it"));
}

function afterBadCopy(seen: ObservedApp, record: AppRecord, { pod, method }: Step): Postponed | undefined {
  if (method !== "CopyPod") return undefined;
  const before = record.actions.findLast((action) => action.pod.uid === pod.uid && action.method === method);
  // Otherwise, a copy that somebody exempts from monitoring would be created again at once.
  if (before?.cause === "Withdrawn") return during(seen, before, 1, hold("ReplacementNotReady", actionCauses.Withdrawn));
  const last = streak(record, (action) => action.pod.uid === pod.uid && action.method === method, "NotReady");
  const newest = last[0];
  return newest && during(seen, newest, last.length, hold("ReplacementNotReady", newest.message ?? "the copy was not Ready"));
}

/** A rollout that was stuck took Ready pods away for minutes, so the same one is tried again much later (D6). */
function afterUndoneRollout(seen: ObservedApp, record: AppRecord, { method, changes }: Step): Postponed | undefined {
  if (method !== "Template") return undefined;
  const last = streak(record, (action) => action.method === method, "NotReady");
  const newest = last[0];
  if (newest === undefined || !sameTarget(newest.changes, changes)) return undefined;
  const forMs = Math.min(firstRolloutPatienceMs * 2 ** (last.length - 1), longestRolloutPatienceMs) - since(seen, newest.atMs);
  return forMs > 0 ? { hold: hold("RolloutUndone", newest.message ?? "the rollout made no progress"), forMs } : undefined;
}

/** The last two redeployments did not become Ready. */
function circuit(seen: ObservedApp, record: AppRecord): Postponed | undefined {
  const redeployed = (action: Action) =>
    action.method !== "InPlace" && (action.outcome === "Applied" || action.outcome === "NotReady");
  const last = streak(record, redeployed, "NotReady");
  const newest = last[0];
  if (newest === undefined || last.length < 2) return undefined;
  const forMs = circuitMs - since(seen, newest.atMs);
  return forMs > 0 ? { hold: hold("CircuitOpen", "two redeployments in a row did not become Ready"), forMs } : undefined;
}

function during(seen: ObservedApp, last: Action, times: number, why: Hold): Postponed | undefined {
  const patience = Math.min(firstPatienceMs * 2 ** (times - 1), longestPatienceMs);
  const forMs = patience - since(seen, last.atMs);
  return forMs > 0 ? { hold: why, forMs } : undefined;
}

/** The latest consecutive actions of this kind with this outcome, newest first. */
export function streak(record: AppRecord, which: (action: Action) => boolean, outcome: Action["outcome"]): readonly Action[] {
  const newestFirst = record.actions.filter(which).toReversed();
  const other = newestFirst.findIndex((action) => action.outcome !== outcome);
  return other === -1 ? newestFirst : newestFirst.slice(0, other);
}

const sameTarget = (a: readonly Change[], b: readonly Change[]): boolean =>
  a.length === b.length && a.every(({ container, to }) => b.some((o) => o.container === container && o.to.limit === to.limit));

/** Raises in progress are those whose limits are not applied yet. Requests that wait for room do not count. */
function busy(seen: ObservedApp, record: AppRecord, { method, pod, changes }: Step): Postponed | undefined {
  const open = record.intents.filter((intent) => !intent.limitsApplied);
  if (open.some((intent) => intent.pod.uid === pod.uid))
    return { hold: hold("ResizeInProgress", "the previous raise is in progress") };
  const noSlot = whyNoSlot(seen, record);
  if (noSlot !== undefined) return tooMany(noSlot);
  if (open.some((intent) => intent.method !== "InPlace")) return tooMany("a redeployment of this app");
  if (open.length >= (method === "InPlace" ? atATime.inPlace : atATime.otherwise))
    return tooMany(`${open.length} raises of this app`);
  if (method !== "InPlace" || !changes.some(({ container }) => containerOf(pod, container)?.restartsOnResize)) return undefined;
  return mayRestart(seen, pod, open) ? undefined : tooMany("restarts of this app: one pod at a time, while the others are Ready");
}

// The slots of the cluster are shared by namespace (T2). A namespace with no raise in progress always gets one, even if all are taken,
// so no namespace can block another. Otherwise each gets an equal share of the ten: all of them alone, 5 next to one other namespace,
// 3 next to two.
function whyNoSlot(seen: ObservedApp, record: AppRecord): string | undefined {
  const { namespace, cluster, otherNamespaces } = seen.underWayElsewhere;
  const own = record.intents.filter((intent) => takesSlot(seen, intent)).length;
  const here = namespace + own;
  if (here === 0) return undefined;
  if (cluster + own >= atATime.cluster) return `${atATime.cluster} raises in the cluster`;
  const share = Math.max(1, Math.floor(atATime.cluster / (otherNamespaces + 1)));
  return here >= share ? `${here} raises in the namespace, its share of the cluster's ${atATime.cluster}` : undefined;
}

/** Whether this raise takes a slot. One that is paused or waits does not. */
export function takesSlot(seen: ObservedApp, intent: Intent): boolean {
  return isUnderWay(intent, seen.nowMs) && !isFrozen(seen, intent);
}

/** The part of `takesSlot` that needs only the intent. A time in the future is forged, or the clock was set back. */
export function isUnderWay(
  intent: Pick<Intent, "limitsApplied" | "atMs"> & { readonly waiting?: object },
  nowMs: number,
): boolean {
  return !intent.limitsApplied && !intent.waiting && Math.abs(nowMs - intent.atMs) < slotMs;
}

const tooMany = (what: string): Postponed => ({ hold: hold("Busy", `already in progress: ${what}`) });

// PodDisruptionBudgets do not cover resizePolicy RestartContainer, so it is treated as a disruption here.
function mayRestart(seen: ObservedApp, pod: ObservedPod, open: readonly Intent[]): boolean {
  const others = seen.pods.filter((other) => other.uid !== pod.uid && live(other));
  return open.length === 0 && others.every((other) => other.ready);
}
