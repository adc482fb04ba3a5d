// Methods CopyPod and Template: pods are replaced by larger ones.
//
// CopyPod is for bare pods: memhog creates a larger copy, and deletes the original only when the copy is Ready. The UID of the copy is
// recorded as soon as it is created, and no other pod is taken for it. After a crash before that, its name and its spec identify it
// (execute/pods.ts): never two copies, never none (C4, D2, T2).
//
//   original   copy            →
//   exists     none            create the copy
//   exists     not Ready yet   wait; after five minutes record that it is given up, then delete it
//   exists     Ready           delete the original
//   gone       Ready           Applied
//   gone       not Ready       wait, and never delete the only pod
//   gone       none            Abandoned
//
// If the raise is no longer asked for (no AppMonitor or several, strategy Recommend, a pod that is not monitored any more), the copy goes
// and the original stays, so that there are never two for long (D6):
//
//   original                     copy        →
//   exists                       any         record that the copy is withdrawn, then delete it
//   not Ready, but monitored     Ready       delete the original: the copy serves
//   gone or ended                any         the copy stays
import { dnsSubdomain } from "@memhog/runtime/objects";
import { bytes, larger } from "../model/bytes.ts";
import {
  type AppKind,
  type CopyRisk,
  containerOf,
  copyFor,
  live,
  type ObservedApp,
  type ObservedPod,
  type ObservedTemplate,
  podOf,
} from "../model/observed-app.ts";
import type { Change, Command, Intent, Memory } from "../model/plan.ts";
import { actionCauses } from "../model/reasons.ts";
import type { PodRaise } from "./intents.ts";
import {
  ended,
  endedRefused,
  endedWithoutEffect,
  goingOn,
  isRefused,
  limitsOf,
  minutes,
  type Progress,
  policyInCharge,
  since,
  sinceMade,
  takenUpWithinMs,
  waiting,
} from "./progress.ts";

/** For people: why no copy is created. Two writers can corrupt a volume, and a migration would run twice (D6). */
export const copyRisks: Readonly<Record<CopyRisk, string>> = {
  WritesVolume: "it writes to a volume that a copy would write to at the same time",
  RunsOnce: "its restartPolicy is not Always: a copy would do its work a second time",
};

/** How long a copy may take to become Ready. */
export const copyPatienceMs = minutes(5);
const isGivenUp = ({ waiting: why }: Intent): boolean => why?.reason === "CopyGivenUp";
const isWithdrawn = ({ waiting: why }: Intent): boolean => why?.reason === "CopyWithdrawn";

export function copyProgress(seen: ObservedApp, intent: Intent): Progress {
  const original = podOf(seen, intent.pod.uid);
  const copy = copyFor(seen, intent);
  if (original === undefined)
    return copy === undefined ? ended(intent, "Abandoned", "the pod is gone") : alone(seen, intent, copy);
  if (copy === undefined) return withoutCopy(seen, intent, original);
  if (isWithdrawn(intent)) return withdrawing(intent, original, copy);
  // It became Ready after all. Its deletion carries its resourceVersion, so it is either gone or stays.
  if (isGivenUp(intent) && copy.ready && !copy.deleting) return replacing(intent, original);
  if (isGivenUp(intent)) return givingUp(intent, copy);
  if (isRefused(intent)) return tryAgainLater(seen, intent);
  if (copy.deleting) return waiting(intent, "CopyTerminating");
  if (copy.ready) return replacing(intent, original);
  return copyAge(seen, intent, copy) < copyPatienceMs ? waiting(intent, "CopyNotReady") : givingUp(intent, copy);
}

/** At most the age of the intent, which is measured by memhog's own clock: the clock of the API server may differ. */
export const copyAge = (seen: ObservedApp, intent: Intent, copy: ObservedPod): number =>
  Math.min(sinceMade(seen, intent, copy), since(seen, intent.atMs));

function alone(seen: ObservedApp, intent: Intent, copy: ObservedPod): Progress {
  if (copy.ready) return ended(intent, "Applied", `replaced by ${copy.name}`);
  if (!live(copy)) return ended(intent, "Abandoned", "the pod and its copy are gone");
  return copyAge(seen, intent, copy) < copyPatienceMs
    ? waiting(intent, "CopyNotReady")
    : ended(intent, "NotReady", "the original is gone, and its copy is not Ready");
}

