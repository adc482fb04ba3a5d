// The second step in place: the requests follow the limits, where the node has room.
//
// A request that does not fit is not sent at all: the kubelet would defer it, and since it takes the resizes of a pod as a whole,
// every later limit of this pod would wait behind it, until the pod is killed for lack of memory. If it is deferred all the same
// (the room went to somebody else, or we may not see nodes), it is taken back to what the kubelet has admitted.
import type { Command } from "../../model/plan.ts";
import type { Change, Intent } from "../../model/record.ts";
import type { ContainerSeen, PodSeen } from "../../model/seen.ts";
import { containerOf, ended, goingOn, type Progress, waiting } from "./progress.ts";

export interface Pair {
  readonly change: Change;
  readonly container: ContainerSeen;
}

export function pairsOf(pod: PodSeen, changes: readonly Change[]): readonly Pair[] {
  return changes.flatMap((change) => {
    const container = containerOf(pod, change.container);
    return container === undefined ? [] : [{ change, container }];
  });
}

const takingBack = "the request to be taken back: the node has no room for it";

export function requestsProgress(intent: Intent, pod: PodSeen): Progress {
  const pairs = pairsOf(pod, intent.changes);
  if (intent.waitingFor === takingBack) return takeBack(intent, pod, pairs);
  if (/^(Refused|Infeasible)/.test(intent.waitingFor ?? ""))
    return ended(intent, "Applied", `the request stays: ${intent.waitingFor}`);
  const behind = pairs.filter(({ change, container }) => (container.request ?? 0) < (change.to.request ?? 0));
  if (behind.length === 0) return requested(intent, pod, pairs);
  const more = behind.reduce((sum, { change, container }) => sum + (change.to.request ?? 0) - (container.request ?? 0), 0);
  if (pod.node !== undefined && pod.node.allocatable - pod.node.requested < more) {
    return waiting(intent, "room on the node for the request");
  }
  const fresh = goingOn(intent);
  return { ...fresh, command: resize(fresh.intent, pod, "requests") };
}

function requested(intent: Intent, pod: PodSeen, pairs: readonly Pair[]): Progress {
  if (pairs.every(({ change, container }) => admitted(container) >= (change.to.request ?? 0))) {
    return ended(intent, "Applied", confirmedOf(intent.changes));
  }
  if (pod.resize.state !== "deferred") return goingOn(intent);
  const changes = intent.changes.map((change) => {
    const container = containerOf(pod, change.container);
    return container === undefined ? change : { ...change, to: { ...change.to, request: container.appliedRequest } };
  });
  return takeBack({ ...intent, changes, waitingFor: takingBack }, pod, pairsOf(pod, changes));
}

/** Beside an HPA, or at a quota of requests, only limits were asked for. */
function confirmedOf(changes: readonly Change[]): string {
  const more = changes.some(({ from, to }) => (to.request ?? 0) > (from.request ?? 0));
  return more ? "limits and requests are confirmed" : "limits are confirmed; requests stay as they are";
}

function takeBack(intent: Intent, pod: PodSeen, pairs: readonly Pair[]): Progress {
  const back = pairs.every(({ change, container }) => change.to.request === undefined || container.request === change.to.request);
  if (back) return ended(intent, "Applied", "the request stays: the node has no room for more");
  return { intent, open: true, command: resize(intent, pod, "requests") };
}

// Where the kubelet says nothing, the spec is all there is to go by.
const admitted = (container: ContainerSeen): number => container.appliedRequest ?? container.request ?? 0;

export function resize(intent: Intent, pod: PodSeen, step: "limits" | "requests" | "both"): Command {
  return { do: "resize", intent, resourceVersion: pod.resourceVersion, step };
}
