// Plans for people: the sentence in the status, and a text for command lines.
import { formatDuration, parseTime } from "../objects/time.ts";
import { maxSummaryLength, type PlansStatus, type RunStatus, type StepStatus } from "./status.ts";

/** One sentence: about the running plan, otherwise about the one that ended last. Undefined if none has run. */
export function summaryOf(runs: readonly RunStatus[]): string | undefined {
  const endOf = ({ finishedAt }: RunStatus) => parseTime(finishedAt) ?? 0;
  const run =
    runs.find(({ state }) => state === "Running") ??
    runs.filter(({ number }) => number > 0).toSorted((a, b) => endOf(b) - endOf(a))[0];
  return run && sentenceOf(run).slice(0, maxSummaryLength);
}

function sentenceOf({ name, state, steps = [] }: RunStatus): string {
  if (state === "Succeeded") return `${name} succeeded`;
  if (state === "Superseded") return `${name} was stopped before its end`;
  const worst = steps.find((step) => step.state === (state === "Failed" ? "Failed" : "Retrying"));
  const step = worst ?? steps.find((other) => other.state === "Running");
  if (step === undefined) return `${name} is ${state === "Failed" ? "failed" : "running"}`;
  const done = steps.filter((other) => other.state === "Done").length;
  return `${name}: step ${step.name} ${progressOf(step)} (${done} of ${steps.length} steps done)`;
}

function progressOf({ state, reason, message }: StepStatus): string {
  if (state === "Failed") return `failed: ${message ?? reason}`;
  if (state === "Retrying") return `is retried: ${message}`;
  return message === undefined ? "is running" : `waits for ${message}`;
}

/**
 * Every plan of an object with its steps, for command lines.
 *
 *     upgrade: Running, run 2, Changed {"version":"15"} → {"version":"17"}, since 2026-11-18T06:00:00Z
 *       Done      back-up   took 42s
 *       Running   migrate   waits for Job orders-migrate to finish; fails at 2026-11-18T07:00:42Z
 *       Pending   restart
 */
export function explainPlans(status: PlansStatus | undefined): string {
  const runs = status?.runs ?? [];
  return runs.length === 0 ? "no plan has run" : runs.map(explainRun).join("\n");
}

function explainRun(run: RunStatus): string {
  if (run.number === 0) return `${run.name}: NeverRun`;
  const at = run.finishedAt === undefined ? `since ${run.startedAt}` : `ended at ${run.finishedAt}`;
  const head = [`${run.name}: ${run.state}`, `run ${run.number}`, causeOf(run), at, ...limitOf(run)].join(", ");
  const width = Math.max(0, ...(run.steps ?? []).map(({ name }) => name.length));
  return [head, ...(run.steps ?? []).map((step) => explainStep(step, width))].join("\n");
}

function causeOf({ trigger = "Created", annotation, values, settled, state }: RunStatus): string {
  if (trigger === "Annotation") return `Annotation "${annotation}"`;
  if (trigger !== "Changed") return trigger;
  return state === "Succeeded"
    ? `Changed to ${JSON.stringify(values)}`
    : `Changed ${JSON.stringify(settled)} → ${JSON.stringify(values)}`;
}

const limitOf = ({ deadline, state }: RunStatus) =>
  deadline !== undefined && state === "Running" ? [`fails at ${deadline}`] : [];

function explainStep(step: StepStatus, width: number): string {
  return `  ${step.state.padEnd(9)} ${step.name.padEnd(width)}   ${detailsOf(step)}`.trimEnd();
}

function detailsOf(step: StepStatus): string {
  if (step.state === "Pending") return step.reason === "PlanEnded" ? "not finished when the plan ended" : "";
  if (step.state === "Done")
    return `took ${formatDuration((parseTime(step.finishedAt) ?? 0) - (parseTime(step.startedAt) ?? 0))}`;
  const limits = step.deadline !== undefined && step.state !== "Failed" ? [`fails at ${step.deadline}`] : [];
  const retry = step.nextAttemptAt === undefined ? [] : [`attempt ${(step.attempts ?? 0) + 1} at ${step.nextAttemptAt}`];
  return [progressOf(step), ...retry, ...limits].join("; ");
}
