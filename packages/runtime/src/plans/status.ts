// The progress of plans, as a part of the status of an object: the schema that the resource includes, and its columns.
//
//     status: z.object({ plans: plansStatus() }),
//     columns: [...planColumns],
//
// Everything that a decision depends on is an enum, a number or a time. Messages are for people.
import { z } from "zod";
import type { FieldColumn } from "../schema/custom-resource-definition.ts";
import type { Immutable } from "../schema/define-resource.ts";
import { keyedList, preserveUnknown } from "../schema/fields.ts";

const stepStates = ["Pending", "Running", "Retrying", "Done", "Failed"] as const;

const runStates = ["NeverRun", "Running", "Succeeded", "Failed", "Superseded"] as const;

const triggers = ["Created", "Changed", "Annotation", "Deleted"] as const;
export type Trigger = (typeof triggers)[number];

const time = () => z.iso.datetime().optional();
const name = () => z.string().min(1).max(63);

/** The longest message in the status; longer ones are cut. */
export const maxMessageLength = 1_024;
/** The longest summary: one message, with the names of a plan and a step. */
export const maxSummaryLength = 1_280;

const stepStatus = z.object({
  name: name().describe("Name of the step."),
  state: z.enum(stepStates).describe("Pending, Running, Retrying after an error, Done, or Failed for good."),
  reason: z
    .enum(["StepError", "StepFailed", "DeadlineExceeded", "PlanEnded"])
    .optional()
    .describe("Why the step is retried, has failed, or was not finished."),
  message: z.string().max(maxMessageLength).optional().describe("What the step waits for, or its last error."),
  attempts: z.int().min(0).optional().describe("Number of attempts that ended with an error."),
  startedAt: time().describe("When the step started."),
  finishedAt: time().describe("When the step was done or failed."),
  deadline: time().describe("The step fails if it is not done by then."),
  nextAttemptAt: time().describe("When a step that is retried runs again."),
});

const runStatus = z.object({
  name: name().describe("Name of the plan."),
  state: z
    .enum(runStates)
    .describe("NeverRun, Running, Succeeded, Failed until it is triggered again, or Superseded by another run or a deletion."),
  number: z.int().min(0).describe("Number of runs so far, this one included."),
  id: z.string().max(63).optional().describe("Identifies the run; part of the names of objects that belong to one run."),
  trigger: z.enum(triggers).optional().describe("What started the run."),
  annotation: z.string().max(256).optional().describe("Value of the annotation that was handled last."),
  fields: z.array(z.string().max(253)).max(32).optional().describe("Fields of the spec that trigger the plan."),
  values: preserveUnknown().optional().describe("Values of the fields that trigger the plan, as this run uses them."),
  settled: preserveUnknown().optional().describe("The same values as of the last run that succeeded."),
  startedAt: time().describe("When the run started."),
  finishedAt: time().describe("When the run ended."),
  deadline: time().describe("The plan fails if it is not done by then."),
  steps: keyedList(stepStatus, "name").max(64).optional().describe("Progress of each step."),
});

/** The schema of `status.plans`. */
export function plansStatus() {
  return z
    .object({
      active: z.string().max(63).optional().describe("Name of the plan that is running."),
      summary: z.string().max(maxSummaryLength).optional().describe("Which step waits for what, or how the last plan ended."),
      runs: keyedList(runStatus, "name").max(32).optional().describe("The last run of each plan."),
    })
    .optional()
    .describe("Progress of plans.");
}

/** For `kubectl get`; the sentence about the current step appears with `-o wide`. */
export const planColumns: readonly FieldColumn[] = [
  { name: "Plan", path: ".status.plans.active" },
  { name: "Progress", path: ".status.plans.summary", priority: 1 },
];

export type StepStatus = Immutable<z.output<typeof stepStatus>>;
export type RunStatus = Immutable<z.output<typeof runStatus>>;
export type PlansStatus = NonNullable<Immutable<z.output<ReturnType<typeof plansStatus>>>>;
