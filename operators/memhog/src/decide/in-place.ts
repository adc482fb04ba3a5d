// Method InPlace: PATCH pods/resize, then wait until the kubelet confirms it.
//
// Limits come first. The limits of a Burstable pod need no room on the node, so they are never deferred. Once they are confirmed, the
// raise counts as applied. The requests follow when the node has room, and meanwhile the next raise may replace the intent. A
// Guaranteed pod gets both together, since its QoS class must not change; so does a pod whose limit ÷ request is bounded by a
// LimitRange.
//
//   the spec has it, the kubelet confirms it    → Applied
//   the spec has it, the kubelet says Deferred  → wait; the kubelet retries by itself, and a second patch would not help
//   Infeasible, or rejected for NodeCapacity    → wait; intents.ts replaces it by another method, or settle.ts ends it
//   the spec no longer has it                   → settle.ts has counted a revert before
import {
  containerOf,
  live,
  type ObservedApp,
  type ObservedContainer,
  type ObservedLimitRange,
  type ObservedPod,
  podOf,
} from "../model/observed-app.ts";
import type { Change, Command, Intent } from "../model/plan.ts";
import {
  ended,
  endedRefused,
  endedWithoutEffect,
  goingOn,
  isInfeasible,
  isRefused,
  limitsOf,
  type Progress,
  since,
  takenUpWithinMs,
  waiting,
  waitText,
} from "./progress.ts";

export function inPlaceProgress(seen: ObservedApp, intent: Intent): Progress {
  const pod = podOf(seen, intent.pod.uid);
  if (pod === undefined || !live(pod)) return gone(intent);
  const pairs = pairsOf(pod, intent.changes);
  if (pairs.length === 0) return gone(intent);
  if (intent.limitsApplied) return requestsProgress(intent, pod);
  if (isInfeasible(intent)) return { intent, open: true };
  if (isRefused(intent)) return endedRefused(intent);
  const together = mustGrowTogether(seen, pod, intent.changes);
  if (pairs.every((pair) => asked(pair, together))) return confirmation(intent, pod, pairs, together);
  if (since(seen, intent.atMs) >= takenUpWithinMs) return endedWithoutEffect(intent);
  const fresh = goingOn(intent);
  return { ...fresh, command: resize(fresh.intent, pod, together ? "both" : "limits") };
}

// Once the limits are applied the raise counts, even if the pod is deleted afterwards.
function gone(intent: Intent): Progress {
  return intent.limitsApplied
    ? ended(intent, "Applied", "the pod was deleted afterwards")
    : ended(intent, "Abandoned", "the pod is gone");
}

function confirmation(intent: Intent, pod: ObservedPod, pairs: readonly Pair[], together: boolean): Progress {
  const given = limitsOf(pod.uid, intent.changes);
  if (pairs.every((pair) => confirmed(pair, together))) {
    const applied = { ...goingOn(intent).intent, limitsApplied: true };
    return { ...requestsProgress(applied, pod), arrived: true, given };
  }
  if (pod.resize.state === "infeasible") return waiting(intent, "ResizeInfeasible", { given });
  if (pod.resize.state === "deferred") return waiting(intent, "ResizeDeferred", { given });
  if (pod.resize.state === "error") return waiting(intent, "ResizeError", { given });
  return goingOn(intent, { given });
}

function asked({ change, container }: Pair, together: boolean): boolean {
  const limit = (container.limit ?? 0) >= change.to.limit;
  return limit && (!together || (container.request ?? 0) >= (change.to.request ?? 0));
}

// Kubelets that report nothing (before 1.33): the spec counts.
function confirmed({ change, container }: Pair, together: boolean): boolean {
  const limit = (container.appliedLimit ?? container.limit ?? 0) >= change.to.limit;
  return limit && (!together || (container.appliedRequest ?? container.request ?? 0) >= (change.to.request ?? 0));
}

// The second step: the requests follow the limits when the node has room.
//
// A request that does not fit is not sent: the kubelet would defer it, and since it handles the resizes of a pod as a whole, every
// later limit of the pod would wait behind it until the pod is OOM-killed. If a request is deferred nevertheless (another pod took the
// room, or memhog may not read nodes), it is set back to what the kubelet admitted.

interface Pair {
  readonly change: Change;
  readonly container: ObservedContainer;
}

