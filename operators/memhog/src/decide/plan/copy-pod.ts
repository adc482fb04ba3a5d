// A bare pod is replaced: a bigger copy is made, and only when the copy is Ready the original goes. Its name and the label that
// names the original make the copy findable after any crash: never two copies, never none (promises C4, D2).
//
//   original   copy            →
//   there      none            create it
//   there      not Ready yet   wait; after its time it is given up: deleted, and that is recorded before it is done
//   there      Ready           delete the original
//   gone       Ready           Applied
//   gone       not Ready       wait, and never delete it: it is all there is
//   gone       none            Abandoned
import { dnsSubdomain } from "@memhog/runtime";
import type { Intent } from "../../model/record.ts";
import type { AppSeen, PodSeen } from "../../model/seen.ts";
import { ended, goingOn, isRefused, live, minutes, type Progress, podOf, since, sinceMade, waiting } from "./progress.ts";

/** So long a copy may take to become Ready. */
export const copyPatienceMs = minutes(5);
const givenUp = "the copy that did not become Ready to be gone";

export function copyProgress(seen: AppSeen, intent: Intent): Progress {
  const original = podOf(seen, intent.pod.uid);
  const copy = copyFor(seen, intent);
  if (original === undefined)
    return copy === undefined ? ended(intent, "Abandoned", "the pod is gone") : alone(seen, intent, copy);
  if (copy === undefined) return withoutCopy(intent, original);
  if (intent.waitingFor === givenUp) return givingUp(intent, copy);
  if (isRefused(intent)) return tryAgainLater(seen, intent);
  if (copy.deleting) return waiting(intent, "a copy that is being deleted to be gone");
  if (copy.ready) return replacing(intent, original);
  return copyAge(seen, intent, copy) < copyPatienceMs ? waiting(intent, "the copy to be Ready") : givingUp(intent, copy);
}

/** No copy is older than the intent to make it, whose time is ours: so it matters not if our clock is another than the server's. */
export const copyAge = (seen: AppSeen, intent: Intent, copy: PodSeen): number =>
  Math.min(sinceMade(seen, intent, copy), since(seen, intent.atMs));

/** The bigger copy that this intent made, if it is there. */
export const copyFor = (seen: AppSeen, intent: Intent): PodSeen | undefined =>
  seen.pods.find((pod) => pod.copyOf === intent.pod.uid);

function alone(seen: AppSeen, intent: Intent, copy: PodSeen): Progress {
  if (copy.ready) return ended(intent, "Applied", `replaced by ${copy.name}`);
  if (!live(copy)) return ended(intent, "Abandoned", "the pod and its copy are gone");
  return copyAge(seen, intent, copy) < copyPatienceMs
    ? waiting(intent, "the copy to be Ready")
    : ended(intent, "NotReady", "the original is gone, and its copy is not Ready");
}

function withoutCopy(intent: Intent, original: PodSeen): Progress {
  if (intent.waitingFor === givenUp) return ended(intent, "NotReady", "the copy did not become Ready; the original stays");
  if (!live(original)) return ended(intent, "Abandoned", "the pod is gone");
  if (isRefused(intent)) return ended(intent, "Refused", intent.waitingFor ?? "");
  const fresh = goingOn(intent);
  return { ...fresh, command: { do: "createCopy", intent: fresh.intent, copy: intent.copy ?? original.name } };
}

// Recorded before the copy is deleted: a copy that becomes Ready in the meantime must not be taken for a success by one pass
// and be deleted by the command of another.
function givingUp(intent: Intent, copy: PodSeen): Progress {
  const told = waiting(intent, givenUp);
  if (copy.deleting) return told;
  return { ...told, command: { do: "deletePod", intent: told.intent, name: copy.name, uid: copy.uid, why: "NotReady" } };
}

function replacing(intent: Intent, original: PodSeen): Progress {
  const told = waiting(intent, "the original to be gone");
  if (original.deleting) return told;
  return { ...told, command: { do: "deletePod", intent: told.intent, name: original.name, uid: original.uid, why: "Replaced" } };
}

// The copy stands, but we may not delete what has to go. Not a hot loop, and not forgotten either: rights may come back.
function tryAgainLater(seen: AppSeen, intent: Intent): Progress {
  const patience = minutes(5) * 2 ** Math.min(intent.attempt - 1, 4);
  if (since(seen, intent.atMs) < patience) return { intent, open: true };
  const { waitingFor: _, ...again } = { ...intent, attempt: Math.min(intent.attempt + 1, 1000) };
  return copyProgress(seen, again);
}

/** `<app>-autoscaled`, then `-autoscaled-2`, …: one after the highest that is there. `skip`: names that turned out to be taken. */
export function copyName(seen: AppSeen, skip: number): string {
  const taken = new Set(seen.pods.map((pod) => pod.name));
  let number = Math.max(0, ...seen.pods.map((pod) => numberOf(pod.name, seen.app.name))) + 1 + skip;
  // Very long names are shortened and lose their number, so look.
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
