// CronJobs: creates Jobs on a schedule (cron.ts) and keeps a limited history.
//
// A Job is named after its scheduled minute, so a controller that crashes after creating it does not create it twice.
import {
  AlreadyExistsError,
  allow,
  apiVersionOf,
  controller,
  done,
  hasCondition,
  Job,
  type Outcome,
  ownerReferenceTo,
  requeueAfter,
  type Stored,
} from "@memhog/runtime";
import { CronJob, type CronJobStatus, type ObjectReference } from "@memhog/runtime/kinds";
import { formatTime, parseTime } from "@memhog/runtime/objects";
import { nextTime, parseSchedule } from "./cron.ts";
import { isFinished } from "./jobs.ts";
import { isBeingDeleted, report, stated } from "./workload.ts";

export const cronJobs = controller(
  CronJob,
  { name: "cronjob", owns: [Job], permissions: [allow(CronJob, "update", { subresource: "status" })] },
  async (ref, ctx): Promise<Outcome> => {
    const cronJob = ctx.get(CronJob, ref);
    if (cronJob === undefined || isBeingDeleted(cronJob)) return done();
    const jobs = ctx.list(Job, { ownedBy: cronJob });
    const decision = decideCronJob(cronJob, jobs, ctx.clock.now());
    for (const job of decision.remove) {
      await ctx.client.delete(Job, job.metadata, { uid: job.metadata.uid, propagationPolicy: "Background" });
      ctx.event(cronJob, { reason: "SuccessfulDelete", message: `Deleted job ${job.metadata.name}` });
    }
    for (const job of decision.ended) {
      const condition = hasCondition(job.status?.conditions, "Complete") ? "Complete" : "Failed";
      ctx.event(cronJob, {
        reason: "SawCompletedJob",
        message: `Saw completed job: ${job.metadata.name}, condition: ${condition}`,
      });
    }
    if (decision.skipped) {
      const message = "Not starting job because prior execution is running and concurrency policy is Forbid";
      ctx.event(cronJob, { reason: "JobAlreadyActive", message });
    }
    const made: ObjectReference[] = [];
    if (decision.startAt !== undefined) {
      try {
        const job = await ctx.client.create(Job, jobFor(cronJob, decision.startAt));
        made.push(referenceTo(job));
        ctx.event(cronJob, { reason: "SuccessfulCreate", message: `Created job ${job.metadata.name}` });
      } catch (error) {
        if (!(error instanceof AlreadyExistsError)) throw error;
      }
    }
    const active = [...(decision.status.active ?? []), ...made];
    const status = stated<CronJobStatus>({ ...decision.status, active: active.length === 0 ? undefined : active });
    await report(cronJob, status, (next) => ctx.client.update(CronJob, next, { subresource: "status" }));
    return decision.nextInMs === undefined ? done() : requeueAfter(decision.nextInMs, "that is when the next job is due");
  },
);

interface CronDecision {
  /** The scheduled time of the Job to create, in milliseconds since 1970. */
  readonly startAt?: number;
  /** A Job is due while another still runs. */
  readonly skipped: boolean;
  readonly remove: readonly Stored<Job>[];
  /** Jobs that have finished since the last status. */
  readonly ended: readonly Stored<Job>[];
  /** Without the Job that is created now. */
  readonly status: CronJobStatus;
  readonly nextInMs?: number;
}

