// Carries out what progress.ts decides: writes the status, then calls the steps, then writes what became of them. It holds no state,
// so a crash anywhere is a reconcile that ended early: the next one, in any replica, reads the status and continues.
//
// `status.plans` has a field manager of its own, so that `setStatus` of the reconcile function and plans do not remove each other's
// fields. Every write carries the resourceVersion of the object that it was computed from: of two leaders, one gets a conflict.
import { ConflictError } from "../client/errors.ts";
import type { Clock, Logger } from "../concurrency/environment.ts";
import type { DesiredChild } from "../controller/children.ts";
import type { EventInput } from "../controller/context.ts";
import { asDeclared } from "../controller/controller.ts";
import { TerminalError } from "../controller/errors.ts";
import { awaitChange, done, type Outcome, requeueAfter } from "../controller/outcome.ts";
import { equals } from "../objects/diff.ts";
import type { Kind, Stored } from "../objects/object.ts";
import { parseTime } from "../objects/time.ts";
import { type StepCheck, waiting } from "./checks.ts";
import type { Planned, PlanRun, Step } from "./plan.ts";
import { stepsIn } from "./plan.ts";
import {
  type Advanced,
  type AnyPlan,
  type Attempt,
  activeRun,
  begin,
  findRun,
  isPast,
  type Observed,
  record,
} from "./progress.ts";
import type { PlansStatus, RunStatus, StepStatus } from "./status.ts";

/** How far the plans of an object are. */
export interface Progress {
  /** For the reconcile function to return: when a step has to be looked at again. */
  readonly outcome: Outcome;
  /** `status.plans` as it is now stored. */
  readonly plans: PlansStatus;
  /** The plan that is running; undefined if none is. */
  readonly running: string | undefined;
}

/** What the executor uses of the context of any controller. */
interface PlanContext {
  readonly client: {
    apply(kind: Kind, object: object, options: object): Promise<Stored<Planned>>;
  };
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  applyChildren(owner: Stored<Planned>, children: readonly DesiredChild[]): Promise<void>;
  event(object: Stored<Planned>, event: EventInput): void;
}

interface Work {
  readonly kind: Kind;
  readonly plans: readonly AnyPlan[];
  readonly ctx: PlanContext;
}

export type Advance = (object: Stored<Planned>, ctx: unknown) => Promise<Progress>;

/** A function that advances the plans of one object. */
export function executor(kind: Kind, plans: readonly AnyPlan[]): Advance {
  return (object, ctx) => advance({ kind, plans, ctx: asDeclared(ctx as object) }, object);
}

async function advance(work: Work, from: Stored<Planned>): Promise<Progress> {
  const { plans, ctx } = work;
  let object = await persist(work, from, begin(plans, plansOf(from), observed(from, ctx)));
  for (;;) {
    const before = plansOf(object);
    const run = activeRun(before);
    const plan = plans.find(({ name }) => name === run?.name);
    if (run === undefined || plan === undefined) break;
    const { results, conflict } = await attemptAll(ctx, object, plan, run);
    const recorded = record(plans, before, results, ctx.clock.now());
    const next = begin(plans, recorded.status, observed(object, ctx)); // the next plan starts with the write that ends this one
    object = await persist(work, object, { ...next, events: [...recorded.events, ...next.events] });
    if (conflict !== undefined) throw conflict;
    if (!startedMore(run, activeRun(plansOf(object)))) break;
  }
  return progressOf(work, plansOf(object));
}

const plansOf = ({ status }: Planned): PlansStatus => status?.plans ?? {};

function observed({ metadata, spec }: Stored<Planned>, { clock }: PlanContext): Observed {
  const { uid, annotations = {}, deletionTimestamp } = metadata;
  return { uid, spec, annotations, deleting: deletionTimestamp !== undefined, nowMs: clock.now() };
}

/** Writes the status unless it is already stored, then records the Events. */
async function persist({ kind, ctx }: Work, object: Stored<Planned>, { status, events }: Advanced): Promise<Stored<Planned>> {
  if (equals(status, object.status?.plans)) return object;
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const metadata = { name, ...(namespace !== undefined && { namespace }), uid, resourceVersion };
  const options = { fieldManager: `${kind.kind.toLowerCase()}-plans`, force: true, subresource: "status" };
  const answer = await ctx.client.apply(kind, { metadata, status: { plans: status } }, options);
  for (const event of events) ctx.event(object, event);
  // Not the answer itself: the cache may hold a projection of the object, and steps are typed for that.
  return { ...object, metadata: { ...object.metadata, resourceVersion: answer.metadata.resourceVersion }, status: { ...object.status, plans: status } }; // biome-ignore format: one value
}

/** Whether there is a step to attempt that was not there before. */
function startedMore(before: RunStatus, after: RunStatus | undefined): boolean {
  if (after === undefined) return false;
  if (before.id !== after.id) return true;
  const had = new Set(before.steps?.filter(({ state }) => state !== "Pending").map(({ name }) => name));
  return after.steps?.some(({ name, state }) => state === "Running" && !had.has(name)) ?? false;
}

type AnyStep = Step<never, never, never>;