/** The end of a raise that is no longer asked for. Undefined while there is no copy. */
export function withdrawnCopy(seen: ObservedApp, intent: Intent): Progress | undefined {
  const original = podOf(seen, intent.pod.uid);
  const copy = copyFor(seen, intent) ?? unrecordedCopy(seen, intent);
  if (copy === undefined) return isWithdrawn(intent) ? copyProgress(seen, intent) : undefined;
  if (original === undefined) return alone(seen, intent, copy);
  return withdrawing(intent, original, copy);
}

/** Created just before a crash. Its label can be forged, so execute/pods.ts compares its spec before it is deleted (T2). */
const unrecordedCopy = ({ pods }: ObservedApp, { copy, pod }: Intent): ObservedPod | undefined =>
  pods.find((one) => one.name === copy && one.copyOf === pod.uid);

function withdrawing(intent: Intent, original: ObservedPod, copy: ObservedPod): Progress {
  if (original.deleting) return { intent, open: true };
  if (!live(original)) return ended(intent, "Abandoned", "the pod has ended; its copy stays");
  const serves = copy.ready && copy.monitored && !copy.deleting;
  if (serves && !original.ready && original.monitored) return replacing(intent, original);
  const told = waiting(intent, "CopyWithdrawn");
  if (copy.deleting) return told;
  return { ...told, command: { do: "deletePod", intent: told.intent, name: copy.name, uid: copy.uid, why: "Withdrawn" } };
}

function withoutCopy(seen: ObservedApp, intent: Intent, original: ObservedPod): Progress {
  if (isWithdrawn(intent)) return ended(intent, "Abandoned", actionCauses.Withdrawn, "Withdrawn");
  if (isGivenUp(intent)) return ended(intent, "NotReady", "the copy did not become Ready; the original stays");
  if (!live(original)) return ended(intent, "Abandoned", "the pod is gone");
  if (isRefused(intent)) return endedRefused(intent);
  // Decided by an earlier version, or forged.
  if (original.copyRisk !== undefined) return ended(intent, "Abandoned", copyRisks[original.copyRisk]);
  if (since(seen, intent.atMs) >= takenUpWithinMs) return endedWithoutEffect(intent);
  const fresh = goingOn(intent);
  return { ...fresh, command: { do: "createCopy", intent: fresh.intent, copy: intent.copy ?? original.name } };
}

// Recorded before the copy is deleted: otherwise one pass could count a copy that has just become Ready as a success while the
// command of another deletes it.
function givingUp(intent: Intent, copy: ObservedPod): Progress {
  const told = waiting(intent, "CopyGivenUp");
  if (copy.deleting) return told;
  return { ...told, command: { do: "deletePod", intent: told.intent, name: copy.name, uid: copy.uid, why: "NotReady" } };
}

function replacing(intent: Intent, original: ObservedPod): Progress {
  const told = waiting(intent, "OriginalTerminating");
  if (original.deleting) return told;
  return { ...told, command: { do: "deletePod", intent: told.intent, name: original.name, uid: original.uid, why: "Replaced" } };
}

// The copy exists, but memhog was not allowed to delete the original. It retries with back-off, since permissions may change.
function tryAgainLater(seen: ObservedApp, intent: Intent): Progress {
  const patience = minutes(5) * 2 ** Math.min(intent.attempt - 1, 4);
  if (since(seen, intent.atMs) < patience) return { intent, open: true };
  const { waiting: _, ...again } = { ...intent, attempt: Math.min(intent.attempt + 1, 1000) };
  return copyProgress(seen, again);
}

/** `<app>-autoscaled`, `<app>-autoscaled-2`, …: one after the highest number. @param skip How many names turned out to be taken */
export function copyName(seen: ObservedApp, skip: number): string {
  const taken = new Set(seen.pods.map((pod) => pod.name));
  let number = Math.max(0, ...seen.pods.map((pod) => numberOf(pod.name, seen.app.name))) + 1 + skip;
  // Very long names are shortened and lose their number.
  while (taken.has(nameOf(seen.app.name, number))) number++;
  return nameOf(seen.app.name, number);
}

const nameOf = (app: string, number: number): string =>
  dnsSubdomain(number === 1 ? `${app}-autoscaled` : `${app}-autoscaled-${number}`);

function numberOf(name: string, app: string): number {
  const base = `${app}-autoscaled`;
  if (name === base) return 1;
  const digits = name.startsWith(`${base}-`) ? name.slice(base.length + 1) : "";
  return /^\d{1,6}$/.test(digits) ? Number(digits) : 0;
}

