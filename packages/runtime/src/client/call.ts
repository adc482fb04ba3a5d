// Makes one call: waits for the rate limit, sends the request, retries where that is safe, all within one deadline. Returns the
// response or throws an error that says what happened.
import { abortable, anySignal } from "../concurrency/abort.ts";
import { type BackoffOptions, delayFor } from "../concurrency/backoff.ts";
import type { Clock, Environment } from "../concurrency/environment.ts";
import { TokenBucket } from "../concurrency/token-bucket.ts";
import type { CallOptions, Observer } from "./client.ts";
import { TimeoutError, TransportError } from "./errors.ts";
import { refusalOf, retryAfterOf, warningsIn } from "./response.ts";
import {
  type Method,
  type Transport,
  type TransportRequest,
  type TransportResponse,
  textOf,
  UnansweredError,
} from "./transport/transport.ts";

export interface Call {
  /** For error messages: "create Pod default/web". */
  readonly attempt: string;
  readonly request: Omit<TransportRequest, "signal" | "stream" | "chunks">;
  readonly options: CallOptions;
  /** Return a 429 to the caller instead of retrying: a disruption budget forbids an eviction. @default false */
  readonly busyIsAnswer?: boolean;
  /** Make one attempt only: for callers with their own backoff. @default false */
  readonly once?: boolean;
}

export interface Caller {
  /** The text of a 2xx response. @throws ApiError, TransportError, or the reason of the caller's signal */
  text(call: Call): Promise<string>;
  /** The body of a 2xx response as it arrives. The deadline applies until it starts; the signal until it ends. */
  stream(call: Call): Promise<AsyncIterable<Uint8Array>>;
  /** Like `stream`, for a finite response. Returns text if the transport cannot stream. */
  chunks(call: Call): Promise<AsyncIterable<Uint8Array> | string>;
}

export interface CallTools {
  readonly transport: Transport;
  readonly environment: Environment;
  readonly lanes: Lanes;
  readonly observer: Observer;
  /** The default for calls without `timeoutMs`. */
  readonly timeoutMs: number;
}

export function makeCaller(tools: CallTools): Caller {
  return {
    text: async (call) => textOf(await withinTime(call, tools)),
    chunks: async (call) => (await withinTime(call, tools, "chunks")).body,
    stream: async (call) => {
      const { body } = await withinTime(call, tools, "stream");
      if (typeof body === "string") throw new TypeError(`${call.attempt}: expected the transport to stream, found text`);
      return body;
    },
  };
}

/** The state of a call between attempts. */
interface Progress {
  readonly signal: AbortSignal;
  readonly deadline: number;
  /** Whether the server may have received the current attempt. */
  sent: boolean;
  /** The error of the previous attempt. */
  lastError?: unknown;
}

/** How the body is returned, if not as text. */
type Flow = "stream" | "chunks" | undefined;

async function withinTime(call: Call, tools: CallTools, flow?: Flow): Promise<TransportResponse> {
  const { clock } = tools.environment;
  const timeoutMs = call.options.timeoutMs ?? tools.timeoutMs;
  const timeout = new AbortController();
  const linked = anySignal([call.options.signal, timeout.signal]);
  const cancel = clock.after(timeoutMs, () => timeout.abort(new UnansweredError(call.attempt, timeoutMs)));
  const progress: Progress = { signal: linked.signal, deadline: clock.monotonic() + timeoutMs, sent: false };
  try {
    linked.signal.throwIfAborted();
    return await untilAnswered(call, tools, flow, progress);
  } catch (error) {
    linked[Symbol.dispose]();
    if (call.options.signal?.aborted) throw call.options.signal.reason;
    throw timeout.signal.aborted ? timedOut(timeout.signal.reason, progress) : error;
  } finally {
    cancel();
    // A stream continues after this and keeps its signal, which belongs to the caller and is short-lived (watch.ts).
    if (flow === undefined) linked[Symbol.dispose]();
  }
}

function timedOut({ message }: UnansweredError, { sent, lastError }: Progress): TimeoutError {
  const before = lastError instanceof Error ? ` (an attempt before: ${lastError.message})` : "";
  const remedy = sent ? "whether the server acted is unknown: read before assuming" : "it was never sent";
  return new TimeoutError(`${message}${before} → ${remedy}`, { outcome: sent ? "unknown" : "not-sent", cause: lastError });
}

async function untilAnswered(call: Call, tools: CallTools, flow: Flow, progress: Progress): Promise<TransportResponse> {
  const { environment, lanes } = tools;
  const lane = lanes.of(call);
  for (let number = 1; ; number += 1) {
    progress.sent = false;
    await lane.take(progress.signal);
    progress.sent = true;
    const attempt: Attempt = { method: call.request.method, number, busyIsAnswer: call.busyIsAnswer === true };
    const { response, error, delayMs } = await attemptOnce(call, tools, flow, progress.signal, attempt);
    if (response !== undefined) return response;
    // If the deadline passes before the next attempt, report the error now instead of a timeout later.
    if (call.once || delayMs === undefined || environment.clock.monotonic() + delayMs >= progress.deadline) throw error;
    progress.sent = false;
    progress.lastError = error;
    await environment.clock.sleep(delayMs, progress.signal);
  }
}

