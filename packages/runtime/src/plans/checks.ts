// Whether a step is done: the answers that `doneWhen` can give, and the answers for common workloads.
import { findCondition } from "../objects/condition.ts";
import type { Deployment, Job, StatefulSet } from "../objects/kinds/workloads.ts";

/** Done, not yet (and what it waits for), or failed for good. */
export type StepCheck =
  | { readonly kind: "met" }
  | { readonly kind: "waiting"; readonly message: string }
  | { readonly kind: "failed"; readonly message: string };

/** The condition of the step is met. `doneWhen` can return `true` instead. */
export const met: StepCheck = { kind: "met" };

/** Not yet: `waiting("Job orders-dump to finish")`. Read as "waits for …". */
export function waiting(forWhat: string): StepCheck {
  return { kind: "waiting", message: forWhat };
}

/** Never: the step and its plan fail for good. Throwing a TerminalError in a step means the same. */
export function failed(message: string): StepCheck {
  return { kind: "failed", message };
}

/** Whether a Job is complete. A Job that failed fails the step. */
export function jobDone(job: Job | undefined): StepCheck {
  if (job === undefined) return waiting("a Job that does not exist yet");
  const name = job.metadata?.name ?? "";
  const failure = findCondition(job.status?.conditions, "Failed");
  if (failure?.status === "True") return failed(`Job ${name} failed: ${failure.reason ?? ""} ${failure.message ?? ""}`.trim());
  const complete = findCondition(job.status?.conditions, "Complete")?.status === "True";
  return complete ? met : waiting(`Job ${name} to finish`);
}

/** Whether all replicas of a Deployment or StatefulSet are updated and ready, as `kubectl rollout status` decides it. */
export function rolledOut(workload: Deployment | StatefulSet | undefined): StepCheck {
  if (workload === undefined) return waiting("a workload that does not exist yet");
  const { metadata, spec, status } = workload;
  const name = metadata?.name ?? "";
  const { replicas = 1 } = spec;
  const { observedGeneration = 0, updatedReplicas = 0, readyReplicas = 0 } = status ?? {};
  if (observedGeneration < (metadata?.generation ?? 0)) return waiting(`the rollout of ${name} to start`);
  if (updatedReplicas < replicas) return waiting(`${name} to update its replicas: ${updatedReplicas} of ${replicas}`);
  if ((status?.replicas ?? 0) > updatedReplicas) return waiting(`the old replicas of ${name} to stop`);
  return readyReplicas < replicas ? waiting(`${name} to be ready: ${readyReplicas} of ${replicas}`) : met;
}
