// In place: PATCH pods/resize, then wait until the kubelet confirms it.
//
// Limit first. A Burstable pod gets its limits at once: they need no room on the node, so nothing defers them. When they are
// confirmed the raise counts as applied; the requests follow where the node has room, and while they wait they stand in nobody's
// way: the next raise simply takes the place of the intent. A Guaranteed pod must get both together, or it would leave its class;
// so must a pod whose namespace keeps limit ÷ request below what the limit alone would make of it (plan/together.ts).
//
//   the spec has it, the kubelet confirms it    → Applied
//   the spec has it, the kubelet says Deferred  → wait; the kubelet tries again by itself, a second patch would not help
//   … says Infeasible, or the API server did    → wait here; plan/intents.ts takes another road, or ends it for want of one
//   the spec has it no more                     → plan/reverts.ts has counted that before we look
import type { Intent } from "../../model/record.ts";
import type { AppSeen, PodSeen } from "../../model/seen.ts";
import {
  ended,
  goingOn,
  isInfeasible,
  isRefused,
  limitsOf,
  live,
  notTakenUp,
  type Progress,
  podOf,
  since,
  takenUpWithinMs,
  waiting,
} from "./progress.ts";
import { type Pair, pairsOf, requestsProgress, resize } from "./requests.ts";
import { mustGrowTogether } from "./together.ts";

export function inPlaceProgress(seen: AppSeen, intent: Intent): Progress {
  const pod = podOf(seen, intent.pod.uid);
  if (pod === undefined || !live(pod)) return gone(intent);
  const pairs = pairsOf(pod, intent.changes);
  if (pairs.length === 0) return gone(intent);
  if (intent.limitsApplied) return requestsProgress(intent, pod);
  if (isInfeasible(intent)) return { intent, open: true };
  if (isRefused(intent)) return ended(intent, "Refused", intent.waitingFor ?? "");
  const together = mustGrowTogether(seen, pod, intent.changes);
  if (pairs.every((pair) => asked(pair, together))) return confirmation(intent, pod, pairs, together);
  if (since(seen, intent.atMs) >= takenUpWithinMs) return ended(intent, "Refused", notTakenUp);
  const fresh = goingOn(intent);
  return { ...fresh, command: resize(fresh.intent, pod, together ? "both" : "limits") };
}

// Once the limits are there the raise is a fact; that the pod then goes does not unmake it.
function gone(intent: Intent): Progress {
  return intent.limitsApplied ? ended(intent, "Applied", "the pod is gone since") : ended(intent, "Abandoned", "the pod is gone");
}

function confirmation(intent: Intent, pod: PodSeen, pairs: readonly Pair[], together: boolean): Progress {
  const given = limitsOf(pod.uid, intent.changes);
  if (pairs.every((pair) => confirmed(pair, together))) {
    const applied = { ...goingOn(intent).intent, limitsApplied: true };
    return { ...requestsProgress(applied, pod), arrived: true, given };
  }
  if (pod.resize.state === "infeasible") return waiting(intent, "Infeasible on this node", { given });
  if (pod.resize.state === "deferred") return waiting(intent, "Deferred", { given });
  if (pod.resize.state === "error") return waiting(intent, "Error", { given });
  return goingOn(intent, { given });
}

function asked({ change, container }: Pair, together: boolean): boolean {
  const limit = (container.limit ?? 0) >= change.to.limit;
  return limit && (!together || (container.request ?? 0) >= (change.to.request ?? 0));
}

// Where the kubelet confirms nothing, the spec is all there is to go by.
function confirmed({ change, container }: Pair, together: boolean): boolean {
  const limit = (container.appliedLimit ?? container.limit ?? 0) >= change.to.limit;
  return limit && (!together || (container.appliedRequest ?? container.request ?? 0) >= (change.to.request ?? 0));
}
