// What follows, from the status of the plans and what is observed. Pure: no clock, no client.
//
//     begin     supersedes a run that must not continue, and starts the first plan that is triggered
//     record    adds the results of an attempt to the running plan: steps are done, wait, are retried, or fail; the next ones start
//     summary   one sentence about all of it
//
// A run that starts and a step that becomes Running are intents: the executor writes them before it acts on them.
import { createHash } from "node:crypto";
import { delayFor } from "../concurrency/backoff.ts";
import type { EventInput } from "../controller/context.ts";
import { equals } from "../objects/diff.ts";
import { formatDuration, formatTime, parseTime } from "../objects/time.ts";
import type { StepCheck } from "./checks.ts";
import { summaryOf } from "./explain.ts";
import type { Block, PlanDefinition } from "./plan.ts";
import { stepsIn } from "./plan.ts";
import { maxMessageLength, type PlansStatus, type RunStatus, type StepStatus, type Trigger } from "./status.ts";

export type AnyPlan = PlanDefinition<never, never, never>;
type AnyBlock = Block<never, never, never>;

/** What decides which plan starts. */
export interface Observed {
  readonly uid: string;
  readonly spec: object;
  readonly annotations: Readonly<Record<string, string>>;
  readonly deleting: boolean;
  /** Wall-clock time, because it is compared with times in the status. */
  readonly nowMs: number;
}

export interface Advanced {
  readonly status: PlansStatus;
  /** To be recorded after the status is written. */
  readonly events: readonly EventInput[];
}

/** The result of one attempt at a step. */
export type Attempt = StepCheck | { readonly kind: "error"; readonly message: string };

/** Errors of a step are retried after 1 s, 2 s, … 5 min. */
const retries = { initialMs: 1_000, maxMs: 300_000 };

/** Starts the first plan that is triggered, unless one is running that may continue. */
export function begin(plans: readonly AnyPlan[], before: PlansStatus, seen: Observed): Advanced {
  const events: EventInput[] = [];
  let runs = plans.map((plan) => aligned(plan, findRun(before, plan.name), seen));
  const active = plans.findIndex((_, at) => runs[at]?.state === "Running");
  const [plan, run] = [plans[active], runs[active]];
  if (plan !== undefined && run !== undefined) {
    const why = supersededBy(plan, run, seen);
    if (why === undefined) return { status: statusOf(runs), events };
    runs = runs.with(active, ended(run, "Superseded", seen.nowMs));
    events.push({ reason: "PlanSuperseded", message: `Plan ${plan.name} stopped: ${why}` });
  }
  const next = plans.findIndex((candidate, at) => triggerOf(candidate, runs[at], seen) !== undefined);
  const [starting, last] = [plans[next], runs[next]];
  if (starting === undefined || last === undefined) return { status: statusOf(runs), events };
  const trigger = triggerOf(starting, last, seen) ?? "Created";
  runs = runs.with(next, started(starting, last, trigger, seen));
  events.push({ reason: "PlanStarted", message: `Plan ${starting.name} started: ${reasonText(starting, trigger)}` });
  return { status: statusOf(runs), events };
}

function supersededBy(plan: AnyPlan, run: RunStatus, seen: Observed): string | undefined {
  if (seen.deleting && plan.onDelete !== true) return "the object is being deleted";
  const changed = plan.whenChanged === "restart" && triggerOf(plan, run, seen) === "Changed";
  return changed ? `${plan.onChange?.join(" or ")} changed` : undefined;
}

/** What triggers a plan, given its last run. An annotation counts first, so that its value is handled once. */
export function triggerOf(plan: AnyPlan, last: RunStatus | undefined, seen: Observed): Trigger | undefined {
  if (seen.deleting !== (plan.onDelete === true)) return undefined;
  const annotation = annotationOf(plan, seen);
  if (annotation !== undefined && annotation !== last?.annotation) return "Annotation";
  const never = last === undefined || last.number === 0;
  if (plan.onDelete === true) return never ? "Deleted" : undefined;
  if (plan.onCreate === true && never) return "Created";
  return plan.onChange !== undefined && !equals(valuesOf(plan, seen), last?.values ?? {}) ? "Changed" : undefined;
}

/** The value of the annotation; its hash if it is too long for the status. */
function annotationOf({ onAnnotation }: AnyPlan, { annotations }: Observed): string | undefined {
  const value = onAnnotation === undefined ? undefined : annotations[onAnnotation];
  return value === undefined || value.length <= 256 ? value : createHash("sha256").update(value).digest("hex");
}

type Values = Record<string, unknown>;

/** The fields of the spec that trigger the plan. Fields that are not set are missing. */
function valuesOf({ onChange = [] }: AnyPlan, { spec }: Observed): Values {
  return pick({ ...spec }, onChange);
}

