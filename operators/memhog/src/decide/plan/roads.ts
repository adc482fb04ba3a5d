// By which road more memory reaches a pod, or why none leads there.
//
//   strategy    in place possible   not possible: Pod    Deployment … CronJob   Job, Other
//   Auto        InPlace             CopyPod              Template               hold OwnerNotEditable
//   InPlace     InPlace             hold InPlaceImpossible (NotRunning where it may yet run)
//   Redeploy    –                   CopyPod              Template               hold OwnerNotEditable
//   Recommend   hold RecommendOnly, always
//
// Template is no road where nobody would be left to serve while it is taken: hold WouldCauseDowntime (plan/downtime.ts).
//
// An HPA that goes by memory utilisation reads usage ÷ request: more request would make it remove replicas. So in place only the
// limit grows, and nothing is redeployed (F1).
import type { HoldReason } from "../../model/reasons.ts";
import type { Action, AppRecord, Change, Road } from "../../model/record.ts";
import type { AppSeen, PodSeen } from "../../model/seen.ts";
import { type Hold, hold } from "../facts.ts";
import { hasEnded, resizesInPlace } from "../in-place-able.ts";
import { leavesNobody, toAvoidDowntime } from "./downtime.ts";
import { policyInCharge } from "./gate.ts";
import { containerOf } from "./progress.ts";
import type { PodRaise } from "./raises.ts";

export type RoadTo = { readonly road: Road } | { readonly hold: Hold };

export function roadTo(seen: AppSeen, record: AppRecord, { pod, changes, reason }: PodRaise): RoadTo {
  const policy = policyInCharge(seen);
  if (policy === undefined) return no("NoMonitor", "no AppMonitor is in charge");
  if (policy.strategy === "Recommend") return no("RecommendOnly", "the strategy is Recommend");
  const obstacle = policy.strategy === "Redeploy" ? "the strategy is Redeploy" : inPlaceObstacle(seen, record, pod, changes);
  if (obstacle === undefined) return inPlace(seen, pod);
  // No pod is replaced only because others of its app needed more: its own use will tell.
  if (policy.strategy === "InPlace" || reason === "LearnedBefore") return stuck(pod, changes, obstacle);
  return redeploy(seen, pod, obstacle);
}

const no = (reason: HoldReason, detail: string): RoadTo => ({ hold: hold(reason, detail) });

function inPlace(seen: AppSeen, pod: PodSeen): RoadTo {
  if (seen.rival?.kind === "HPA" && pod.qos === "Guaranteed") {
    return no("AnotherAutoscaler", `${seen.rival.name} goes by the request, which cannot stay behind in a Guaranteed pod`);
  }
  return { road: "InPlace" };
}

/** Why this pod cannot be resized where it is. */
function inPlaceObstacle(seen: AppSeen, record: AppRecord, pod: PodSeen, changes: readonly Change[]): string | undefined {
  if (!seen.cluster.inPlace) return "the cluster does not serve pods/resize";
  if (pod.notResizable !== undefined) return pod.notResizable;
  // The kubelet takes the spec of a pod as a whole: with that in it, nothing else of it is admitted either.
  if (pod.resize.state === "infeasible") return "what its spec asks for never fits its node";
  if (record.actions.some((action) => provedInfeasible(action, pod, changes))) return "its node is too small for that";
  const able = changes.every(({ container: name }) => {
    const container = containerOf(pod, name);
    return container !== undefined && resizesInPlace(seen, pod, container);
  });
  return able ? undefined : "its containers cannot be resized as they are";
}

// What did not fit once will not fit when it is larger. (A pod does not move to another node.)
function provedInfeasible(action: Action, pod: PodSeen, changes: readonly Change[]): boolean {
  if (action.outcome !== "Infeasible" || action.pod.uid !== pod.uid) return false;
  return changes.some(({ container, to }) =>
    action.changes.some((tried) => tried.container === container && tried.to.limit <= to.limit),
  );
}

function stuck(pod: PodSeen, changes: readonly Change[], obstacle: string): RoadTo {
  const waits = !hasEnded(pod) && changes.some(({ container }) => containerOf(pod, container)?.running === false);
  return waits ? no("NotRunning", "it can be resized in place when it runs again") : no("InPlaceImpossible", obstacle);
}

function redeploy(seen: AppSeen, pod: PodSeen, obstacle: string): RoadTo {
  const { kind } = seen.app;
  if (seen.rival?.kind === "HPA") return no("AnotherAutoscaler", `${seen.rival.name} goes by the request of new pods`);
  if (kind === "Job" || kind === "Other") return no("OwnerNotEditable", obstacle);
  if (kind !== "Pod") return byTemplate(seen, obstacle);
  // To run a pod again that was made to run once is not ours to decide.
  return hasEnded(pod) ? no("NotRunning", "the pod has ended") : { road: "CopyPod" };
}

function byTemplate(seen: AppSeen, obstacle: string): RoadTo {
  if (seen.template === undefined) return no("OwnerNotEditable", "its owner was not found");
  if (!leavesNobody(seen)) return { road: "Template" };
  return no("WouldCauseDowntime", `${obstacle}, and ${toAvoidDowntime(seen)}`);
}
