// What is worth telling people: on the pod, on its app, and on the AppMonitor in charge. Only changes are: it is computed from the
// record before and the plan after, and a settled world says nothing, however often it is looked at (promise E1). An Event that
// was lost in a crash stays lost; the record has it, and Events are courtesy.
//
// A note says names, amounts and our own sentences, never what is inside of an object (promise S4).
import { type Kind, type KubernetesObject, Pod, type Remark, type Stored } from "@memhog/runtime";
import { templatedKind } from "../act/template-kinds.ts";
import { AppMonitor } from "../api/app-monitor.ts";
import { quantityText } from "../model/bytes.ts";
import type { Plan } from "../model/plan.ts";
import { holdReasons, raiseReasons } from "../model/reasons.ts";
import type { Action, AppRecord, Change, Intent, Memory } from "../model/record.ts";
import type { AppSeen } from "../model/seen.ts";
import type { EventReason } from "./event-reasons.ts";

/** Something to tell, and the pod it is about; none: the whole app. */
export interface Told {
  readonly pod?: { readonly name: string; readonly uid: string };
  readonly remark: Remark & { readonly reason: EventReason };
}

export interface Before {
  readonly record: AppRecord;
  /** AppMemory.status.reason: why it was where it was. */
  readonly reason: string | undefined;
}

/** Everything that is new. */
export function news(before: Before, plan: Plan): readonly Told[] {
  return [...kills(before.record, plan), ...raises(before.record, plan), ...stops(before.record, plan), ...holds(before, plan)];
}

function kills({ kills: known }: AppRecord, { record, verdicts }: Plan): readonly Told[] {
  const isNew = ({ uid, container, restart }: (typeof known)[number]) =>
    !known.some((kill) => kill.uid === uid && kill.container === container && kill.restart >= restart);
  return record.kills.filter(isNew).flatMap(({ uid, container }) => {
    const pod = verdicts.find((verdict) => verdict.pod.uid === uid)?.pod;
    return pod === undefined ? [] : [warn("OutOfMemoryKilled", `${container} was killed for lack of memory`, pod)];
  });
}

function raises(before: AppRecord, { record, settled }: Plan): readonly Told[] {
  const was = (intent: Intent) => before.intents.find(({ id }) => id === intent.id);
  const open = record.intents.flatMap((intent) => progress(was(intent), intent));
  return [...open, ...settled.flatMap(({ intent, outcome, detail }) => ending(was(intent), intent, outcome, detail))];
}

function progress(was: Intent | undefined, intent: Intent): readonly Told[] {
  const { pod, limitsApplied, waitingFor } = intent;
  const capped = was === undefined ? intent.changes.filter(({ cappedBy }) => cappedBy !== undefined) : [];
  const deferred = waitingFor === "Deferred" && was?.waitingFor !== waitingFor;
  return [
    ...capped.map((change) => warn("RaiseCapped", `${changeText(change)}: ${change.cappedBy} allows no more`, pod)),
    ...(limitsApplied && !was?.limitsApplied ? [raised(intent)] : []),
    ...(deferred ? [warn("RaiseDeferred", `${changesText(intent)} waits: the node has no room for it now`, pod)] : []),
  ];
}

function ending(was: Intent | undefined, intent: Intent, outcome: Action["outcome"], detail = ""): readonly Told[] {
  const { pod } = intent;
  const what = `${changesText(intent)}: ${detail}`;
  switch (outcome) {
    case "Applied":
      return was?.limitsApplied ? [] : [raised(intent)];
    case "Infeasible":
      return [warn("RaiseInfeasible", what, pod)];
    case "Refused":
      return [warn("RaiseRefused", what, pod)];
    case "NotReady":
      return [warn("ReplacementNotReady", what, pod)];
    case "Abandoned":
      return [say("RaiseAbandoned", what, pod)];
  }
}

function raised(intent: Intent): Told {
  const why = `${intent.reason}: ${raiseReasons[intent.reason]}`;
  if (intent.road === "CopyPod")
    return say("PodReplaced", `${intent.pod.name} was replaced by ${intent.copy}: ${changesText(intent)} (${why})`, intent.pod);
  const how = intent.road === "InPlace" ? "in place" : "by its template";
  return say("MemoryRaised", `${changesText(intent)}, ${how} (${why})`, intent.pod);
}

