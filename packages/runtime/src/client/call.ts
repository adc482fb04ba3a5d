// One call from its beginning to its end: wait for the rate limit, send, try again where that is safe, all within one
// deadline; then the answer, or the error that says what happened. Verbs above and bytes below know nothing of this.
import { abortable, anySignal } from "../concurrency/abort.ts";
import type { Environment } from "../concurrency/environment.ts";
import { refusalOf, retryAfterOf } from "./answer.ts";
import type { CallOptions } from "./client.ts";
import { TimeoutError } from "./errors.ts";
import type { Observer } from "./observer.ts";
import type { Lanes } from "./rate-limit.ts";
import { type Attempt, delayAfterAnswer, delayAfterError, longestPatienceMs } from "./retry.ts";
import { type Transport, type TransportRequest, type TransportResponse, textOf, UnansweredError } from "./transport/transport.ts";
import { warningsIn } from "./warning.ts";

export interface Call {
  /** For messages: "create Pod default/web". */
  readonly attempt: string;
  readonly request: Omit<TransportRequest, "signal" | "stream" | "chunks">;
  readonly options: CallOptions;
  /** 429 is for the caller to hear: an eviction that a disruption budget forbids. @default false */
  readonly busyIsAnswer?: boolean;
  /** One attempt and no more: for callers with a back-off of their own. @default false */
  readonly once?: boolean;
}

export interface Caller {
  /** The text of a 2xx answer. @throws ApiError, TransportError, or the reason of the caller's signal */
  text(call: Call): Promise<string>;
  /** The body of a 2xx answer as it comes. The deadline holds until it begins; the signal until it ends. */
  stream(call: Call): Promise<AsyncIterable<Uint8Array>>;
  /** The same for an answer that has an end: whole, if the transport cannot do better. */
  chunks(call: Call): Promise<AsyncIterable<Uint8Array> | string>;
}

export interface CallTools {
  readonly transport: Transport;
  readonly environment: Environment;
  readonly lanes: Lanes;
  readonly observer: Observer;
  /** For calls that bring no `timeoutMs`. */
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

/** The state of a call between its attempts. */
interface Progress {
  readonly signal: AbortSignal;
  readonly deadline: number;
  /** Whether the server can have seen the attempt that is under way. */
  sent: boolean;
  /** Why the attempt before was not the last. */
  lastError?: unknown;
}

/** How an answer is handed over, if not as text. */
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
    // A stream goes on after this, and its signal with it; it is the caller's own and short-lived (watch.ts).
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
    // A pause that the deadline would cut short helps nobody: say now what is wrong rather than later that time is up.
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
    // Raced, because "every call ends" must not depend on every transport listening to its signal in every phase.
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
  // A busy server is busy for all of us, not only for the call it told so.
  if (status === 429 && !attempt.busyIsAnswer)
    tools.lanes.of(call).pause(Math.min((retryAfterSeconds ?? 0) * 1000, longestPatienceMs));
  const error = refusalOf(call.attempt, { status, headers, body: textOf(response) });
  return { error, delayMs: delayAfterAnswer(attempt, { status, retryAfterSeconds }, random) };
}