// Template is for owned pods: the pod template of the owner gets the memory, and the controller of the owner replaces the pods. Where
// none does (a ReplicaSet, or updateStrategy OnDelete), memhog evicts the pods of the old size one by one. For a CronJob the template
// is enough: the next run uses it.

/** How long the replacement of an evicted pod may take to become Ready. */
const replacementPatienceMs = minutes(5);

export function templateProgress(seen: ObservedApp, intent: Intent): Progress {
  const template = seen.template;
  // The id begins with the UID of the owner: one that was deleted and created again under the same name is another one (W4).
  if (template === undefined || !intent.id.startsWith(`${template.uid}/`)) return ended(intent, "Abandoned", "the owner is gone");
  const changes = intent.changes.filter((change) => template.containers.some(({ name }) => name === change.container));
  if (changes.length === 0) return ended(intent, "Abandoned", "its containers are no longer in the template");
  if (isRefused(intent)) return endedRefused(intent);
  if (isRollingBack(intent)) return rollingBack(seen, template, { ...intent, changes });
  const missing = changes.filter((change) => !asksFor(template, change));
  if (missing.length === 0) return { given: limitsOf(template.uid, changes), ...rollout(seen, template, intent) };
  if (missing.some((change) => wasGiven(seen, template, change)))
    return ended(intent, "Abandoned", "somebody edited the template");
  // No pod was Ready when it was decided, but one is now (D2).
  if (causesDowntime(seen)) return ended(intent, "Abandoned", toAvoidDowntime(seen));
  if (since(seen, intent.atMs) >= takenUpWithinMs) return endedWithoutEffect(intent);
  const fresh = goingOn(intent);
  return { ...fresh, command: patch(fresh.intent, template, missing) };
}

/** The template already has it. */
function asksFor(template: ObservedTemplate, change: Change): boolean {
  const container = template.containers.find(({ name }) => name === change.container);
  return (container?.limit ?? 0) >= change.to.limit && (container?.request ?? 0) >= (change.to.request ?? 0);
}

/** The template had it before. A lower limit also counts as a revert (settle.ts). */
const wasGiven = ({ record }: ObservedApp, { uid }: ObservedTemplate, { container, to }: Change): boolean =>
  record.given.some((given) => given.uid === uid && given.container === container && given.limit === to.limit);

function patch(intent: Intent, template: ObservedTemplate, changes: readonly Change[]): Command {
  return { do: "patchTemplate", intent, resourceVersion: template.resourceVersion, changes };
}

function rollout(seen: ObservedApp, template: ObservedTemplate, intent: Intent): Progress {
  if (seen.app.kind === "CronJob") return ended(intent, "Applied", "the next run starts with it");
  if (template.replacesPods && template.rolledOut) return ended(intent, "Applied", "rolled out");
  const why = whyStuck(seen, template, intent);
  if (why !== undefined) return undoing(seen, template, intent, why);
  return template.replacesPods ? waiting(intent, "RolloutInProgress") : oneByOne(seen, template, intent);
}

function oneByOne(seen: ObservedApp, template: ObservedTemplate, intent: Intent): Progress {
  const pods = seen.pods.filter(live);
  const old = pods.filter((pod) => tooSmall(pod, intent.changes));
  const replaced = pods.filter((pod) => !old.includes(pod));
  const unready = replaced.filter((pod) => !pod.ready);
  if (unready.some((pod) => sinceMade(seen, intent, pod) >= replacementPatienceMs)) {
    return undoing(seen, template, intent, "a pod of the new size does not become Ready");
  }
  const settling = unready.length > 0 || pods.length < template.replicas || seen.pods.some((pod) => pod.deleting);
  if (settling) return waiting(intent, "PodsNotReady");
  if (old.length === 0) return ended(intent, "Applied", "every pod was replaced");
  return evictNext(pods, old, intent);
}

// A pod that is not Ready may be evicted at once: its size may be the cause. Otherwise all other pods must be Ready, and there must be
// others: the only replica is never evicted (D2).
function evictNext(pods: readonly ObservedPod[], old: readonly ObservedPod[], intent: Intent): Progress {
  const broken = old.find((pod) => !pod.ready);
  if (broken !== undefined) return evict(broken, intent);
  const next = old[0];
  if (next === undefined || pods.length < 2) return waiting(intent, "OnlyReplica");
  return evict(next, intent);
}

