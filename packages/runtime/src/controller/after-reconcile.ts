// What follows a reconcile: the one place where an outcome or an error becomes a decision of the loop. Pure, so that it
// can be argued with row by row:
//
//     done, waitForChange        nothing, until something changes
//     checkAgainIn               again after that time
//     ConflictError              somebody was faster: again at once, from a fresh look; nobody needs to hear of it.
//                                (But if an apply conflicts with another manager of the field, it always will: refused)
//     429                        again after the back-off, and not before the server wants to be asked
//     403, 422                   again after a minute, then two, up to 16; people are told (promise A1: never a hot loop)
//     PermanentError and kin     nothing, until something changes; people are told
//     anything else              again after the back-off: 50 ms, doubling up to 5 minutes
//     stopping                   nothing: whoever starts next looks at everything anyway
import { ConflictError, ForbiddenError, InvalidError, TooManyRequestsError } from "../client/errors.ts";
import { type BackoffOptions, delayFor } from "../concurrency/backoff.ts";
import { AccessNotDeclaredError } from "../schema/errors.ts";
import { PermanentError } from "./errors.ts";
import type { ReconcileResult } from "./metrics.ts";
import type { Outcome } from "./outcome.ts";

/** How a reconcile ended. */
export type Ending =
  | { readonly outcome: Outcome }
  /** `failures`: how often in a row it had failed before. */
  | { readonly error: unknown; readonly failures: number; readonly stopping: boolean };

export interface Verdict {
  /** When to look again; undefined: when something changes. */
  readonly againInMs?: number;
  /** Whether the failures of this key go on to be counted, and its delays to grow. */
  readonly failed: boolean;
  /** What the metrics call it; undefined: not counted. */
  readonly result?: ReconcileResult;
  readonly log: "debug" | "warn" | "error";
  /** Repeating it does not help, somebody has to do something: worth an Event and a condition. */
  readonly stuck: boolean;
}

const conflictBackoff: BackoffOptions = { initialMs: 5, maxMs: 1_000, jitter: 1 };
const errorBackoff: BackoffOptions = { initialMs: 50, maxMs: 300_000, jitter: 0.2 };
const refusedBackoff: BackoffOptions = { initialMs: 60_000, maxMs: 960_000, jitter: 0.2 };

/** Somebody who loses every race for this long has more than bad luck. */
const suspiciousConflicts = 10;

export function afterReconcile(ending: Ending, random: () => number): Verdict {
  if ("outcome" in ending) return afterOutcome(ending.outcome);
  const { error, failures } = ending;
  if (ending.stopping) return { failed: false, log: "debug", stuck: false };
  if (error instanceof ConflictError && !isContested(error)) {
    const log = failures < suspiciousConflicts ? "debug" : "warn";
    return { againInMs: delayFor(failures, conflictBackoff, random), failed: true, result: "requeue", log, stuck: false };
  }
  const failure = { failed: true, result: "error", log: "error" } as const;
  if (isPermanent(error)) return { ...failure, failed: false, stuck: true };
  if (isRefused(error)) return { ...failure, againInMs: delayFor(failures, refusedBackoff, random), stuck: true };
  const againInMs = Math.max(delayFor(failures, errorBackoff, random), patienceOf(error));
  return { ...failure, againInMs, stuck: false };
}

function afterOutcome(outcome: Outcome): Verdict {
  const well = { failed: false, log: "debug", stuck: false } as const;
  if (outcome.kind !== "checkAgain") return { ...well, result: "success" };
  return { ...well, result: "requeue_after", againInMs: outcome.inMs };
}

function isPermanent(error: unknown): boolean {
  return error instanceof PermanentError || error instanceof AccessNotDeclaredError;
}

/** The server understood and said no. Rights and quotas change without our being told, so it is asked again, rarely. */
function isRefused(error: unknown): boolean {
  return error instanceof ForbiddenError || error instanceof InvalidError || isContested(error);
}

/** Server-side apply met another manager that owns a field we want. */
function isContested(error: unknown): boolean {
  return error instanceof ConflictError && error.causes.some(({ reason }) => reason === "FieldManagerConflict");
}

function patienceOf(error: unknown): number {
  if (!(error instanceof TooManyRequestsError)) return 0;
  return Math.min((error.retryAfterSeconds ?? 0) * 1_000, errorBackoff.maxMs); // who asks for days does not mean us
}
