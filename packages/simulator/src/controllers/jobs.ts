// Jobs: run pods to completion. The status counts finished pods; these stay until the Job is deleted.
import {
  allow,
  controller,
  done,
  type EventInput,
  hasCondition,
  Job,
  type Outcome,
  Pod,
  requeueAfter,
  type Stored,
} from "@memhog/runtime";
import type { Condition, JobStatus } from "@memhog/runtime/kinds";
import { formatTime, parseTime, setCondition } from "@memhog/runtime/objects";
import {
  isActive,
  isBeingDeleted,
  isReady,
  podFrom,
  rejectionOf,
  rejectionRetry,
  report,
  stated,
  unlessZero,
} from "./workload.ts";

export const jobs = controller(
  Job,
  { name: "job", owns: [Pod], permissions: [allow(Job, "update", { subresource: "status" }), allow(Job, "delete")] },
  async (ref, ctx): Promise<Outcome> => {
    const job = ctx.get(Job, ref);
    if (job === undefined || isBeingDeleted(job)) return done();
    const now = ctx.clock.now();
    const pods = ctx.list(Pod, { ownedBy: job });
    const decision = decideJob(job, pods, now);
    let rejected = false;
    try {
      for (let made = 0; made < decision.create; made += 1) {
        const pod = await ctx.client.create(Pod, podFrom(job.spec.template, job, Job));
        ctx.event(job, { reason: "SuccessfulCreate", message: `Created pod: ${pod.metadata.name}` });
      }
    } catch (error) {
      rejected = true;
      ctx.event(job, { type: "Warning", reason: "FailedCreate", message: `Error creating: ${rejectionOf(error).message}` });
    }
    for (const { metadata } of decision.remove) {
      await ctx.client.delete(Pod, metadata, { uid: metadata.uid });
      ctx.event(job, { reason: "SuccessfulDelete", message: `Deleted pod: ${metadata.name}` });
    }
    const changed = await report(job, decision.status, (next) => ctx.client.update(Job, next, { subresource: "status" }));
    if (changed && decision.end !== undefined) ctx.event(job, remarkOn(decision.end));
    const { goesInMs, againInMs = goesInMs } = decision;
    if (goesInMs !== undefined && goesInMs <= 0) {
      await ctx.client.delete(Job, ref, { uid: job.metadata.uid, propagationPolicy: "Foreground" });
      return done();
    }
    if (rejected) return requeueAfter(rejectionRetry, "pods were refused");
    return againInMs === undefined || againInMs <= 0
      ? done()
      : requeueAfter(againInMs, "time passes: for a pause, a deadline or the end");
  },
);

function remarkOn({ type, reason, message }: End): EventInput {
  return type === "Complete" ? { reason: "Completed", message: "Job completed" } : { type: "Warning", reason, message: message };
}

export interface End {
  readonly type: "Complete" | "Failed";
  readonly reason: string;
  readonly message: string;
}

interface JobDecision {
  readonly create: number;
  readonly remove: readonly Stored<Pod>[];
  readonly status: JobStatus;
  /** How the Job ended, if it did. */
  readonly end?: End | undefined;
  /** When pods may be created again, or the deadline. */
  readonly againInMs?: number | undefined;
  /** When a finished Job is removed. */
  readonly goesInMs?: number | undefined;
}

export function isFinished({ status }: Stored<Job>): boolean {
  return hasCondition(status?.conditions, "Complete") || hasCondition(status?.conditions, "Failed");
}

/** `managedBy`: another controller runs the pods and writes the status. This one only removes the Job after its TTL. */
function isOthers({ spec: { managedBy = ourName } }: Stored<Job>): boolean {
  return managedBy !== ourName;
}

const ourName = "kubernetes.io/job-controller";

export function decideJob(job: Stored<Job>, pods: readonly Stored<Pod>[], nowMs: number): JobDecision {
  const { spec, status = {} } = job;
  if (isFinished(job) || isOthers(job)) return { create: 0, remove: [], status, goesInMs: goesInMs(job, nowMs) };
  const active = pods.filter(isActive);
  const succeeded = pods.filter(({ status }) => status?.phase === "Succeeded").length;
  const failed = pods.filter(
    (pod) => pod.status?.phase === "Failed" || (isBeingDeleted(pod) && pod.status?.phase !== "Succeeded"),
  );
  const startTime = spec.suspend ? undefined : (status.startTime ?? formatTime(nowMs));
  const end = spec.suspend
    ? undefined
    : endOf(job, { succeeded, failed: failed.length, active: active.length, startTime, nowMs });
  const wanted = end !== undefined || spec.suspend ? 0 : wantedPods(job, succeeded);
  const pauseMs = pauseAfter(failed, nowMs);
  const missing = Math.max(0, wanted - active.length);
  const remove = active.slice(wanted);
  return {
    create: pauseMs > 0 ? 0 : missing,
    remove,
    end,
    againInMs: missing > 0 && pauseMs > 0 ? pauseMs : deadlineInMs(job, startTime, nowMs),
    status: stated<JobStatus>({
      ...(end === undefined && { active: unlessZero(active.length) }),
      ready: end === undefined ? active.filter(isReady).length : 0,
      succeeded: unlessZero(succeeded),
      failed: unlessZero(failed.length + (end?.type === "Failed" ? remove.length : 0)),
      terminating: pods.filter((pod) => isBeingDeleted(pod)).length,
      startTime,
      completionTime: end?.type === "Complete" ? formatTime(nowMs) : undefined,
      uncountedTerminatedPods: {},
      conditions: conditionsOf(job, end, nowMs),
    }),
  };
}

