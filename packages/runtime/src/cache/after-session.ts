// A reflector lives in sessions: one connection each, from its opening to its end, however it ended. This file decides
// what comes next, and nothing else; every row is a fault somebody met.
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
import { longestPatienceMs } from "../client/retry.ts";

/** The server has not come as far as we have: its data are older than what it has told us. */
export class RestoredError extends Error {
  readonly code = "CACHE_SERVER_RESTORED";
  override readonly name = "RestoredError";

  constructor(seen: string, found: string) {
    super(`expected the server to be at version ${seen} or later, found it at ${found} → it was restored: everything is listed`);
  }
}

/** How everything is listed: in one answer, streamed as events, or page by page. */
export type Listing = "scan" | "stream" | "pages";

/** How a session ended. */
export interface SessionEnd {
  /** Undefined: the server closed the stream, as it does after some minutes. */
  readonly error?: unknown;
  /** It was still listing. Undefined: it was watching from a known version. */
  readonly listing?: Listing | undefined;
  readonly lastedMs: number;
  /** Something arrived in it: an object of a listing, an event or a bookmark. */
  readonly heard: boolean;
  /** How long the watch had been open: accepted by the server. 0: it never was. */
  readonly openMs: number;
  /** The server had accepted the watch, was to end it before it could be silent for too long, and nothing came of it. */
  readonly mute: boolean;
}

/** What to do now. */
export interface NextSession {
  /** "resume": go on from the last version seen. "list": that version is of no use any more, list everything again. */
  readonly from: "resume" | "list";
  /** "at once": the end was ordinary. "later": after the back-off, which grows. */
  readonly when: "at once" | "later";
  /** The server asked for at least this much patience. */
  readonly atLeastMs?: number;
  /** The back-off is to be no longer than this. */
  readonly atMostMs?: number;
  /**
   * The server could not list in the way it was asked to, or behaved as if it could not: another way this time. The next
   * listing begins with the fastest again; it costs one call, and a proxy that cut an answer does not cost us speed for ever.
   * @default "scan"
   */
  readonly listBy?: Listing;
}

/** A watch that ends sooner than this was no watch: reopening it at once would be a hot loop. */
const tooShortMs = 1_000;

/** A watch that was open for so long had a line that worked, even if there was nothing to say. */
const longEnoughMs = 10_000;

export function afterSession(end: SessionEnd): NextSession {
  if (end.listing !== undefined) return afterListing(end);
  const { error } = end;
  if (error instanceof RestoredError) return { from: "list", when: "at once" };
  // A kind may be quiet, but a watch that did not even end as it was asked to had something between us that swallows what is
  // said; the next one may be no better, so what is true is listed.
  if (error instanceof IdleWatchError && end.mute) return { from: "list", when: unlessTooShort(end) };
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

/** Nothing came for so long that we gave up: that was the wait, and another one on top would only make us later. */
function isSilence(error: unknown): boolean {
  return error instanceof IdleWatchError || error instanceof TimeoutError;
}

function unlessTooShort({ lastedMs }: SessionEnd): NextSession["when"] {
  return lastedMs < tooShortMs ? "later" : "at once";
}

/**
 * A connection that worked was torn: the next one most likely works too. If not, it is short, and we wait. (Load balancers
 * tear what is idle; behind one of them a quiet watch never lives to hear anything. Behind one that is in a hurry we are
 * connected half of the time: no pause is longer than the watch before it was open.)
 */
function hadWorked({ lastedMs, heard, openMs }: SessionEnd): boolean {
  return heard ? lastedMs >= tooShortMs : openMs >= longEnoughMs;
}

/** A part of the list came, and then no more; or all of it, and it made no sense. Waiting alone does not help. */
function wasCut({ error, heard }: SessionEnd): boolean {
  return error instanceof AnswerError || (error instanceof TransportError && heard);
}

/** The version we would resume from means nothing to the server any more. */
function isLost(error: unknown): boolean {
  if (error instanceof ExpiredError) return true; // the history has been compacted, or the server has restarted
  if (error instanceof NotFoundError) return true; // the kind itself is gone; whatever comes back is new
  if (error instanceof ServerTimeoutError) return isFromTheFuture(error);
  return error instanceof ApiError && error.status === 400; // what the server cannot read, it will not read next time
}

/** The server is behind the version we have: it was restored from a backup (or lags: then listing does no harm). */
function isFromTheFuture(error: ServerTimeoutError): boolean {
  return error.causes.some(({ reason }) => reason === "ResourceVersionTooLarge");
}

/**
 * Servers without streaming lists say 422 or 400. Older ones do not know the question: they ignore it and start a watch
 * that never says that the list is complete, so it ends idle, or by its own time limit.
 */
function cannotStream(error: unknown): boolean {
  if (error === undefined || error instanceof IdleWatchError || error instanceof InvalidError) return true;
  return error instanceof ApiError && error.status === 400;
}

function patience(error: unknown): Pick<NextSession, "atLeastMs"> {
  if (!(error instanceof TooManyRequestsError) || error.retryAfterSeconds === undefined) return {};
  return { atLeastMs: Math.min(error.retryAfterSeconds * 1_000, longestPatienceMs) };
}