function evict(pod: ObservedPod, intent: Intent): Progress {
  const fresh = goingOn(intent);
  if (!pod.monitored) return waiting(intent, "NotMonitored");
  return {
    ...fresh,
    command: { do: "evict", intent: fresh.intent, name: pod.name, uid: pod.uid, resourceVersion: pod.resourceVersion },
  };
}

const tooSmall = (pod: ObservedPod, changes: readonly Change[]): boolean =>
  changes.some((change) => (containerOf(pod, change.container)?.limit ?? change.to.limit) < change.to.limit);

// A rollout that is stuck is undone (D6): new pods exceed a quota, fit on no node, crash, or never become Ready. The old pods that it
// removed are missing until then.
//
//   the controller says so (ProgressDeadlineExceeded)                                   at once
//   pods cannot be created, or are missing, and nothing changes for                     2 minutes
//   no new pod is created, and none becomes Ready, for     progressDeadlineSeconds; 10 minutes by default
//
// The times are measured by the monotonic clock of this process: a wall clock that steps must not undo a healthy rollout (M5). After a
// restart they start again. While pods terminate, or a person holds the rollout back, nothing is undone.
//
// First the intent is stored as RollingBack, with what the template was given before, so that its restoration is not taken for a revert
// by another client. Then the memory in the template is set back, unless a person changed it meanwhile. A StatefulSet keeps a broken pod
// even then, and a ReplicaSet keeps every pod, so memhog evicts those of the new size that are not Ready.

const refusedPatienceMs = minutes(2);

export const isRollingBack = ({ waiting: why }: Intent): boolean => why?.reason === "RollingBack";

function whyStuck(seen: ObservedApp, template: ObservedTemplate, intent: Intent): string | undefined {
  if (template.held !== undefined) return undefined;
  if (template.stalled !== undefined) return template.stalled;
  if (seen.pods.some((pod) => pod.deleting)) return undefined;
  const unchangedMs = seen.rolloutUnchangedMs.get(intent.id) ?? 0;
  if (unchangedMs >= refusedPatienceMs && lacksPods(seen, template)) return template.failing ?? "pods are missing";
  const isLate = template.replacesPods && unchangedMs >= template.deadlineMs;
  return isLate ? `no pod became Ready for ${Math.round(template.deadlineMs / 60_000)} minutes` : undefined;
}

const lacksPods = ({ pods }: ObservedApp, { failing, replicas }: ObservedTemplate): boolean =>
  failing !== undefined || pods.filter(live).length < replicas;

/** Identifies how far a rollout has come. observe/ measures how long it stays the same. */
export function rolloutStage({ pods, template }: Pick<ObservedApp, "pods" | "template">, { id, changes }: Intent): string {
  const isPatched = template !== undefined && changes.every((change) => asksFor(template, change));
  const replaced = pods.filter((pod) => live(pod) && !tooSmall(pod, changes));
  return `${id} ${isPatched} ${replaced.length} ${replaced.filter(({ ready }) => ready).length}`;
}

/** Milliseconds until a rollout counts as stuck, if nothing changes. */
export function rolloutDeadlines({ template, rolloutUnchangedMs }: ObservedApp, intent: Intent): readonly number[] {
  const unchangedMs = rolloutUnchangedMs.get(intent.id);
  if (template === undefined || unchangedMs === undefined || isRollingBack(intent)) return [];
  return [refusedPatienceMs - unchangedMs, template.deadlineMs - unchangedMs];
}

function undoing(seen: ObservedApp, template: ObservedTemplate, intent: Intent, why: string): Progress {
  // With Recreate, undoing would remove the pods that became Ready after all (D2).
  if (causesDowntime(seen)) return ended(intent, "NotReady", `${why}; it is not undone, because some pods are Ready`);
  return rollingBack(seen, template, { ...intent, waiting: { reason: "RollingBack", message: why.slice(0, 1024) } });
}

function rollingBack(seen: ObservedApp, template: ObservedTemplate, intent: Intent): Progress {
  const given = intent.changes.map(({ container, from }) => ({ uid: template.uid, container, limit: from.limit }));
  const changes = intent.changes.filter((change) => isOurs(template, change));
  const { resourceVersion } = template;
  if (changes.length > 0)
    return { intent, open: true, given, command: { do: "restoreTemplate", intent, resourceVersion, changes } };
  const broken = brokenPod(seen, template, intent);
  if (broken !== undefined) {
    const { name, uid } = broken;
    return { intent, open: true, given, command: { do: "evict", intent, name, uid, resourceVersion: broken.resourceVersion } };
  }
  const why = intent.waiting?.message ?? "it made no progress";
  return { ...ended(intent, "NotReady", `the rollout was undone: ${why}`), given };
}

