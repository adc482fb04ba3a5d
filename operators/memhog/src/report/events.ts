// Events on the pod, its app and the AppMonitor. They are computed from the difference between the stored record and the new plan,
// so a steady state emits none (E1). An Event lost in a crash is not repeated; the AppMemory still has the action.
//
// A message contains names, amounts and fixed text, never other content of an object (S4).
import { type EventInput, type Kind, type KubernetesObject, Pod, type Stored } from "@memhog/runtime";
import { AppMonitor } from "../api/app-monitor.ts";
import { templatedKind } from "../execute/templates.ts";
import { quantityText } from "../model/bytes.ts";
import type { ObservedApp } from "../model/observed-app.ts";
import type { Action, AppRecord, Change, Intent, Memory, Plan, Shrink } from "../model/plan.ts";
import { holdReasons, raiseReasons, shrinkReasons } from "../model/reasons.ts";

/** An Event and the pod it is about; without a pod, it is about the whole app. */
export interface AppEvent {
  readonly pod?: { readonly name: string; readonly uid: string };
  readonly event: EventInput & { readonly reason: EventReason };
}

export interface Before {
  readonly record: AppRecord;
  /** AppMemory.status.reason before the pass. */
  readonly reason: string | undefined;
}

export function newEvents(before: Before, plan: Plan): readonly AppEvent[] {
  return [
    ...kills(before.record, plan),
    ...raises(before.record, plan),
    ...newShrinks(before.record, plan.record).flatMap(shrinkEvents),
    ...stops(before.record, plan),
    ...holds(before, plan),
  ];
}

/** Shrinks whose state has changed. */
export function newShrinks(before: AppRecord, { shrinks }: AppRecord): readonly Shrink[] {
  const isKnown = ({ pod, container, state, atMs }: Shrink) =>
    before.shrinks.some(
      (known) => known.pod.uid === pod.uid && known.container === container && known.state === state && known.atMs === atMs,
    );
  return shrinks.filter((shrink) => !isKnown(shrink));
}

function shrinkEvents({ pod, container, from, to, state }: Shrink): readonly AppEvent[] {
  const what = changeText({ container, from, to });
  if (state === "Applied") return [normal("MemoryLowered", `${what}, in place (ShrinkDue: ${shrinkReasons.ShrinkDue})`, pod)];
  if (state === "Undone") return [warning("ShrinkUndone", `${what}: ${shrinkReasons.ShrinkUndone}`, pod)];
  return state === "Refused" ? [warning("ShrinkRefused", `${what}: the API server rejected it`, pod)] : [];
}

function kills({ kills: known }: AppRecord, { record, verdicts }: Plan): readonly AppEvent[] {
  const isNew = ({ uid, container, restart }: (typeof known)[number]) =>
    !known.some((kill) => kill.uid === uid && kill.container === container && kill.restart >= restart);
  return record.kills.filter(isNew).flatMap(({ uid, container }) => {
    const pod = verdicts.find((verdict) => verdict.pod.uid === uid)?.pod;
    const text = `${container} was OOM-killed; ${record.oomKills} OOM kills of this app so far`;
    return pod === undefined ? [] : [warning("OutOfMemoryKilled", text, pod)];
  });
}

function raises(before: AppRecord, { record, settled }: Plan): readonly AppEvent[] {
  const was = (intent: Intent) => before.intents.find(({ id }) => id === intent.id);
  const open = record.intents.flatMap((intent) => progress(was(intent), intent));
  return [...open, ...settled.flatMap(({ intent, outcome, message }) => ending(was(intent), intent, outcome, message))];
}

function progress(was: Intent | undefined, intent: Intent): readonly AppEvent[] {
  const { pod, limitsApplied, waiting } = intent;
  const capped = was === undefined ? intent.changes.filter(({ cappedBy }) => cappedBy !== undefined) : [];
  const deferred = waiting?.reason === "ResizeDeferred" && was?.waiting?.reason !== waiting.reason;
  return [
    ...capped.map((change) => warning("RaiseCapped", `${changeText(change)}: ${change.cappedBy} allows no more`, pod)),
    ...(limitsApplied && !was?.limitsApplied ? [raised(intent)] : []),
    ...(deferred
      ? [warning("RaiseDeferred", `${changesText(intent)} is deferred: the node does not have enough free memory`, pod)]
      : []),
  ];
}

