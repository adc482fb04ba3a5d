// Would a redeployment leave nobody to serve? A template that changes makes its controller replace the pods, and not every controller
// makes the new one first. Where all that are Ready would be gone before the first new one is, we do not begin (promise D2):
//
//                                                        replicas   taken first   ready   →
//   Deployment, 25 % / 25 %                              1          0             1       patch it
//   Deployment, Recreate                                 3          3             2       hold
//   Deployment, maxSurge 0, maxUnavailable 1             1          1             1       hold
//   StatefulSet, ReplicaSet; a DaemonSet on one node     1          1             1       hold
//   StatefulSet                                          3          1             3       patch it: two go on serving
//   any of them                                          1          1             0       patch it: nothing is lost
import type { AppKind, AppSeen } from "../../model/seen.ts";
import { policyInCharge } from "./gate.ts";
import { live } from "./progress.ts";

export function leavesNobody({ template, pods }: AppSeen): boolean {
  if (template === undefined || template.takenFirst === 0) return false;
  return template.takenFirst >= template.replicas && pods.some((pod) => live(pod) && pod.ready);
}

/** What would happen, and what a person can do about it. */
export function toAvoidDowntime(seen: AppSeen): string {
  const { app, template } = seen;
  const all = (template?.replicas ?? 1) > 1 ? "all its pods" : "its only pod";
  const inPlace =
    policyInCharge(seen)?.strategy === "Redeploy" && seen.cluster.inPlace ? ", or strategy Auto, which resizes in place" : "";
  return `${app.kind} ${app.name} would remove ${all} before a new one is Ready; it needs ${remedies[app.kind] ?? anotherReplica}${inPlace}`;
}

const surge = "a rollout that surges (maxSurge 1, maxUnavailable 0)";
const anotherReplica = "another replica";
const remedies: Partial<Readonly<Record<AppKind, string>>> = { Deployment: surge, DaemonSet: surge };
