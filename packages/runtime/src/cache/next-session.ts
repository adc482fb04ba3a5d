// Decides what a reflector does after a session has ended: resume or list, at once or after the back-off, and in which way to list.
// Every case below was observed. The times of a cache are at the end of this file.

import { longestPatienceMs } from "../client/call.ts";
import {
  AnswerError,
  ApiError,
  ExpiredError,
  IdleWatchError,
  InvalidError,
  NotFoundError,
  ServerTimeoutError,
  TimeoutError,
  TooManyRequestsError,
  TransportError,
} from "../client/errors.ts";
import type { BackoffOptions } from "../concurrency/backoff.ts";

/** The server's data is older than what this cache has already seen. */
export class RestoredError extends Error {
  readonly code = "CACHE_SERVER_RESTORED";
  override readonly name = "RestoredError";

  constructor(seen: string, found: string) {
    super(
      `expected the server to be at version ${seen} or later, found it at ${found} → it was restored from a backup: listing again`,
    );
  }
}

/** How to list: in one response ("scan"), as watch events ("stream"), or page by page ("pages"). */
export type Listing = "scan" | "stream" | "pages";

/** How a session ended. */
export interface SessionEnd {
  /** Undefined if the server closed the watch at its time limit. */
  readonly error?: unknown;
  /** How the session was listing when it ended. Undefined if it was watching. */
  readonly listing?: Listing | undefined;
  readonly lastedMs: number;
  /** Whether anything arrived: an object of a list, an event or a bookmark. */
  readonly received: boolean;
  /** It resumed a watch from a version of an earlier session. Otherwise it listed first. */
  readonly resumed: boolean;
  /** How long the watch was open; 0 if the server never accepted it. */
  readonly openMs: number;
  /** The server accepted a watch with a time limit below `idleMs` and then sent nothing, not even the end of the response. */
  readonly silent: boolean;
}

/** What the reflector does next. */
export interface NextSession {
  /** "resume": watch from the last version seen. "list": the server cannot resume from that version, so list again. */
  readonly from: "resume" | "list";
  /** "later": after the back-off, which grows with each failure. */
  readonly when: "at once" | "later";
  /** The delay the server asked for (Retry-After). */
  readonly atLeastMs?: number;
  /** Upper bound of the back-off. */
  readonly atMostMs?: number;
  /**
   * How to list this time, if the previous way failed. The list after that starts with the fastest way again: this costs one
   * request, and one response cut off by a proxy does not slow the cache down for good.
   * @default "scan"
   */
  readonly listBy?: Listing;
}

/** Reopening a watch that ended sooner than this without a delay would be a hot loop. */
const tooShortMs = 1_000;

/** A watch that was open for this long had a working connection, even if no event arrived. */
const longEnoughMs = 10_000;

/** Decides what follows the end of a session. */
export function afterSession(end: SessionEnd): NextSession {
  if (end.listing !== undefined) return afterListing(end);
  const { error } = end;
  if (error instanceof RestoredError) return { from: "list", when: "at once" };
  // A reflector that was waiting for the server has waited already. Only a version from a fresh list can be expired again and again.
  if (error instanceof ExpiredError && end.resumed) return { from: "list", when: "at once" };
  // A kind may have no events. But if a watch does not even end at its time limit, something on the path drops data. The next watch
  // may do the same, so list.
  if (error instanceof IdleWatchError && end.silent) return { from: "list", when: unlessTooShort(end) };
  if (error === undefined || isSilence(error)) return { from: "resume", when: unlessTooShort(end) };
  if (error instanceof TransportError && hadWorked(end)) return { from: "resume", when: "at once" };
  if (error instanceof TransportError && end.openMs >= tooShortMs) return { from: "resume", when: "later", atMostMs: end.openMs };
  return { from: isLost(error) ? "list" : "resume", when: "later", ...patience(error) };
}

function afterListing(end: SessionEnd): NextSession {
  const { error } = end;
  if (end.listing === "stream" && cannotStream(error)) return { from: "list", when: "at once", listBy: "pages" };
  const when = isSilence(error) ? unlessTooShort(end) : "later";
  if (end.listing === "scan" && wasCut(end)) return { from: "list", when, listBy: "stream" };
  return { from: "list", when, ...patience(error) };
}

