// Jobs and CronJobs.

import { DurationError, parseDuration } from "@memhog/runtime/objects";
import { type ApiObject, type Draft, type JsonObject, objectAt, parseTime, sameJson, valueAt } from "../json.ts";
import { type FieldError, invalid, required } from "../server/field-error.ts";
import { notImplemented } from "../server/status-error.ts";
import { ageColumn, ageOf, at, containerColumns, count, humanDuration, nameColumn, selectorText, text, wide } from "./columns.ts";
import type { Defaults } from "./defaults.ts";
import { builtIn, type KindEntry, type PrepareContext, status } from "./kind-entry.ts";
import { podSpecDefaults } from "./pod-template.ts";
import { podSpecErrors } from "./pod-validation.ts";
import { immutable, notNegativeFields, oneOf, selectorErrors } from "./validation.ts";

const unlessGiven = (other: string, value: number) => (spec: JsonObject) => (spec[other] === undefined ? value : undefined);

const template: Defaults = { "template!": { "spec!": podSpecDefaults } };

const jobTable: Defaults = {
  "spec!": {
    ...template,
    // With parallelism and without completions, the first success ends the Job. Otherwise completions defaults to 1.
    completions: unlessGiven("parallelism", 1),
    parallelism: 1,
    backoffLimit: 6,
    completionMode: "NonIndexed",
    suspend: false,
    manualSelector: false,
    podReplacementPolicy: "TerminatingOrFailed",
  },
};

/** A Job without a manual selector selects its pods by UID, so two Jobs with the same name never share pods. */
function prepareJob(draft: Draft, { old }: PrepareContext): void {
  const spec = objectAt(draft, "spec");
  if (old !== undefined || spec.manualSelector === true) return;
  const { uid = "", name = "" } = draft.metadata;
  const labels = {
    "batch.kubernetes.io/controller-uid": uid,
    "batch.kubernetes.io/job-name": name,
    "controller-uid": uid,
    "job-name": name,
  };
  const metadata = objectAt(spec, "template", "metadata");
  metadata.labels = { ...objectAt(metadata, "labels"), ...labels };
  draft.metadata.labels = { ...labels, ...draft.metadata.labels };
  spec.selector = { matchLabels: { "batch.kubernetes.io/controller-uid": uid } };
}

const endingPolicies = 'valid values: "OnFailure", "Never"';

/** Rejects fields that the simulated Job controller does not implement. @throws StatusError 501 */
function rejectUnimplemented(spec: JsonObject, field: string): void {
  const unknown = ["podFailurePolicy", "successPolicy"].find((name) => spec[name] !== undefined);
  if (spec.completionMode === "Indexed") throw notImplemented(`${field}.completionMode: Indexed`);
  if (unknown !== undefined) throw notImplemented(`${field}.${unknown}`);
}

function templateErrors(spec: JsonObject, field: string): readonly FieldError[] {
  rejectUnimplemented(spec, field);
  const podSpec = objectAt(spec, "template", "spec");
  const endless = podSpec.restartPolicy === "Always" || podSpec.restartPolicy === undefined;
  return [
    ...podSpecErrors(podSpec, `${field}.template.spec`),
    ...(endless ? [required(`${field}.template.spec.restartPolicy`, endingPolicies)] : []),
  ];
}

function jobErrors(job: ApiObject, old: ApiObject | undefined): readonly FieldError[] {
  const spec = objectAt(job, "spec");
  const suspended = valueAt(old, "spec", "suspend") === true;
  const fixed = [
    "selector",
    "completions",
    "completionMode",
    "podFailurePolicy",
    "managedBy",
    ...(suspended ? [] : ["template"]),
  ];
  return [
    ...notNegativeFields(spec, "spec", ["parallelism", "completions", "backoffLimit", "activeDeadlineSeconds"]),
    ...(old === undefined ? [] : selectorErrors(job, "job")),
    ...templateErrors(spec, "spec"),
    ...fixed.flatMap((field) => immutable(`spec.${field}`, job, old)),
  ];
}

function jobStatus(job: ApiObject): string {
  const conditions = objectAt(job, "status").conditions;
  const holds = (type: string) =>
    Array.isArray(conditions) && conditions.some((each) => each.type === type && each.status === "True");
  if (holds("Complete")) return "Complete";
  if (holds("Failed")) return "Failed";
  if (job.metadata.deletionTimestamp !== undefined) return "Terminating";
  if (holds("Suspended")) return "Suspended";
  return holds("FailureTarget") ? "FailureTarget" : holds("SuccessCriteriaMet") ? "SuccessCriteriaMet" : "Running";
}