interface Attempts {
  readonly results: ReadonlyMap<string, Attempt>;
  /** Somebody else changed an object that a step wanted to write: not a failure of the step. The loop reads again and retries at once. */
  readonly conflict: ConflictError | undefined;
}

async function attemptAll(ctx: PlanContext, object: Stored<Planned>, plan: AnyPlan, run: RunStatus): Promise<Attempts> {
  const results = new Map<string, Attempt>();
  let conflict: ConflictError | undefined;
  const attempt = async (step: AnyStep, status: StepStatus) => {
    try {
      const result = await attemptStep(ctx, object, { step, status, run });
      if (result !== undefined) results.set(step.name, result);
    } catch (error) {
      ctx.signal.throwIfAborted(); // stopping, or out of time: says nothing about the step
      if (error instanceof ConflictError) conflict = error;
      else if (isDue(status, ctx)) results.set(step.name, resultOf(ctx, step, error));
    }
  };
  const working = stepsIn(plan.steps).flatMap((step) => {
    const status = run.steps?.find(({ name }) => name === step.name);
    return status?.state === "Running" || status?.state === "Retrying" ? [{ step, status }] : [];
  });
  await Promise.all(working.map(({ step, status }) => attempt(step, status)));
  return { results, conflict };
}

function resultOf({ log }: PlanContext, { name }: AnyStep, err: unknown): Attempt {
  const message = err instanceof Error ? err.message : String(err);
  log.warn({ err, step: name }, "step failed");
  return err instanceof TerminalError ? { kind: "failed", message } : { kind: "error", message };
}

/** Undefined: a step that is retried later, and whose condition is not met yet. */
async function attemptStep(
  ctx: PlanContext,
  object: Stored<Planned>,
  { step, status, run }: { readonly step: AnyStep; readonly status: StepStatus; readonly run: RunStatus },
): Promise<Attempt | undefined> {
  const { apply, run: work, doneWhen } = step;
  const [obj, context, planRun] = [asDeclared(object), asDeclared(ctx), asDeclared(runFor(run))];
  const check = async () => checkOf(step, await doneWhen?.(obj, context, planRun));
  if (doneWhen !== undefined) {
    const result = await check();
    if (result.kind !== "waiting" || isPast(status.deadline, ctx.clock.now())) return result;
  }
  if (!isDue(status, ctx))
    return isPast(status.deadline, ctx.clock.now()) ? { kind: "error", message: status.message ?? "" } : undefined;
  if (apply !== undefined) await ctx.applyChildren(object, apply(obj, context, planRun));
  await work?.(obj, context, planRun);
  return doneWhen === undefined ? { kind: "met" } : check();
}

function checkOf({ name }: AnyStep, answer: boolean | StepCheck | undefined): StepCheck {
  if (typeof answer !== "boolean" && answer !== undefined) return answer;
  return answer === true ? { kind: "met" } : waiting(`the condition of ${name}`);
}

function isDue({ nextAttemptAt }: StepStatus, { clock }: PlanContext): boolean {
  return nextAttemptAt === undefined || isPast(nextAttemptAt, clock.now());
}

function runFor({ id = "", number, trigger = "Created", annotation, values = {}, settled = {} }: RunStatus): PlanRun<object> {
  return { id, number, trigger, annotation: trigger === "Annotation" ? annotation : undefined, values, previous: settled };
}

/** When to look again: at the next attempt, poll or deadline, whichever comes first. */
function progressOf({ plans, ctx }: Work, status: PlansStatus): Progress {
  const run = activeRun(status);
  if (run === undefined) return { outcome: done(), plans: status, running: undefined };
  const reason = status.summary ?? run.name;
  const now = ctx.clock.now();
  const polls = new Map(stepsIn(plans.find(({ name }) => name === run.name)?.steps ?? noSteps).map((s) => [s.name, s.pollMs]));
  const working = (run.steps ?? []).filter(({ state }) => state === "Running" || state === "Retrying");
  const times = [run.deadline, ...working.flatMap(({ deadline, nextAttemptAt }) => [deadline, nextAttemptAt])].map(parseTime);
  const waits = times.filter((time) => time !== undefined).map((time) => Math.max(0, time - now));
  const all = [...waits, ...working.map(({ name }) => polls.get(name)).filter((ms) => ms !== undefined)];
  const outcome = all.length === 0 ? awaitChange(reason) : requeueAfter(Math.min(...all), reason);
  return { outcome, plans: status, running: run.name };
}

const noSteps = { kind: "serial", blocks: [] } as const;

/** Keeps a deleted object until every plan with `onDelete` has succeeded. */
export async function cleanUp(
  plans: readonly AnyPlan[],
  advance: Advance,
  object: Stored<Planned>,
  ctx: unknown,
): Promise<Outcome> {
  const { outcome, plans: status } = await advance(object, ctx);
  const unfinished = plans.find(({ name, onDelete }) => onDelete === true && findRun(status, name)?.state !== "Succeeded");
  if (unfinished !== undefined) return outcome.kind === "done" ? awaitChange(status.summary ?? unfinished.name) : outcome;
  // The object is newer than our copy if this reconcile wrote its status, and the finalizer is removed by a compare-and-swap.
  return equals(status, object.status?.plans) ? done() : requeueAfter(0, "the cleanup has succeeded");
}