function pairsOf(pod: ObservedPod, changes: readonly Change[]): readonly Pair[] {
  return changes.flatMap((change) => {
    const container = containerOf(pod, change.container);
    return container === undefined ? [] : [{ change, container }];
  });
}

function requestsProgress(intent: Intent, pod: ObservedPod): Progress {
  const pairs = pairsOf(pod, intent.changes);
  const { waiting: why } = intent;
  if (why?.reason === "RequestReverting") return takeBack(intent, pod, pairs);
  if (why !== undefined && (isRefused(intent) || why.reason === "ResizeInfeasible"))
    return ended(intent, "Applied", `the request stays: ${waitText(why)}`);
  const behind = pairs.filter(({ change, container }) => (container.request ?? 0) < (change.to.request ?? 0));
  if (behind.length === 0) return requested(intent, pod, pairs);
  const more = behind.reduce((sum, { change, container }) => sum + (change.to.request ?? 0) - (container.request ?? 0), 0);
  if (pod.node !== undefined && pod.node.allocatable - pod.node.requested < more) {
    return waiting(intent, "NoRoomForRequest");
  }
  const fresh = goingOn(intent);
  return { ...fresh, command: resize(fresh.intent, pod, "requests") };
}

function requested(intent: Intent, pod: ObservedPod, pairs: readonly Pair[]): Progress {
  if (pairs.every(({ change, container }) => admitted(container) >= (change.to.request ?? 0))) {
    return ended(intent, "Applied", confirmedOf(intent.changes));
  }
  if (pod.resize.state !== "deferred") return goingOn(intent);
  const changes = intent.changes.map((change) => {
    const container = containerOf(pod, change.container);
    return container === undefined ? change : { ...change, to: { ...change.to, request: container.appliedRequest } };
  });
  return takeBack({ ...intent, changes, waiting: { reason: "RequestReverting" } }, pod, pairsOf(pod, changes));
}

/** Next to an HPA, or if a quota of requests is used up, only limits are raised. */
function confirmedOf(changes: readonly Change[]): string {
  const more = changes.some(({ from, to }) => (to.request ?? 0) > (from.request ?? 0));
  return more ? "limits and requests are confirmed" : "limits are confirmed; requests stay as they are";
}

function takeBack(intent: Intent, pod: ObservedPod, pairs: readonly Pair[]): Progress {
  const back = pairs.every(({ change, container }) => change.to.request === undefined || container.request === change.to.request);
  if (back) return ended(intent, "Applied", "the request stays: the node has no room for more");
  return { intent, open: true, command: resize(intent, pod, "requests") };
}

// Kubelets that report nothing (before 1.33): the spec counts.
const admitted = (container: ObservedContainer): number => container.appliedRequest ?? container.request ?? 0;

export function resize(intent: Intent, pod: ObservedPod, step: "limits" | "requests" | "both"): Command {
  return { do: "resize", intent, resourceVersion: pod.resourceVersion, step };
}

// Whether requests and limits must grow in one step: those of a Guaranteed pod must stay equal, and a LimitRange may bound
// limit ÷ request per container or pod. With a bound of 2, a limit of 768Mi with a request of 256Mi is rejected, and 512Mi/768Mi is not.

function mustGrowTogether({ limits }: ObservedApp, pod: ObservedPod, changes: readonly Change[]): boolean {
  return pod.qos === "Guaranteed" || limits.ranges.some((range) => forbidsLimitsAlone(range, pod, changes));
}

function forbidsLimitsAlone({ per, maxRatio }: ObservedLimitRange, pod: ObservedPod, changes: readonly Change[]): boolean {
  if (maxRatio === undefined) return false;
  const sizes = pod.containers.map(({ name, limit = 0, request = 0 }) => {
    const to = changes.find(({ container }) => container === name)?.to;
    return { limit: Math.max(limit, to?.limit ?? 0), request, grows: to?.request !== undefined && to.request > request };
  });
  // If no request grows, "both" would be the same patch as "limits".
  const tooMuch = per === "Container" ? sizes.filter(({ grows }) => grows) : sizes.some(({ grows }) => grows) ? [sum(sizes)] : [];
  return tooMuch.some(({ limit, request }) => limit > request * maxRatio);
}

function sum(sizes: readonly { readonly limit: number; readonly request: number }[]) {
  return {
    limit: sizes.reduce((total, { limit }) => total + limit, 0),
    request: sizes.reduce((total, { request }) => total + request, 0),
  };
}