/** The client gave up because nothing arrived. It has already waited, so a back-off would only add delay. */
function isSilence(error: unknown): boolean {
  return error instanceof IdleWatchError || error instanceof TimeoutError;
}

function unlessTooShort({ lastedMs }: SessionEnd): NextSession["when"] {
  return lastedMs < tooShortMs ? "later" : "at once";
}

/**
 * A working connection broke, so the next one most likely works too. If it does not, it is short, and the reflector backs off.
 * Load balancers cut idle connections, so a quiet watch may never receive an event. Behind one with a short timeout the cache is
 * connected at least half of the time, because no delay is longer than the previous watch was open.
 */
function hadWorked({ lastedMs, received, openMs }: SessionEnd): boolean {
  return received ? lastedMs >= tooShortMs : openMs >= longEnoughMs;
}

/** The list was cut off or could not be parsed. Waiting alone does not help. */
function wasCut({ error, received }: SessionEnd): boolean {
  return error instanceof AnswerError || (error instanceof TransportError && received);
}

/** Whether the server can no longer resume from the last version seen. */
function isLost(error: unknown): boolean {
  if (error instanceof ExpiredError) return true; // the history was compacted, or the server restarted
  if (error instanceof NotFoundError) return true; // the kind itself was deleted
  if (error instanceof ServerTimeoutError) return isFromTheFuture(error);
  return error instanceof ApiError && error.status === 400; // the server will reject the same version again
}

/** The server is behind the version of this cache: it was restored from a backup, or it lags, and then listing does no harm. */
function isFromTheFuture(error: ServerTimeoutError): boolean {
  return error.causes.some(({ reason }) => reason === "ResourceVersionTooLarge");
}

/**
 * Servers without streaming lists respond with 422 or 400. Older ones ignore the parameter and start a watch that never marks the
 * list as complete, so it ends idle or at its time limit.
 */
function cannotStream(error: unknown): boolean {
  if (error === undefined || error instanceof IdleWatchError || error instanceof InvalidError) return true;
  return error instanceof ApiError && error.status === 400;
}

function patience(error: unknown): Pick<NextSession, "atLeastMs"> {
  if (!(error instanceof TooManyRequestsError) || error.retryAfterSeconds === undefined) return {};
  return { atLeastMs: Math.min(error.retryAfterSeconds * 1_000, longestPatienceMs) };
}

/**
 * The times of a cache. They follow from what API servers do, and from W3 (docs/invariants.md): a cache is correct again within a
 * minute after a fault has ended. When it ends, a reflector may be waiting for one of these, never for two in a row:
 *
 *     57 s    a watch whose connection is dead          `idleMs`
 *     40 s    a request without a response              four times `answerMs`, see reflector.ts
 *     37.5 s  the delay after an error                  `backoff`, with all of its jitter
 */
export interface ReflectorTiming {
  /** A watch on which nothing arrives for this long is closed. */
  readonly idleMs: number;
  /** How long to wait for the response headers of a watch or scan. Doubles with each timeout, up to four times this. */
  readonly answerMs: number;
  /** `timeoutSeconds` of a watch if the previous one had no events; below `idleMs`, see reflector.ts. */
  readonly quietTimeoutSeconds: number;
  /** `timeoutSeconds` of any other watch; a random value from this to twice this. */
  readonly timeoutSeconds: number;
  /** How long a cache may be disconnected before it is stale. */
  readonly toleranceMs: number;
  /** How often to list again, in case a proxy lost an event. */
  readonly relistMs: number;
  /** Objects per page where lists cannot be streamed. Small, because parsing a page blocks the event loop. */
  readonly pageSize: number;
  /** If a mark is not reached for this long, the cache lists again. */
  readonly overdueMs: number;
  readonly backoff: BackoffOptions;
}

export const defaultTiming: ReflectorTiming = {
  idleMs: 57_000,
  answerMs: 10_000,
  quietTimeoutSeconds: 52,
  timeoutSeconds: 300,
  toleranceMs: 30_000,
  relistMs: 3_600_000,
  pageSize: 100,
  overdueMs: 10_000,
  backoff: { initialMs: 800, maxMs: 30_000, factor: 2, jitter: 0.25, resetAfterMs: 120_000 },
};