interface Result {
  readonly response?: TransportResponse;
  readonly error?: unknown;
  readonly delayMs?: number | undefined;
}

async function attemptOnce(call: Call, tools: CallTools, flow: Flow, signal: AbortSignal, attempt: Attempt): Promise<Result> {
  const { clock, random } = tools.environment;
  const began = clock.monotonic();
  const report = (status: number | undefined) => {
    const { method, path } = call.request;
    tools.observer.called?.({ method, path, status, durationMs: clock.monotonic() - began, attempt: attempt.number });
  };
  let response: TransportResponse;
  try {
    // `abortable`, so that the deadline holds even if a transport ignores its signal.
    response = await abortable(tools.transport.request({ ...call.request, signal, ...(flow && { [flow]: true }) }), signal);
  } catch (error) {
    report(undefined);
    return { error, delayMs: delayAfterError(attempt, error, random) };
  }
  const { status, headers } = response;
  report(status);
  for (const text of warningsIn(headers)) tools.observer.warned?.({ attempt: call.attempt, text });
  if (status >= 200 && status < 300) return { response };
  const retryAfterSeconds = retryAfterOf(headers);
  // A 429 concerns all calls of the client, so pause the whole lane.
  if (status === 429 && !attempt.busyIsAnswer)
    tools.lanes.of(call).pause(Math.min((retryAfterSeconds ?? 0) * 1000, longestPatienceMs));
  const error = refusalOf(call.attempt, { status, headers, body: textOf(response) });
  return { error, delayMs: delayAfterAnswer(attempt, { status, retryAfterSeconds }, random) };
}

// Which failures the client retries: a read always; a write only if the server certainly did nothing, because it never received the
// request or rejected it without processing (429). For all other failures, the caller decides after reading the current state.
//
//     result                                GET      writes
//     429                                   retry    retry (except evictions, where a disruption budget causes it)
//     500 502 503 504                       retry    no: the write may be committed
//     no response, not sent                 retry    retry
//     no response, may be sent              retry    no
//     no response before the deadline       no       no

/**
 * The longest Retry-After that the client respects. API servers ask for seconds; a proxy in front of them may ask for days.
 */
export const longestPatienceMs = 30_000;

/** Including the first attempt. */
export const maxAttempts = 5;

const backoff: BackoffOptions = { initialMs: 200, maxMs: 5000, factor: 2, jitter: 0.5 };

const brokenServer: ReadonlySet<number> = new Set([500, 502, 503, 504]);

export interface Attempt {
  readonly method: Method;
  /** 1 for the first attempt. */
  readonly number: number;
  /** A 429 is the result of the call (a disruption budget forbids the eviction), not a sign of overload. */
  readonly busyIsAnswer: boolean;
}

/** Milliseconds before the next attempt after this response; undefined: do not retry. */
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

/** Milliseconds before the next attempt after a failure without a response; undefined: do not retry. */
export function delayAfterError(attempt: Attempt, error: unknown, random: () => number): number | undefined {
  if (attempt.number >= maxAttempts || !(error instanceof TransportError) || error instanceof TimeoutError) return undefined;
  if (attempt.method !== "GET" && error.outcome !== "not-sent") return undefined;
  return delayFor(attempt.number - 1, backoff, random);
}

// Client-side rate limits. There are two lanes, each with its own token bucket, so that a burst of reconciles never delays a Lease
// renewal: losing the Lease stops all controllers (A2 in docs/invariants.md). A 429 pauses its lane for the Retry-After time.

export interface RateLimit {
  /** Sustained calls per second. */
  readonly qps: number;
  /** Calls that may be sent at once. */
  readonly burst: number;
}

interface Lane {
  /** Resolves when the call may be sent. */
  take(signal: AbortSignal): Promise<void>;
  /** Delays all calls of the lane for this long. */
  pause(milliseconds: number): void;
}

export interface Lanes {
  of(call: Pick<Call, "request" | "options">): Lane;
}

export interface LaneOptions {
  readonly environment: Environment;
  readonly rateLimit?: RateLimit | undefined;
  readonly highPriorityRateLimit?: RateLimit | undefined;
  readonly observer: Observer;
}

export function makeLanes({ environment: { clock }, rateLimit, highPriorityRateLimit, observer }: LaneOptions): Lanes {
  const normal = makeLane("normal", rateLimit ?? { qps: 20, burst: 30 }, clock, observer);
  const high = makeLane("high", highPriorityRateLimit ?? { qps: 10, burst: 20 }, clock, observer);
  return {
    of: ({ request, options }) =>
      options.priority === "high" || request.path.startsWith("/apis/coordination.k8s.io/") ? high : normal,
  };
}

function makeLane(name: string, { qps, burst }: RateLimit, clock: Clock, observer: Observer): Lane {
  const bucket = new TokenBucket({ clock, perSecond: qps, burst });
  return {
    take: async (signal) => {
      if (bucket.tryTake()) return;
      const since = clock.monotonic();
      await bucket.take(signal);
      observer.throttled?.({ lane: name, waitedMs: clock.monotonic() - since });
    },
    pause: (milliseconds) => bucket.pauseUntil(clock.monotonic() + milliseconds),
  };
}
