// How a reconcile ends and what the loop does next. "Not yet" is an outcome, not an error, and every wait has a reason.
//
//     done, awaitChange         nothing, until something changes
//     requeueAfter              again after that time
//     ConflictError             the object changed between our read and our write: again at once, logged at debug level.
//                               (A server-side apply conflict with another field manager is treated like a 422.)
//     429                       again after the back-off, and not before the server's Retry-After
//     403, 422                  again after a minute, then two, up to 16; reported in an Event (A1: never a hot loop)
//     UnstableChildError        again when the child may be written again
//     TerminalError             nothing, until something changes; reported in an Event
//     anything else             again after the controller's back-off: by default 50 ms, doubling up to 5 minutes
//     stopping                  nothing: the next process reconciles everything
import { ConflictError, ForbiddenError, InvalidError, TooManyRequestsError } from "../client/errors.ts";
import { type BackoffOptions, delayFor } from "../concurrency/backoff.ts";
import { AccessNotDeclaredError } from "../schema/errors.ts";
import { TerminalError, UnstableChildError } from "./errors.ts";
import type { ReconcileResult } from "./metrics.ts";

export type Outcome =
  | { readonly kind: "done" }
  | { readonly kind: "requeueAfter"; readonly inMs: number; readonly reason: string }
  | { readonly kind: "awaitChange"; readonly reason: string };

/** The object is as desired; the next change triggers the next reconcile. */
export function done(): Outcome {
  return { kind: "done" };
}

/**
 * Reconciles again after this time, for state that no watch reports: `requeueAfter(minutes(1), "memory usage is sampled")`.
 * A change before that triggers a reconcile at once, as always.
 */
export function requeueAfter(milliseconds: number, reason: string): Outcome {
  return { kind: "requeueAfter", inMs: milliseconds, reason };
}

/** Waits for a change: `awaitChange("no pod has a memory limit")`. */
export function awaitChange(reason: string): Outcome {
  return { kind: "awaitChange", reason };
}

/** For logs and `explain`. */
export function describeOutcome(outcome: Outcome): string {
  if (outcome.kind === "done") return "done";
  if (outcome.kind === "awaitChange") return `waits for a change: ${outcome.reason}`;
  return `requeues after ${outcome.inMs / 1000} s: ${outcome.reason}`;
}

/** How a reconcile ended. */
export type Ending =
  | { readonly outcome: Outcome }
  /** `failures`: the number of consecutive failures before this one. */
  | { readonly error: unknown; readonly failures: number; readonly stopping: boolean };

/** What the loop does next. */
export interface NextStep {
  /** When to reconcile again; undefined: when something changes. */
  readonly againInMs?: number;
  /** Whether this counts as a failure of the key: the next delay is longer. */
  readonly failed: boolean;
  /** The label in the metrics; undefined: not counted. */
  readonly result?: ReconcileResult;
  readonly log: "debug" | "warn" | "error";
  /** A retry cannot succeed until a user acts. Reported in an Event and in the status. */
  readonly stuck: boolean;
}

const conflictBackoff: BackoffOptions = { initialMs: 5, maxMs: 1_000, jitter: 1 };
const rejectedBackoff: BackoffOptions = { initialMs: 60_000, maxMs: 960_000, jitter: 0.2 };

/** After this many consecutive conflicts, another writer probably reverts our writes: logged as a warning. */
const conflictsBeforeWarning = 10;

export function afterReconcile(ending: Ending, backoff: BackoffOptions, random: () => number): NextStep {
  if ("outcome" in ending) return afterOutcome(ending.outcome);
  const { error, failures } = ending;
  if (ending.stopping) return { failed: false, log: "debug", stuck: false };
  if (error instanceof ConflictError && !isContested(error)) {
    const log = failures < conflictsBeforeWarning ? "debug" : "warn";
    return { againInMs: delayFor(failures, conflictBackoff, random), failed: true, result: "requeue", log, stuck: false };
  }
  const failure = { failed: true, result: "error", log: "error" } as const;
  if (isTerminal(error)) return { ...failure, failed: false, stuck: true };
  if (isRejected(error)) return { ...failure, againInMs: delayFor(failures, rejectedBackoff, random), stuck: true };
  if (error instanceof UnstableChildError) return { ...failure, againInMs: error.retryAfterMs, log: "warn", stuck: false };
  const againInMs = Math.max(delayFor(failures, backoff, random), Math.min(retryAfterOf(error), backoff.maxMs));
  return { ...failure, againInMs, stuck: false };
}

function afterOutcome(outcome: Outcome): NextStep {
  const succeeded = { failed: false, log: "debug", stuck: false } as const;
  if (outcome.kind !== "requeueAfter") return { ...succeeded, result: "success" };
  return { ...succeeded, result: "requeue_after", againInMs: outcome.inMs };
}

function isTerminal(error: unknown): boolean {
  return error instanceof TerminalError || error instanceof AccessNotDeclaredError;
}

/** The server rejects the write. Permissions and quotas change without a watch event, so it is retried, rarely. */
function isRejected(error: unknown): boolean {
  return error instanceof ForbiddenError || error instanceof InvalidError || isContested(error);
}

/** Another field manager owns a field that server-side apply wants to set. */
function isContested(error: unknown): boolean {
  return error instanceof ConflictError && error.causes.some(({ reason }) => reason === "FieldManagerConflict");
}

/** Milliseconds that the server asks us to wait. */
function retryAfterOf(error: unknown): number {
  return error instanceof TooManyRequestsError ? (error.retryAfterSeconds ?? 0) * 1_000 : 0;
}