/** Without `completions`, the first success completes the work, and the other pods finish. */
function wantedPods({ spec }: Stored<Job>, succeeded: number): number {
  const { parallelism = 1, completions } = spec;
  if (completions === undefined) return succeeded > 0 ? 0 : parallelism;
  return Math.min(parallelism, completions - succeeded);
}

interface Counts {
  readonly succeeded: number;
  readonly failed: number;
  readonly active: number;
  readonly startTime: string | undefined;
  readonly nowMs: number;
}

function endOf(job: Stored<Job>, { succeeded, failed, active, startTime, nowMs }: Counts): End | undefined {
  const { completions, backoffLimit = 6 } = job.spec;
  if (failed > backoffLimit) {
    return { type: "Failed", reason: "BackoffLimitExceeded", message: "Job has reached the specified backoff limit" };
  }
  if ((deadlineInMs(job, startTime, nowMs) ?? 1) <= 0) {
    return { type: "Failed", reason: "DeadlineExceeded", message: "Job was active longer than specified deadline" };
  }
  const complete = completions === undefined ? succeeded > 0 && active === 0 : succeeded >= completions;
  const message = "Reached expected number of succeeded pods";
  return complete ? { type: "Complete", reason: "CompletionsReached", message } : undefined;
}

function deadlineInMs({ spec }: Stored<Job>, startTime: string | undefined, nowMs: number): number | undefined {
  const began = parseTime(startTime);
  if (spec.activeDeadlineSeconds === undefined || began === undefined) return undefined;
  return began + spec.activeDeadlineSeconds * 1_000 - nowMs;
}

/** After each failure the next pod waits twice as long: 10 s, 20 s, up to 10 min. */
function pauseAfter(failed: readonly Stored<Pod>[], nowMs: number): number {
  if (failed.length === 0) return 0;
  const last = Math.max(...failed.map(endedAt).map((at) => at ?? nowMs));
  return last + Math.min(10_000 * 2 ** (failed.length - 1), 600_000) - nowMs;
}

function endedAt({ status, metadata }: Stored<Pod>): number | undefined {
  const ends = (status?.containerStatuses ?? []).map(({ state }) => parseTime(state?.terminated?.finishedAt));
  return ends.find((end) => end !== undefined) ?? parseTime(metadata.deletionTimestamp) ?? parseTime(metadata.creationTimestamp);
}

function goesInMs({ spec, status }: Stored<Job>, nowMs: number): number | undefined {
  const end = status?.conditions?.find(({ type }) => type === "Complete" || type === "Failed")?.lastTransitionTime;
  const endedAt = parseTime(end);
  if (spec.ttlSecondsAfterFinished === undefined || endedAt === undefined) return undefined;
  return endedAt + spec.ttlSecondsAfterFinished * 1_000 - nowMs;
}

/** The final condition is preceded by SuccessCriteriaMet or FailureTarget, which newer clients wait for. */
function conditionsOf({ spec, status }: Stored<Job>, end: End | undefined, nowMs: number): readonly Condition[] | undefined {
  const before: readonly Condition[] = status?.conditions ?? [];
  const at = formatTime(nowMs);
  const say = (conditions: readonly Condition[], words: Omit<Condition, "lastTransitionTime">) => {
    const after = setCondition(conditions, words, nowMs);
    return after.map((each) => (each.type === words.type && !("lastProbeTime" in each) ? { ...each, lastProbeTime: at } : each));
  };
  if (end !== undefined) {
    const { type, reason, message } = end;
    const first = type === "Complete" ? "SuccessCriteriaMet" : "FailureTarget";
    return [first, type].reduce<readonly Condition[]>(
      (all, each) => say(all, { type: each, status: "True", reason, message }),
      before,
    );
  }
  if (spec.suspend) return say(before, { type: "Suspended", status: "True", reason: "JobSuspended", message: "Job suspended" });
  if (hasCondition(before, "Suspended"))
    return say(before, { type: "Suspended", status: "False", reason: "JobResumed", message: "Job resumed" });
  return before.length === 0 ? undefined : before;
}
