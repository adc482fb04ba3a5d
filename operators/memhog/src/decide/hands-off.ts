// Reasons to leave a container alone that need no look at its memory: it was stopped, another autoscaler has it, or the last raise
// is still on its way. A kill does not override them: it would only make two hands pull at once.
import { readable } from "../model/bytes.ts";
import type { Intent } from "../model/record.ts";
import { type Facts, type Hold, hold } from "./facts.ts";
import { stopOn } from "./history.ts";

const stopped = {
  SuspectedLeak: "it was raised too often within an hour",
  RaisesFutile: "it was killed again and again in spite of raises",
  Contested: "somebody takes back what it is given",
} as const;

/** Stops are stored: they outlive a restart of ours, and whatever the memory does next. */
export function stoppedBefore({ seen, pod, policy }: Facts): Hold | undefined {
  const stop = stopOn(seen, pod, policy);
  return stop && hold(stop.reason, `${stopped[stop.reason]}; left alone until the AppMonitor ${policy.name} is edited`);
}

/** A VPA sets requests and limits alike; two of us would undo each other for ever (promise F1). */
export function verticalAutoscaler({ seen }: Facts): Hold | undefined {
  if (seen.rival?.kind !== "VPA") return undefined;
  return hold("AnotherAutoscaler", `${seen.rival.name} is in charge of the memory of ${seen.app.name}`);
}

/** The last raise is not done yet. Once its limits are confirmed it is in nobody's way, even if its request still waits for room. */
export function underWay({ seen, pod }: Facts): Hold | undefined {
  const intent = seen.record.intents.find((each) => each.limitsApplied !== true && isAbout(each, pod.uid, pod.copyOf));
  if (intent === undefined) return undefined;
  const what = `${towards(intent)}, decided because of ${intent.reason}`;
  if (intent.waitingFor?.startsWith("Refused")) return hold("Refused", `${what}: ${intent.waitingFor}`);
  if (intent.road === "Template") return hold("RolloutInProgress", `${seen.app.kind} ${seen.app.name} is rolling out ${what}`);
  if (intent.road === "CopyPod") return hold("ResizeInProgress", `${intent.copy ?? "a copy"} is to have ${what}`);
  return pod.resize.state === "deferred" ? undefined : hold("ResizeInProgress", `${intent.pod.name} is to have ${what}`);
}

/** A template is about all pods; a copy is about the original and the copy. */
function isAbout(intent: Intent, uid: string, copyOf: string | undefined): boolean {
  return intent.road === "Template" || intent.pod.uid === uid || (intent.road === "CopyPod" && intent.pod.uid === copyOf);
}

/** The kubelet takes the resizes of a pod as a whole: whatever we added now would only wait behind this one. Ours or another's. */
export function resizePending({ pod }: Facts): Hold | undefined {
  const { state, message } = pod.resize;
  const says = message === undefined ? "" : `: ${message}`;
  if (state === "deferred") return hold("ResizeDeferred", `the node has no room for the last resize now${says}`);
  return state === "inProgress" ? hold("ResizeInProgress", `the kubelet is at it${says}`) : undefined;
}

const towards = ({ changes }: Intent) => changes.map(({ container, to }) => `${container} ${readable(to.limit)}`).join(", ");