/** The template still has exactly what memhog wrote. */
function isOurs(template: ObservedTemplate, { container, to }: Change): boolean {
  const has = template.containers.find(({ name }) => name === container);
  return has?.limit === to.limit && (to.request === undefined || has.request === to.request);
}

function brokenPod({ app, pods }: ObservedApp, { replacesPods }: ObservedTemplate, { changes }: Intent): ObservedPod | undefined {
  if (replacesPods && app.kind !== "StatefulSet") return undefined;
  return pods.find((pod) => live(pod) && !pod.ready && pod.monitored && !tooSmall(pod, changes));
}

// The changes of a template that give every raised pod enough: the maximum per container, and never less than it has.

/** Empty if the template already has everything and its controller replaces the pods. */
export function templateChanges(seen: ObservedApp, raises: readonly PodRaise[]): readonly Change[] {
  const template = seen.template;
  if (template === undefined) return [];
  const all = raises.flatMap(({ changes }) => changes);
  const names = [...new Set(all.map(({ container }) => container))].filter((name) =>
    template.containers.some((c) => c.name === name),
  );
  const changes = names.map((name) =>
    merged(
      template,
      name,
      all.filter(({ container }) => container === name),
    ),
  );
  // A smaller request in the template is its owner's choice: the limit is what the pods lack.
  const done = changes.every(({ container, to }) => (limitIn(template, container) ?? 0) >= to.limit);
  return done && (template.replacesPods || seen.app.kind === "CronJob") ? [] : changes;
}

const limitIn = ({ containers }: ObservedTemplate, container: string) => containers.find(({ name }) => name === container)?.limit;

function merged(template: ObservedTemplate, container: string, changes: readonly Change[]): Change {
  const has = template.containers.find(({ name }) => name === container);
  const most = changes.map(({ to }) => to).reduce(maxOf);
  const capped = changes.find(({ cappedBy, to }) => cappedBy !== undefined && to.limit === most.limit)?.cappedBy;
  const from: Memory = {
    limit: has?.limit ?? changes[0]?.from.limit ?? bytes(0),
    request: has?.request ?? changes[0]?.from.request,
  };
  const to = has?.limit === undefined ? most : maxOf(most, { limit: has.limit, request: has.request });
  const measured = changes.find((change) => change.to.limit === most.limit)?.measured;
  return { container, from, to, ...(capped !== undefined && { cappedBy: capped }), ...(measured && { measured }) };
}

function maxOf(a: Memory, b: Memory): Memory {
  const request = a.request === undefined || b.request === undefined ? (a.request ?? b.request) : larger(a.request, b.request);
  return { limit: larger(a.limit, b.limit), request };
}

// Downtime: not every controller creates a new pod before it deletes an old one. If every Ready pod would be gone before the first
// new one is Ready, the raise does not begin (D2):
//
//                                                        replicas   unavailable   ready   →
//   Deployment, 25 % / 25 %                              1          0             1       patch it
//   Deployment, Recreate                                 3          3             2       hold
//   Deployment, maxSurge 0, maxUnavailable 1             1          1             1       hold
//   StatefulSet, ReplicaSet; a DaemonSet on one node     1          1             1       hold
//   StatefulSet                                          3          1             3       patch it: two go on serving
//   any of them                                          1          1             0       patch it: nothing is lost

export function causesDowntime({ template, pods }: ObservedApp): boolean {
  if (template === undefined || template.maxUnavailable === 0) return false;
  return template.maxUnavailable >= template.replicas && pods.some((pod) => live(pod) && pod.ready);
}

/** What would happen, and what to do about it. */
export function toAvoidDowntime(seen: ObservedApp): string {
  const { app, template } = seen;
  const all = (template?.replicas ?? 1) > 1 ? "all its pods" : "its only pod";
  const inPlace =
    policyInCharge(seen)?.strategy === "Redeploy" && seen.cluster.inPlace ? ", or strategy Auto, which resizes in place" : "";
  return `${app.kind} ${app.name} would remove ${all} before a new one is Ready; it needs ${remedies[app.kind] ?? anotherReplica}${inPlace}`;
}

const surge = "a rollout that surges (maxSurge 1, maxUnavailable 0)";
const anotherReplica = "another replica";
const remedies: Partial<Readonly<Record<AppKind, string>>> = { Deployment: surge, DaemonSet: surge };
