// Jobs and CronJobs.
import { type ApiObject, type Draft, type JsonObject, objectAt, sameJson, valueAt } from "../json.ts";
import { type FieldError, invalid, required } from "../server/field-error.ts";
import { notImplemented } from "../server/status-error.ts";
import { parseTime } from "../time.ts";
import { ageColumn, ageOf, at, containerColumns, count, humanDuration, nameColumn, selectorText, text, wide } from "./columns.ts";
import { cronErrors } from "./cron.ts";
import type { Defaults } from "./defaults.ts";
import type { KindEntry, PrepareContext } from "./kind-entry.ts";
import { podSpecDefaults } from "./pod-template.ts";
import { podSpecErrors } from "./pod-validation.ts";
import { builtIn, status } from "./row.ts";
import { immutable, notNegativeFields, oneOf, selectorErrors } from "./validation.ts";

const unlessGiven = (other: string, value: number) => (spec: JsonObject) => (spec[other] === undefined ? value : undefined);

const template: Defaults = { "template!": { "spec!": podSpecDefaults } };

const jobTable: Defaults = {
  "spec!": {
    ...template,
    // Either both are one, or, with a number of workers alone, the first to succeed ends the job.
    completions: unlessGiven("parallelism", 1),
    parallelism: 1,
    backoffLimit: 6,
    completionMode: "NonIndexed",
    suspend: false,
    manualSelector: false,
    podReplacementPolicy: "TerminatingOrFailed",
  },
};

/** Unless it brings its own, a job selects its pods by its UID: two jobs of one name never share pods. */
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

/** Parts of a Job that our controller would not heed. Guessing at what becomes of such a Job helps nobody. @throws StatusError 501 */
function mustBeKnown(spec: JsonObject, field: string): void {
  const unknown = ["podFailurePolicy", "successPolicy"].find((name) => spec[name] !== undefined);
  if (spec.completionMode === "Indexed") throw notImplemented(`${field}.completionMode: Indexed`);
  if (unknown !== undefined) throw notImplemented(`${field}.${unknown}`);
}

function templateErrors(spec: JsonObject, field: string): readonly FieldError[] {
  mustBeKnown(spec, field);
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
