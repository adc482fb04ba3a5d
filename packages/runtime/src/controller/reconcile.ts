// One reconcile from the outside: called with a time limit, and whatever it does comes back as a value. A reconciler that
// ignores its signal is left behind: its context no longer works, so it can do no harm, and its worker goes on.
import { abortable, timeoutSignal } from "../concurrency/abort.ts";
import type { Logger } from "../concurrency/logger.ts";
import type { ObjectRef } from "../objects/object.ts";
import { afterReconcile, type Ending, type Verdict } from "./after-reconcile.ts";
import { PermanentError } from "./errors.ts";
import type { ReconcileRecord } from "./explain.ts";
import { finalize } from "./finalizer.ts";
import { cachedObjects } from "./open-caches.ts";
import { describeOutcome, type Outcome } from "./outcome.ts";
import type { PendingWrites } from "./pending-writes.ts";
import { Run, type Workshop } from "./run.ts";
import { setStatus } from "./status.ts";

export interface Task {
  readonly workshop: Workshop;
  readonly key: string;
  readonly ref: ObjectRef;
  readonly log: () => Logger;
  readonly writes: PendingWrites;
  readonly failures: number;
  /** Aborts what is under way: the operator stops. */
  readonly stopping: AbortSignal;
  random(): number;
}

export interface Result {
  readonly ending: Ending;
  readonly verdict: Verdict;
  readonly record: Pick<ReconcileRecord, "read" | "wrote" | "notes" | "ended">;
}

/** Never rejects. */
export async function reconcileOnce(task: Task): Promise<Result> {
  const { workshop, key, failures, stopping } = task;
  const { timeoutMs } = workshop.controller.plan;
  using limit = timeoutSignal({ clock: workshop.clock, timeoutMs, signal: stopping, what: `reconcile of ${key}` });
  const run = new Run({ ...task, limit: limit.signal });
  let ending: Ending;
  try {
    ending = { outcome: await abortable(attempt(task, run), limit.signal) };
  } catch (error) {
    ending = { error, failures, stopping: stopping.aborted };
  }
  const verdict = afterReconcile(ending, () => task.random());
  if (verdict.stuck && "error" in ending) await tell(task, run, ending.error);
  run.end();
  return { ending, verdict, record: { ...run.record(), ended: describeEnding(ending) } };
}

async function attempt({ workshop, ref }: Task, run: Run): Promise<Outcome> {
  const { finalizer, reconcile } = workshop.controller.plan;
  const object = finalizer === undefined ? undefined : run.cacheOf(run.kind).get(ref);
  if (finalizer !== undefined && object !== undefined) {
    const demanded = await finalize(run, object, finalizer.name, () => finalizer.cleanUp(object, run.context));
    if (demanded !== undefined) return checked(demanded);
  }
  return checked(await reconcile(ref, run.context));
}

/** Past the compiler: a forgotten return, or a time that is none (`Date.parse("soon")`), which would be due for ever. */
function checked(outcome: Outcome | undefined): Outcome {
  if (outcome?.kind === undefined)
    throw new PermanentError(`expected the reconciler to return an outcome like done(), found ${outcome}`);
  if (outcome.kind === "checkAgain" && !Number.isFinite(outcome.inMs))
    throw new PermanentError(`checkAgainIn(…, "${outcome.reason}"): expected a number of milliseconds, found ${outcome.inMs}`);
  return outcome;
}

/** What people have to do something about reaches them where they look: as an Event, and in the status. */
async function tell({ workshop, ref, log }: Task, run: Run, error: unknown): Promise<void> {
  const object = workshop.cacheOf(run.kind).get(ref);
  if (object === undefined) return;
  const failure = error instanceof Error ? error : new Error(String(error));
  run.event(object, { type: "Warning", reason: "ReconcileFailed", note: failure.message });
  const { whenStuck } = workshop.controller.plan;
  if (whenStuck === undefined) return;
  try {
    await setStatus(run, object, whenStuck(failure, object, cachedObjects(workshop.cacheOf)));
  } catch (err) {
    log().warn({ err }, "the status could not say that the object is stuck");
  }
}

function describeEnding(ending: Ending): string {
  if ("outcome" in ending) return describeOutcome(ending.outcome);
  const { error } = ending;
  if (ending.stopping) return "given up: stopping";
  const code = (error as { code?: unknown } | null)?.code;
  return `failed: ${typeof code === "string" ? `${code}: ` : ""}${error instanceof Error ? error.message : String(error)}`;
}
