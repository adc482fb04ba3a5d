// CronJobs: a Job whenever the clock says so (cron.ts), and only so many old ones kept.
//
// A Job is named by its minute: whoever crashes between making it and writing that down makes it only once.
import {
  AlreadyExistsError,
  apiVersionOf,
  CronJob,
  type CronJobStatus,
  checkAgainIn,
  controller,
  done,
  formatTime,
  hasCondition,
  Job,
  may,
  type ObjectReference,
  type Outcome,
  ownerReferenceTo,
  parseTime,
  type Stored,
} from "@memhog/runtime";
import { nextTime, parseSchedule } from "./cron.ts";
import { isFinished } from "./jobs.ts";
import { isGoing } from "./pods.ts";
import { report, stated } from "./status.ts";

export const cronJobs = controller(
  CronJob,
  { name: "cronjob", owns: [Job], may: [may(CronJob, "update", { subresource: "status" })] },
  async (ref, ctx): Promise<Outcome> => {
    const cronJob = ctx.get(CronJob, ref);
    if (cronJob === undefined || isGoing(cronJob)) return done();
    const jobs = ctx.list(Job, { ownedBy: cronJob });
    const decision = decideCronJob(cronJob, jobs, ctx.clock.now());
    for (const job of decision.remove) {
      await ctx.client.delete(Job, job.metadata, { uid: job.metadata.uid, propagationPolicy: "Background" });
      ctx.event(cronJob, { reason: "SuccessfulDelete", note: `Deleted job ${job.metadata.name}` });
    }
    for (const job of decision.ended) {
      const condition = hasCondition(job.status?.conditions, "Complete") ? "Complete" : "Failed";
      ctx.event(cronJob, { reason: "SawCompletedJob", note: `Saw completed job: ${job.metadata.name}, condition: ${condition}` });
    }
    if (decision.skipped) {
      const note = "Not starting job because prior execution is running and concurrency policy is Forbid";
      ctx.event(cronJob, { reason: "JobAlreadyActive", note });
    }
    const made: ObjectReference[] = [];
    if (decision.startAt !== undefined) {
      try {
        const job = await ctx.client.create(Job, jobFor(cronJob, decision.startAt));
        made.push(referenceTo(job));
        ctx.event(cronJob, { reason: "SuccessfulCreate", note: `Created job ${job.metadata.name}` });
      } catch (error) {
        if (!(error instanceof AlreadyExistsError)) throw error;
      }
    }
    const active = [...(decision.status.active ?? []), ...made];
    const status = stated<CronJobStatus>({ ...decision.status, active: active.length === 0 ? undefined : active });
    await report(cronJob, status, (next) => ctx.client.update(CronJob, next, { subresource: "status" }));
    return decision.nextInMs === undefined ? done() : checkAgainIn(decision.nextInMs, "that is when the next job is due");
  },
);

export interface CronDecision {
  /** The time whose Job is to be made, in milliseconds since 1970. */
  readonly startAt?: number;
  /** One is due, and another still runs. */
  readonly skipped: boolean;
  readonly remove: readonly Stored<Job>[];
  /** Those that have ended since they were last counted as active. */
  readonly ended: readonly Stored<Job>[];
  /** Without the one that is made now. */
  readonly status: CronJobStatus;
  readonly nextInMs?: number;
}

export function decideCronJob(cronJob: Stored<CronJob>, jobs: readonly Stored<Job>[], nowMs: number): CronDecision {
  const { spec, status = {} } = cronJob;
  const running = jobs.filter((job) => !isFinished(job) && !isGoing(job));
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
  /** The last time that has come since a Job was made, if it is not too late for it. Of several missed ones only the last counts. */
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

/** Ended Jobs beyond the number that is kept, the oldest first. */
function forgotten({ spec }: Stored<CronJob>, jobs: readonly Stored<Job>[]): readonly Stored<Job>[] {
  const ended = jobs
    .filter((job) => isFinished(job) && !isGoing(job))
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