function completionsText(job: ApiObject): string {
  const { completions, parallelism } = objectAt(job, "spec");
  const succeeded = valueAt(job, "status", "succeeded") ?? 0;
  if (completions !== undefined) return `${succeeded}/${completions}`;
  return Number(parallelism ?? 0) > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function durationText(job: ApiObject, now: number): string {
  const start = parseTime(valueAt(job, "status", "startTime"));
  if (start === undefined) return "";
  return humanDuration((parseTime(valueAt(job, "status", "completionTime")) ?? now) - start);
}

export const jobs: KindEntry = builtIn("batch", "v1", "Job", {
  categories: ["all"],
  generation: "spec",
  propagation: "Orphan",
  table: jobTable,
  prepare: prepareJob,
  validate: (job, old, { subresource }) => (subresource === undefined ? jobErrors(job, old) : []),
  selectableFields: { "status.successful": (job) => String(valueAt(job, "status", "succeeded") ?? 0) },
  columns: [
    nameColumn,
    text("Status", jobStatus),
    text("Completions", completionsText),
    text("Duration", durationText),
    ageColumn,
    ...containerColumns("spec", "template", "spec"),
    text("Selector", (job) => selectorText(valueAt(job, "spec", "selector")), wide),
  ],
  subresources: status,
});

function cronJobErrors(cronJob: ApiObject): readonly FieldError[] {
  const spec = objectAt(cronJob, "spec");
  return [
    ...cronErrors("spec.schedule", spec.schedule),
    ...oneOf("spec.concurrencyPolicy", spec.concurrencyPolicy, ["Allow", "Forbid", "Replace"]),
    ...notNegativeFields(spec, "spec", ["successfulJobsHistoryLimit", "failedJobsHistoryLimit", "startingDeadlineSeconds"]),
    ...templateErrors(objectAt(spec, "jobTemplate", "spec"), "spec.jobTemplate.spec"),
    ...(String(cronJob.metadata.name).length > 52 ? [invalid("metadata.name", cronJob.metadata.name, longNameText)] : []),
  ];
}

const longNameText = "must be no more than 52 characters";

export const cronJobs: KindEntry = builtIn("batch", "v1", "CronJob", {
  shortNames: ["cj"],
  categories: ["all"],
  generation: "spec",
  table: {
    "spec!": {
      concurrencyPolicy: "Allow",
      suspend: false,
      "jobTemplate!": { "spec!": template },
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    },
  },
  validate: (cronJob, old, { subresource }) =>
    subresource === undefined && !sameJson(cronJob.spec, old?.spec) ? cronJobErrors(cronJob) : [],
  columns: [
    nameColumn,
    text("Schedule", ".spec.schedule"),
    text("Timezone", at(".spec.timeZone", "<none>")),
    { name: "Suspend", type: "boolean", cell: (cronJob) => (valueAt(cronJob, "spec", "suspend") === true ? "True" : "False") },
    count("Active", "", { cell: (cronJob) => (objectAt(cronJob, "status").active as unknown[] | undefined)?.length ?? 0 }),
    text("Last Schedule", (cronJob, now) => {
      const last = valueAt(cronJob, "status", "lastScheduleTime");
      return last === undefined ? "<none>" : ageOf(String(last), now);
    }),
    ageColumn,
    ...containerColumns("spec", "jobTemplate", "spec", "template", "spec"),
    text("Selector", (cronJob) => selectorText(valueAt(cronJob, "spec", "jobTemplate", "spec", "selector")), wide),
  ],
  subresources: status,
});

// Validation of cron schedules. The controller evaluates them (controllers/cron.ts).

const macros = /^@(yearly|annually|monthly|weekly|daily|midnight|hourly)$/;
const ranges = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6],
] as const;
const names = /\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat)\b/gi;

/** Validates a schedule. The messages are those of the cron parser in the real controller. */
export function cronErrors(field: string, schedule: unknown): readonly FieldError[] {
  if (typeof schedule !== "string" || schedule === "") return [required(field)];
  if (macros.test(schedule)) return [];
  if (schedule.startsWith("@")) return descriptorErrors(field, schedule);
  const parts = schedule.trim().split(/\s+/);
  if (parts.length !== 5) {
    return [invalid(field, schedule, `expected exactly 5 fields, found ${parts.length}: [${parts.join(" ")}]`)];
  }
  const problem = parts.map((part, at) => partProblem(part, ranges[at] ?? [0, 0])).find((each) => each !== undefined);
  return problem === undefined ? [] : [invalid(field, schedule, problem)];
}

function descriptorErrors(field: string, schedule: string): readonly FieldError[] {
  if (!schedule.startsWith("@every ")) return [invalid(field, schedule, `unrecognized descriptor: ${schedule}`)];
  try {
    parseDuration(schedule.slice("@every ".length));
    return [];
  } catch (error) {
    if (!(error instanceof DurationError)) throw error;
    const why = `time: invalid duration ${JSON.stringify(schedule.slice("@every ".length))}`;
    return [invalid(field, schedule, `failed to parse duration ${schedule}: ${why}`)];
  }
}

function partProblem(part: string, [low, high]: readonly [number, number]): string | undefined {
  const numbers = part.replace(names, "1").split(",");
  for (const each of numbers) {
    const found = /^(?:\*|\?|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/.exec(each);
    if (found === null) return `failed to parse int from ${each}: strconv.Atoi: parsing "${each}": invalid syntax`;
    const [, from, to] = found;
    if (from !== undefined && Number(from) < low) return `beginning of range (${from}) below minimum (${low}): ${each}`;
    if (Number(to ?? from ?? low) > high) return `end of range (${to ?? from}) above maximum (${high}): ${each}`;
  }
  return undefined;
}