function pick(values: Values, names: readonly string[]): Values {
  return Object.fromEntries(names.filter((name) => values[name] !== undefined).map((name) => [name, values[name]]));
}

/**
 * The last run of a plan, as this version of the program defines the plan. Steps can have come and gone. A field that triggers the
 * plan since this version has its current value as a baseline: an update of the operator is not a change of the spec.
 */
function aligned(plan: AnyPlan, last: RunStatus | undefined, seen: Observed): RunStatus {
  const run: RunStatus = { ...(last ?? { name: plan.name, state: "NeverRun", number: 0 }), ...baseline(plan, last, seen) };
  if (run.state !== "Running") return run;
  const steps = stepsIn(plan.steps).map(({ name }) => run.steps?.find((step) => step.name === name) ?? pending(name));
  return { ...run, steps };
}

function baseline(plan: AnyPlan, last: RunStatus | undefined, seen: Observed): Pick<RunStatus, "fields" | "values" | "settled"> {
  const fields = plan.onChange;
  if (fields === undefined) return {};
  const added = pick(
    valuesOf(plan, seen),
    fields.filter((name) => last?.fields?.includes(name) !== true),
  );
  const [values, settled] = [last?.values, last?.settled].map((before) => pick({ ...before, ...added }, fields));
  return { fields: [...fields], values: values ?? {}, settled: settled ?? {} };
}

const pending = (name: string): StepStatus => ({ name, state: "Pending" });

function started(plan: AnyPlan, last: RunStatus, trigger: Trigger, seen: Observed): RunStatus {
  const number = last.number + 1;
  const annotation = annotationOf(plan, seen) ?? last.annotation;
  const { fields, settled = {} } = last;
  const run: RunStatus = {
    ...{ name: plan.name, state: "Running", number, trigger, id: idOf(seen.uid, plan.name, number) },
    ...(annotation !== undefined && { annotation }),
    ...(fields !== undefined && { fields, values: valuesOf(plan, seen), settled }),
    startedAt: formatTime(seen.nowMs),
    ...deadlineIn(plan.timeoutMs, seen.nowMs),
    steps: stepsIn(plan.steps).map(({ name }) => pending(name)),
  };
  return startReady(plan, run, seen.nowMs);
}

/** Differs for an object that was deleted and created again, or restored without its status. */
function idOf(uid: string, plan: string, number: number): string {
  return createHash("sha256").update(`${uid}/${plan}/${number}`).digest("hex").slice(0, 10);
}

/** Rounded up, because the status has seconds only: a limit is never shorter than stated. */
const secondsUp = (ms: number) => formatTime(Math.ceil(ms / 1_000) * 1_000);

const deadlineIn = (timeoutMs: number | undefined, nowMs: number) =>
  timeoutMs === undefined ? {} : { deadline: secondsUp(nowMs + timeoutMs) };

/** The steps that can run: of a serial phase the first that is not done, of a parallel one all. */
export function readySteps(block: AnyBlock, run: RunStatus): readonly string[] {
  if (block.kind === "step") {
    const { state } = run.steps?.find(({ name }) => name === block.name) ?? {};
    return state === "Done" || state === "Failed" ? [] : [block.name];
  }
  const ready = block.blocks.map((inner) => readySteps(inner, run));
  return block.kind === "parallel" ? ready.flat() : (ready.find((names) => names.length > 0) ?? []);
}

function startReady(plan: AnyPlan, run: RunStatus, nowMs: number): RunStatus {
  const ready = new Set(readySteps(plan.steps, run));
  const limits = new Map(stepsIn(plan.steps).map(({ name, timeoutMs }) => [name, timeoutMs]));
  const start = ({ name }: StepStatus): StepStatus => ({
    ...{ name, state: "Running", startedAt: formatTime(nowMs) },
    ...deadlineIn(limits.get(name), nowMs),
  });
  return {
    ...run,
    steps: run.steps?.map((step) => (step.state === "Pending" && ready.has(step.name) ? start(step) : step)) ?? [],
  };
}

/** Adds the results of attempts, by step, to the running plan. */
export function record(
  plans: readonly AnyPlan[],
  before: PlansStatus,
  results: ReadonlyMap<string, Attempt>,
  nowMs: number,
): Advanced {
  const run = activeRun(before);
  const plan = plans.find(({ name }) => name === run?.name);
  if (run === undefined || plan === undefined) return { status: before, events: [] };
  const steps = (run.steps ?? []).map((step) => afterAttempt(step, results.get(step.name), nowMs));
  const after = concluded(plan, { ...run, steps }, nowMs);
  const runs = before.runs?.map((other) => (other === run ? after : other)) ?? [];
  return { status: statusOf(runs), events: eventsOf(run, after) };
}

