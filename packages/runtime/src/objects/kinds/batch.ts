// Work that ends: batch/v1.
import type { Kind, KubernetesObject } from "../object.ts";
import type { Condition, LabelSelector, ObjectReference, TemplateMeta, Time } from "./common.ts";
import type { PodTemplateSpec } from "./core/pod.ts";
import { namespacedKind } from "./kind.ts";

/** Pods that run to completion: `batch/v1` `jobs`. */
export interface Job extends KubernetesObject {
  readonly spec: JobSpec;
  readonly status?: JobStatus;
}
export const Job: Kind<Job> = namespacedKind("batch/v1", "Job", "jobs");

export interface JobSpec {
  readonly template: PodTemplateSpec;
  readonly parallelism?: number;
  readonly completions?: number;
  readonly completionMode?: "NonIndexed" | "Indexed";
  readonly backoffLimit?: number;
  readonly backoffLimitPerIndex?: number;
  readonly maxFailedIndexes?: number;
  readonly activeDeadlineSeconds?: number;
  readonly ttlSecondsAfterFinished?: number;
  readonly suspend?: boolean;
  readonly selector?: LabelSelector;
  readonly manualSelector?: boolean;
  readonly managedBy?: string;
  readonly podFailurePolicy?: { readonly rules: readonly Readonly<Record<string, unknown>>[] };
  readonly podReplacementPolicy?: "TerminatingOrFailed" | "Failed";
  readonly successPolicy?: {
    readonly rules: readonly { readonly succeededCount?: number; readonly succeededIndexes?: string }[];
  };
}

export interface JobStatus {
  readonly active?: number;
  readonly ready?: number;
  readonly succeeded?: number;
  readonly failed?: number;
  readonly terminating?: number;
  readonly completedIndexes?: string;
  readonly failedIndexes?: string;
  readonly startTime?: Time;
  readonly completionTime?: Time;
  /** Types in use: Complete, Failed, Suspended, SuccessCriteriaMet, FailureTarget. */
  readonly conditions?: readonly (Condition & { readonly lastProbeTime?: Time })[];
  readonly uncountedTerminatedPods?: { readonly succeeded?: readonly string[]; readonly failed?: readonly string[] };
}

/** Jobs by the clock: `batch/v1` `cronjobs`. */
export interface CronJob extends KubernetesObject {
  readonly spec: CronJobSpec;
  readonly status?: CronJobStatus;
}
export const CronJob: Kind<CronJob> = namespacedKind("batch/v1", "CronJob", "cronjobs");

export interface CronJobSpec {
  readonly schedule: string;
  readonly timeZone?: string;
  readonly jobTemplate: { readonly metadata?: TemplateMeta; readonly spec: JobSpec };
  readonly concurrencyPolicy?: "Allow" | "Forbid" | "Replace";
  readonly startingDeadlineSeconds?: number;
  readonly suspend?: boolean;
  readonly successfulJobsHistoryLimit?: number;
  readonly failedJobsHistoryLimit?: number;
}

export interface CronJobStatus {
  readonly active?: readonly ObjectReference[];
  readonly lastScheduleTime?: Time;
  readonly lastSuccessfulTime?: Time;
}