function ending(was: Intent | undefined, intent: Intent, outcome: Action["outcome"], message = ""): readonly AppEvent[] {
  const { pod } = intent;
  const what = `${changesText(intent)}: ${message}`;
  switch (outcome) {
    case "Applied":
      return was?.limitsApplied ? [] : [raised(intent)];
    case "Infeasible":
      return [warning("RaiseInfeasible", what, pod)];
    case "Refused":
      return [warning("RaiseRefused", what, pod)];
    case "NotReady":
      return [warning(intent.waiting?.reason === "RollingBack" ? "RolloutUndone" : "ReplacementNotReady", what, pod)];
    case "Abandoned":
      return [normal("RaiseAbandoned", what, pod)];
  }
}

function raised(intent: Intent): AppEvent {
  const why = `${intent.reason}: ${raiseReasons[intent.reason]}`;
  if (intent.method === "CopyPod")
    return normal(
      "PodReplaced",
      `${intent.pod.name} was replaced by ${intent.copy}: ${changesText(intent)} (${why})`,
      intent.pod,
    );
  const how = intent.method === "InPlace" ? "in place" : "by a rollout";
  return normal("MemoryRaised", `${changesText(intent)}, ${how} (${why})`, intent.pod);
}

const stopReasons = {
  SuspectedLeak: "LeakSuspected",
  UsageFollowsLimit: "UsageFollowsLimit",
  RaisesIneffective: "RaisesIneffective",
  Contested: "Contested",
} as const;

function stops(before: AppRecord, { record, verdicts }: Plan): readonly AppEvent[] {
  const isNew = ({ reason, uid, container, atMs }: AppRecord["stops"][number]) =>
    !before.stops.some(
      (stop) => stop.reason === reason && stop.uid === uid && stop.container === container && stop.atMs === atMs,
    );
  return record.stops.filter(isNew).map(({ reason, uid, container }) => {
    const about = verdicts.find(
      (verdict) =>
        (uid ?? verdict.pod.uid) === verdict.pod.uid && verdict.container === container && verdict.decision.reason === reason,
    );
    const pod = verdicts.find((verdict) => verdict.pod.uid === uid)?.pod;
    const why = about === undefined ? holdReasons[reason] : `${about.container}: ${about.decision.detail}`;
    const message = `${why}; no more raises until the AppMonitor is edited`;
    return warning(stopReasons[reason], message, pod);
  });
}

/** Hold reasons that a user can act on. */
const reportedHolds: Readonly<Record<string, EventReason>> = {
  AmbiguousMonitor: "AmbiguousMonitor",
  CapReached: "CapReached",
  OutOfMemoryAtCap: "OutOfMemoryAtCap",
  NodeUnderPressure: "NodeUnderPressure",
  ManagedByAutoscaler: "ManagedByAutoscaler",
  InPlaceImpossible: "InPlaceImpossible",
  InPlaceOnly: "InPlaceOnly",
  OwnerNotEditable: "OwnerNotEditable",
  WouldCauseDowntime: "WouldCauseDowntime",
  CopyUnsafe: "CopyUnsafe",
  CircuitOpen: "CircuitOpen",
  RecommendOnly: "RaiseRecommended",
};

function holds(before: Before, { summary, verdicts }: Plan): readonly AppEvent[] {
  const reason = reportedHolds[summary.reason];
  if (reason === undefined || before.reason === summary.reason) return [];
  const held = verdicts.find(({ decision }) => decision.reason === summary.reason);
  const message = held === undefined ? summary.message : `${held.container}: ${held.decision.detail}`;
  return [reason === "RaiseRecommended" ? normal(reason, message, held?.pod) : warning(reason, message, held?.pod)];
}

/** "main 256Mi/384Mi → 512Mi/768Mi" */
function changeText({ container, from, to }: Change): string {
  return `${container} ${memoryText(from)} → ${memoryText(to)}`;
}

const changesText = ({ changes }: Intent) => changes.map(changeText).join(", ");

function memoryText({ limit, request }: Memory): string {
  return request === undefined ? quantityText(limit) : `${quantityText(request)}/${quantityText(limit)}`;
}

function normal(reason: EventReason, message: string, pod?: AppEvent["pod"], type: EventInput["type"] = "Normal"): AppEvent {
  // The API server accepts at most 1 kB.
  return { event: { type, reason, message: message.slice(0, 1000), action: "Raise" }, ...(pod !== undefined && { pod }) };
}