const stopReasons = { SuspectedLeak: "LeakSuspected", RaisesFutile: "RaisesFutile", Contested: "Contested" } as const;

function stops(before: AppRecord, { record, verdicts }: Plan): readonly Told[] {
  const isNew = ({ reason, uid, atMs }: AppRecord["stops"][number]) =>
    !before.stops.some((stop) => stop.reason === reason && stop.uid === uid && stop.atMs === atMs);
  return record.stops.filter(isNew).map(({ reason, uid }) => {
    const pod = verdicts.find((verdict) => verdict.pod.uid === uid)?.pod;
    const note = `${holdReasons[reason]}; left alone until the AppMonitor is edited`;
    return warn(stopReasons[reason], note, pod);
  });
}

/** Why nothing is done, where a person could do something about it. */
const worthTelling: Readonly<Record<string, EventReason>> = {
  AmbiguousMonitor: "AmbiguousMonitor",
  AtCeiling: "AtCeiling",
  AnotherAutoscaler: "AnotherAutoscaler",
  InPlaceImpossible: "InPlaceImpossible",
  OwnerNotEditable: "OwnerNotEditable",
  WouldCauseDowntime: "WouldCauseDowntime",
  CircuitOpen: "CircuitOpen",
  RecommendOnly: "RaiseRecommended",
};

function holds(before: Before, { summary, verdicts }: Plan): readonly Told[] {
  const reason = worthTelling[summary.reason];
  if (reason === undefined || before.reason === summary.reason) return [];
  const held = verdicts.find(({ decision }) => decision.reason === summary.reason);
  const note = held === undefined ? summary.message : `${held.container}: ${held.decision.detail}`;
  return [reason === "RaiseRecommended" ? say(reason, note, held?.pod) : warn(reason, note, held?.pod)];
}

/** "main 256Mi/384Mi → 512Mi/768Mi" */
function changeText({ container, from, to }: Change): string {
  return `${container} ${memoryText(from)} → ${memoryText(to)}`;
}

const changesText = ({ changes }: Intent) => changes.map(changeText).join(", ");

function memoryText({ limit, request }: Memory): string {
  return request === undefined ? quantityText(limit) : `${quantityText(request)}/${quantityText(limit)}`;
}

function say(reason: EventReason, note: string, pod?: Told["pod"], type: Remark["type"] = "Normal"): Told {
  // The server takes 1 kB.
  return { remark: { type, reason, note: note.slice(0, 1000), action: "Raise" }, ...(pod !== undefined && { pod }) };
}

function warn(reason: EventReason, note: string, pod?: Told["pod"]): Told {
  return say(reason, note, pod, "Warning");
}

/** What is needed of a reconciler's context. */
export interface Teller {
  eventOn<T extends KubernetesObject>(kind: Kind<T>, object: Stored<T>, remark: Remark): void;
}

/** Tells it on every object it concerns. A pod that is gone is spoken for by the copy that took its place. */
export function tell(teller: Teller, seen: AppSeen, told: readonly Told[]): void {
  for (const { pod, remark } of told) {
    const note = pod === undefined ? remark.note : `${pod.name}: ${remark.note}`;
    const found = seen.pods.find(({ uid }) => uid === pod?.uid) ?? seen.pods.find(({ copyOf }) => copyOf === pod?.uid && pod);
    if (found !== undefined) teller.eventOn(Pod, named(seen, found), remark);
    const kind = templatedKind(seen.app.kind);
    if (kind !== undefined && seen.template !== undefined)
      teller.eventOn(kind, named(seen, { ...seen.template, name: seen.app.name }), { ...remark, note });
    for (const policy of seen.policies) teller.eventOn(AppMonitor, named(seen, policy), { ...remark, note });
  }
}

interface Named {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion?: string;
}

/** As much of an object as an Event needs. */
function named<T extends KubernetesObject>({ app }: AppSeen, { name, uid, resourceVersion = "" }: Named): Stored<T> {
  return { metadata: { namespace: app.namespace, name, uid, resourceVersion } } as Stored<T>;
}