function afterAttempt(step: StepStatus, result: Attempt | undefined, nowMs: number): StepStatus {
  if (result === undefined) return step;
  const { name, startedAt, deadline, attempts } = step;
  const kept: StepStatus = { name, state: "Running", ...(startedAt && { startedAt }), ...(deadline && { deadline }) };
  const finished = { finishedAt: formatTime(nowMs), ...(attempts !== undefined && { attempts }) };
  if (result.kind === "met") return { ...kept, state: "Done", ...finished };
  const message = cut(result.message);
  if (result.kind === "failed") return { ...kept, state: "Failed", reason: "StepFailed", message, ...finished };
  if (isPast(deadline, nowMs)) {
    const last = result.kind === "error" ? `the last error was: ${result.message}` : `it still waits for ${result.message}`;
    return { ...kept, state: "Failed", reason: "DeadlineExceeded", message: cut(`not done in time: ${last}`), ...finished };
  }
  if (result.kind === "waiting") return { ...kept, message, ...(attempts !== undefined && { attempts }) };
  const nextAttemptAt = secondsUp(nowMs + delayFor(attempts ?? 0, retries, () => 0));
  return { ...kept, state: "Retrying", reason: "StepError", message, attempts: (attempts ?? 0) + 1, nextAttemptAt };
}

/** Ends the run if a step failed, its time is over or everything is done; starts the next steps otherwise. */
function concluded(plan: AnyPlan, run: RunStatus, nowMs: number): RunStatus {
  const steps = run.steps ?? [];
  if (steps.some(({ state }) => state === "Failed")) return ended(run, "Failed", nowMs);
  if (steps.every(({ state }) => state === "Done")) {
    const settled = run.values === undefined ? {} : { settled: run.values };
    return { ...ended(run, "Succeeded", nowMs), ...settled };
  }
  if (!isPast(run.deadline, nowMs)) return startReady(plan, run, nowMs);
  const late = new Set(readySteps(plan.steps, run));
  const expired = (step: StepStatus): StepStatus =>
    late.has(step.name) ? { ...step, state: "Failed", reason: "DeadlineExceeded", finishedAt: formatTime(nowMs) } : step;
  return ended({ ...run, steps: steps.map(expired) }, "Failed", nowMs);
}

function ended(run: RunStatus, state: RunStatus["state"], nowMs: number): RunStatus {
  const settle = (step: StepStatus): StepStatus =>
    step.state === "Done" || step.state === "Failed" ? step : { name: step.name, state: "Pending", reason: "PlanEnded" };
  return { ...run, state, finishedAt: formatTime(nowMs), steps: run.steps?.map(settle) ?? [] };
}

const cut = (message: string) => (message.length <= maxMessageLength ? message : `${message.slice(0, maxMessageLength - 1)}…`);

/** Whether this time has come. */
export function isPast(time: string | undefined, nowMs: number): boolean {
  const at = parseTime(time);
  return at !== undefined && at <= nowMs;
}

function eventsOf(before: RunStatus, after: RunStatus): readonly EventInput[] {
  const events = (after.steps ?? []).flatMap((step): readonly EventInput[] => {
    const earlier = before.steps?.find(({ name }) => name === step.name);
    const what = `Plan ${after.name}, step ${step.name}`;
    if (step.state === "Done" && earlier?.state !== "Done") return [{ reason: "StepDone", message: `${what} is done` }];
    if (step.state === "Retrying" && step.attempts !== earlier?.attempts)
      return [{ type: "Warning", reason: "StepRetrying", message: `${what} is retried: ${step.message}` }];
    if (step.state === "Failed")
      return [{ type: "Warning", reason: "PlanFailed", message: `${what} failed: ${step.message ?? step.reason}` }];
    return [];
  });
  const took = (parseTime(after.finishedAt) ?? 0) - (parseTime(after.startedAt) ?? 0);
  const succeeded = { reason: "PlanSucceeded", message: `Plan ${after.name} succeeded after ${formatDuration(took)}` };
  return after.state === "Succeeded" ? [...events, succeeded] : events;
}

function reasonText(plan: AnyPlan, trigger: Trigger): string {
  if (trigger === "Annotation") return `annotation ${plan.onAnnotation}`;
  if (trigger === "Changed") return `${plan.onChange?.join(" or ")} changed`;
  return trigger === "Created" ? "first run for this object" : "the object is being deleted";
}

function statusOf(runs: readonly RunStatus[]): PlansStatus {
  const active = runs.find(({ state }) => state === "Running")?.name;
  const summary = summaryOf(runs);
  return { ...(active !== undefined && { active }), ...(summary !== undefined && { summary }), runs };
}

export function findRun(status: PlansStatus, name: string): RunStatus | undefined {
  return status.runs?.find((run) => run.name === name);
}

export function activeRun(status: PlansStatus): RunStatus | undefined {
  return status.runs?.find(({ state }) => state === "Running");
}