function warning(reason: EventReason, message: string, pod?: AppEvent["pod"]): AppEvent {
  return normal(reason, message, pod, "Warning");
}

/** The part of the reconcile context that records Events. */
export interface EventRecorder {
  eventOn<T extends KubernetesObject>(kind: Kind<T>, object: Stored<T>, event: EventInput): void;
}

/** Records each Event on every object it concerns. If the pod is gone, the Event goes to the copy that replaced it. */
export function recordEvents(recorder: EventRecorder, seen: ObservedApp, events: readonly AppEvent[]): void {
  for (const { pod, event } of events) {
    const message = pod === undefined ? event.message : `${pod.name}: ${event.message}`;
    const found = seen.pods.find(({ uid }) => uid === pod?.uid) ?? seen.pods.find(({ copyOf }) => copyOf === pod?.uid && pod);
    if (found !== undefined) recorder.eventOn(Pod, named(seen, found), event);
    const kind = templatedKind(seen.app.kind);
    if (kind !== undefined && seen.template !== undefined)
      recorder.eventOn(kind, named(seen, { ...seen.template, name: seen.app.name }), { ...event, message });
    for (const policy of seen.policies) recorder.eventOn(AppMonitor, named(seen, policy), { ...event, message });
  }
}

interface Named {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion?: string;
}

/** The part of an object that an Event refers to. */
function named<T extends KubernetesObject>({ app }: ObservedApp, { name, uid, resourceVersion = "" }: Named): Stored<T> {
  return { metadata: { namespace: app.namespace, name, uid, resourceVersion } } as Stored<T>;
}

/** Event reasons are public API: users write alerts on them. docs/reference/events.md is generated from this table. */
export const eventReasons = {
  MemoryRaised: "the kubelet confirmed a container's new memory limit",
  PodReplaced: "a bare pod was replaced by a larger copy",
  MemoryLowered: "memory that a container did not use was taken back (spec.shrink)",
  ShrinkUndone: "a container needed more than it was lowered to; it is not lowered again",
  ShrinkRefused: "the API server rejected a decrease; it is tried again after a day",
  RaiseCapped: "a cap reduced a raise; the message names the cap",
  RaiseDeferred: "the node does not have enough free memory for a raise at the moment",
  RaiseInfeasible: "a raise does not fit on the node",
  RaiseRefused: "the API server rejected a raise; the message contains its reason",
  RaiseAbandoned: "a raise was abandoned because its pod or owner is gone",
  RaiseRecommended: "the strategy is Recommend; the message contains the raise that was not applied",
  ReplacementNotReady: "the replacement of a pod did not become Ready; the pod was kept",
  RolloutUndone: "a rollout by memhog made no progress; the memory in the pod template was set back to what it was",
  OutOfMemoryKilled: "a container was OOM-killed",
  LeakSuspected: "a container keeps growing over several raises, or was raised too often; memhog stopped raising it",
  UsageFollowsLimit: "a program sizes itself by its limit; memhog stopped raising it",
  NodeUnderPressure: "a raise is held because the node reports MemoryPressure",
  RaisesIneffective: "a container was OOM-killed repeatedly despite raises; memhog stopped raising it",
  Contested: "another writer reverted raises twice; memhog stopped raising the app",
  AmbiguousMonitor: "several equally specific AppMonitors select the app, so none of them acts",
  CapReached: "a container needs more memory than a cap allows",
  OutOfMemoryAtCap: "a container was OOM-killed, and a cap allows no more memory; the message names the cap",
  ManagedByAutoscaler: "another autoscaler manages the memory of the app",
  InPlaceImpossible: "the pod cannot be resized in place, and the strategy does not allow to redeploy it",
  InPlaceOnly: "the pod would have to be replaced, but memhog runs with --in-place-only",
  OwnerNotEditable: "the pod cannot be resized in place, and memhog does not edit its owner",
  WouldCauseDowntime: "redeploying would remove every Ready pod before a new one is Ready; the message says what to do",
  CopyUnsafe: "the pod cannot be resized in place, and a copy must not run next to it; the message says why",
  CircuitOpen: "recent raises made things worse; memhog pauses raises for a while",
} as const;

export type EventReason = keyof typeof eventReasons;
