// Which failures may be tried again by the client itself. The rule is short: a read always; a write only if the server
// surely did nothing, because it never saw it or turned it away at the door (429). Everything else is the caller's to
// judge, who can read the world first.
//
//     what came back                        GET      writes
//     429                                   again    again (except evictions: there it means "not now", see below)
//     500 502 503 504                       again    no: it may have been committed
//     no answer, surely not sent            again    again
//     no answer, perhaps sent               again    no
//     no answer within the caller's time    no       no
import { type BackoffOptions, delayFor } from "../concurrency/backoff.ts";
import { TimeoutError, TransportError } from "./errors.ts";
import type { Method } from "./transport/transport.ts";

/**
 * A server that asks for more patience than this is asked again all the same: API servers ask for seconds, and what stands in front
 * of them may ask for days without meaning us.
 */
export const longestPatienceMs = 30_000;

/** Attempts in all, the first included. */
export const maxAttempts = 5;

const backoff: BackoffOptions = { initialMs: 200, maxMs: 5000, factor: 2, jitter: 0.5 };

const brokenServer: ReadonlySet<number> = new Set([500, 502, 503, 504]);

export interface Attempt {
  readonly method: Method;
  /** 1 for the first. */
  readonly number: number;
  /** A 429 is an answer to the caller (a disruption budget said no), not a matter of load. */
  readonly busyIsAnswer: boolean;
}

/** Milliseconds to wait before the next attempt after this answer; undefined: hand it to the caller. */
export function delayAfterAnswer(
  attempt: Attempt,
  answer: { readonly status: number; readonly retryAfterSeconds: number | undefined },
  random: () => number,
): number | undefined {
  if (attempt.number >= maxAttempts) return undefined;
  const again = answer.status === 429 ? !attempt.busyIsAnswer : attempt.method === "GET" && brokenServer.has(answer.status);
  if (!again) return undefined;
  const ownMs = delayFor(attempt.number - 1, backoff, random);
  return Math.max(ownMs, (answer.retryAfterSeconds ?? 0) * 1000);
}

/** The same after no answer at all. */
export function delayAfterError(attempt: Attempt, error: unknown, random: () => number): number | undefined {
  if (attempt.number >= maxAttempts || !(error instanceof TransportError) || error instanceof TimeoutError) return undefined;
  if (attempt.method !== "GET" && error.outcome !== "not-sent") return undefined;
  return delayFor(attempt.number - 1, backoff, random);
}