export function decideCronJob(cronJob: Stored<CronJob>, jobs: readonly Stored<Job>[], nowMs: number): CronDecision {
  const { spec, status = {} } = cronJob;
  const running = jobs.filter((job) => !isFinished(job) && !isBeingDeleted(job));
  const ended = jobs.filter((job) => isFinished(job) && status.active?.some(({ uid }) => uid === job.metadata.uid));
  const { due, next } = spec.suspend ? {} : dueTimes(cronJob, nowMs);
  const skipped = due !== undefined && spec.concurrencyPolicy === "Forbid" && running.length > 0;
  const startAt = skipped ? undefined : due;
  const replaced = startAt !== undefined && spec.concurrencyPolicy === "Replace" ? running : [];
  const active = running.filter((job) => !replaced.includes(job)).map(referenceTo);
  return {
    ...(startAt !== undefined && { startAt }),
    ...(next !== undefined && { nextInMs: next - nowMs }),
    skipped,
    ended,
    remove: [...replaced, ...forgotten(cronJob, jobs)],
    status: stated<CronJobStatus>({
      active: active.length === 0 ? undefined : active,
      lastScheduleTime: startAt === undefined ? status.lastScheduleTime : formatTime(startAt),
      lastSuccessfulTime: latest([status.lastSuccessfulTime, ...jobs.map((job) => job.status?.completionTime)]),
    }),
  };
}

interface DueTimes {
  /** The last scheduled time since the last Job, unless startingDeadlineSeconds has passed. Earlier missed times are skipped. */
  readonly due?: number;
  readonly next?: number;
}

function dueTimes({ spec, status, metadata }: Stored<CronJob>, nowMs: number): DueTimes {
  const since = parseTime(status?.lastScheduleTime) ?? parseTime(metadata.creationTimestamp) ?? nowMs;
  const { startingDeadlineSeconds } = spec;
  const earliest = startingDeadlineSeconds === undefined ? since : Math.max(since, nowMs - startingDeadlineSeconds * 1_000);
  const schedule = parseSchedule(spec.schedule);
  let due: number | undefined;
  let next = nextTime(schedule, earliest, spec.timeZone);
  for (; next !== undefined && next <= nowMs; next = nextTime(schedule, next, spec.timeZone)) due = next;
  return { ...(due !== undefined && { due }), ...(next !== undefined && { next }) };
}

/** Finished Jobs beyond the history limit, oldest first. */
function forgotten({ spec }: Stored<CronJob>, jobs: readonly Stored<Job>[]): readonly Stored<Job>[] {
  const ended = jobs
    .filter((job) => isFinished(job) && !isBeingDeleted(job))
    .sort(
      (a, b) =>
        (parseTime(a.status?.startTime) ?? 0) - (parseTime(b.status?.startTime) ?? 0) ||
        (a.metadata.name < b.metadata.name ? -1 : 1),
    );
  const [good, bad] = [ended.filter(isComplete), ended.filter((job) => !isComplete(job))];
  const beyond = (all: readonly Stored<Job>[], limit: number) => all.slice(0, Math.max(0, all.length - limit));
  return [...beyond(good, spec.successfulJobsHistoryLimit ?? 3), ...beyond(bad, spec.failedJobsHistoryLimit ?? 1)];
}

const isComplete = ({ status }: Stored<Job>) => hasCondition(status?.conditions, "Complete");

function latest(times: readonly (string | undefined)[]): string | undefined {
  return times
    .filter((time) => time !== undefined)
    .sort()
    .at(-1);
}

function referenceTo({ metadata }: Stored<Job>): ObjectReference {
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    kind: Job.kind,
    ...(namespace !== undefined && { namespace }),
    name,
    uid,
    apiVersion: apiVersionOf(Job),
    resourceVersion,
  };
}

function jobFor(cronJob: Stored<CronJob>, atMs: number): Job {
  const { name, namespace } = cronJob.metadata;
  const { metadata, spec } = cronJob.spec.jobTemplate;
  const annotations = { ...metadata?.annotations, "batch.kubernetes.io/cronjob-scheduled-timestamp": formatTime(atMs) };
  return {
    metadata: {
      name: `${name}-${Math.floor(atMs / 60_000)}`,
      ...(namespace !== undefined && { namespace }),
      ...(metadata?.labels && { labels: metadata.labels }),
      annotations,
      ownerReferences: [ownerReferenceTo(cronJob, CronJob)],
    },
    spec,
  };
}
