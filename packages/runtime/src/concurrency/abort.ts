// Abort signals with a defined end of use. `AbortSignal.any` and `AbortSignal.timeout` use the system clock and cannot be disposed:
// each one linked to a signal that lives as long as the process leaks a listener, and a controller makes millions of calls.
//
//     using limit = timeoutSignal({ clock, timeoutMs: seconds(30), signal, what: "reconcile of default/web" });
//     await work(limit.signal);
import type { Clock } from "./environment.ts";

/** A signal and its cleanup. Disposing it removes its timer and listeners; it does not abort the signal. */
export interface ScopedSignal extends Disposable {
  readonly signal: AbortSignal;
}

/** An operation exceeded its timeout. */
export class DeadlineExceededError extends Error {
  readonly code = "DEADLINE_EXCEEDED";
  override readonly name = "DeadlineExceededError";
  readonly timeoutMs: number;

  constructor(what: string, timeoutMs: number) {
    super(`${what}: expected an end within ${timeoutMs} ms, found it still running`);
    this.timeoutMs = timeoutMs;
  }
}

/** Aborts as soon as one of the signals does, with that signal's reason. */
export function anySignal(signals: readonly (AbortSignal | undefined)[]): ScopedSignal {
  const controller = new AbortController();
  const given = signals.filter((signal) => signal !== undefined);
  const unlink = () => {
    for (const [signal, listener] of listeners) signal.removeEventListener("abort", listener);
  };
  const listeners = given.map((signal) => {
    const listener = () => {
      unlink();
      controller.abort(signal.reason);
    };
    return [signal, listener] as const;
  });
  const aborted = given.find((signal) => signal.aborted);
  if (aborted !== undefined) controller.abort(aborted.reason);
  else for (const [signal, listener] of listeners) signal.addEventListener("abort", listener, { once: true });
  return { signal: controller.signal, [Symbol.dispose]: unlink };
}

export interface TimeoutOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Also aborts when this signal does. */
  readonly signal?: AbortSignal | undefined;
  /** The operation, for the error message. */
  readonly what: string;
}

/** Aborts with a DeadlineExceededError after `timeoutMs` on the given clock, or when the given signal aborts. */
export function timeoutSignal({ clock, timeoutMs, signal, what }: TimeoutOptions): ScopedSignal {
  // One controller instead of `anySignal`: every reconcile creates one of these.
  const linked = new AbortController();
  const onAbort = () => linked.abort(signal?.reason);
  if (signal?.aborted) onAbort();
  else signal?.addEventListener("abort", onAbort, { once: true });
  const cancel = clock.after(timeoutMs, () => linked.abort(new DeadlineExceededError(what, timeoutMs)));
  return {
    signal: linked.signal,
    [Symbol.dispose]() {
      cancel();
      signal?.removeEventListener("abort", onAbort);
    },
  };
}

/** Resolves with the promise, or rejects with the signal's reason as soon as it aborts. Does not stop the operation itself. */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([aborted, promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/**
 * Whether an error is an expected failure, with a stable `code` and a message that says what to do. System errors (ENOENT,
 * ECONNREFUSED) count. Node's ERR_… codes do not, because they report a programming error, nor do errors without a code.
 */
export function isForeseen(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string" && !error.code.startsWith("ERR_");
}
