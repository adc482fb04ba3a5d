// By the template: the owner's pod template gets the memory, and the owner's controller replaces the pods: a Deployment makes new
// ones first. Where no controller does that (a ReplicaSet, updateStrategy OnDelete) we evict the pods of the old size, one at a
// time. A CronJob is done with its template: the next run starts with it.
import type { Command } from "../../model/plan.ts";
import type { Change, Intent } from "../../model/record.ts";
import type { AppSeen, PodSeen, TemplateSeen } from "../../model/seen.ts";
import { leavesNobody, toAvoidDowntime } from "./downtime.ts";
import {
  containerOf,
  ended,
  goingOn,
  isRefused,
  limitsOf,
  live,
  minutes,
  notTakenUp,
  type Progress,
  since,
  sinceMade,
  takenUpWithinMs,
  waiting,
} from "./progress.ts";

/** So long a pod that took the place of an evicted one may take to become Ready. */
const replacementPatienceMs = minutes(5);

export function templateProgress(seen: AppSeen, intent: Intent): Progress {
  const template = seen.template;
  // The id begins with the UID: an owner that was deleted and made again under its name is another one (W4).
  if (template === undefined || !intent.id.startsWith(`${template.uid}/`)) return ended(intent, "Abandoned", "the owner is gone");
  const changes = intent.changes.filter((change) => template.containers.some(({ name }) => name === change.container));
  if (changes.length === 0) return ended(intent, "Abandoned", "its containers are no longer in the template");
  if (isRefused(intent)) return ended(intent, "Refused", intent.waitingFor ?? "");
  const missing = changes.filter((change) => !asksFor(template, change));
  if (missing.length === 0) return { ...rollout(seen, template, intent), given: limitsOf(template.uid, changes) };
  // It was decided while nobody was Ready; meanwhile somebody is (D2).
  if (leavesNobody(seen)) return ended(intent, "Abandoned", toAvoidDowntime(seen));
  if (since(seen, intent.atMs) >= takenUpWithinMs) return ended(intent, "Refused", notTakenUp);
  const fresh = goingOn(intent);
  return { ...fresh, command: patch(fresh.intent, template, missing) };
}

/** The template has it already. */
export function asksFor(template: TemplateSeen, change: Change): boolean {
  const container = template.containers.find(({ name }) => name === change.container);
  return (container?.limit ?? 0) >= change.to.limit && (container?.request ?? 0) >= (change.to.request ?? 0);
}

function patch(intent: Intent, template: TemplateSeen, changes: readonly Change[]): Command {
  return { do: "patchTemplate", intent, resourceVersion: template.resourceVersion, changes };
}

function rollout(seen: AppSeen, template: TemplateSeen, intent: Intent): Progress {
  if (seen.app.kind === "CronJob") return ended(intent, "Applied", "the next run starts with it");
  if (template.stalled !== undefined) return ended(intent, "NotReady", `the rollout makes no progress: ${template.stalled}`);
  if (!template.replacesPods) return oneByOne(seen, template, intent);
  return template.rolledOut ? ended(intent, "Applied", "rolled out") : waiting(intent, "the rollout");
}

function oneByOne(seen: AppSeen, template: TemplateSeen, intent: Intent): Progress {
  const pods = seen.pods.filter(live);
  const old = pods.filter((pod) => tooSmall(pod, intent.changes));
  const replaced = pods.filter((pod) => !old.includes(pod));
  const unready = replaced.filter((pod) => !pod.ready);
  if (unready.some((pod) => sinceMade(seen, intent, pod) >= replacementPatienceMs)) {
    return ended(intent, "NotReady", "a pod of the new size does not become Ready");
  }
  const settling = unready.length > 0 || pods.length < template.replicas || seen.pods.some((pod) => pod.deleting);
  if (settling) return waiting(intent, "the pods of the new size to be Ready");
  if (old.length === 0) return ended(intent, "Applied", "every pod was replaced");
  return evictNext(pods, old, intent);
}

// A pod that is not Ready serves nobody, and the old size may be why; otherwise all others must be Ready, and there must be others:
// the only replica is never removed before its replacement is Ready (D2).
function evictNext(pods: readonly PodSeen[], old: readonly PodSeen[], intent: Intent): Progress {
  const broken = old.find((pod) => !pod.ready);
  if (broken !== undefined) return evict(broken, intent);
  const next = old[0];
  if (next === undefined || pods.length < 2) return waiting(intent, "a second replica: the only one is not removed");
  return evict(next, intent);
}

function evict(pod: PodSeen, intent: Intent): Progress {
  const fresh = goingOn(intent);
  if (!pod.monitored) return waiting(intent, `${pod.name} to be monitored`);
  return {
    ...fresh,
    command: { do: "evict", intent: fresh.intent, name: pod.name, uid: pod.uid, resourceVersion: pod.resourceVersion },
  };
}

const tooSmall = (pod: PodSeen, changes: readonly Change[]): boolean =>
  changes.some((change) => (containerOf(pod, change.container)?.limit ?? change.to.limit) < change.to.limit);
