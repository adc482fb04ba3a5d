// Signals that end when their owner does. `AbortSignal.any` and `AbortSignal.timeout` know neither our clock nor an end:
// linked to a signal that lives as long as the process they leave something behind with every call, and a controller
// makes millions of calls. These are disposable instead:
//
//     using limit = timeoutSignal({ clock, timeoutMs: seconds(30), signal, what: "reconcile of default/web" });
//     await work(limit.signal);
import type { Clock } from "./environment.ts";

/** A signal and the end of its use. Disposing of it removes its timer and listeners; it does not abort. */
export interface ScopedSignal extends Disposable {
  readonly signal: AbortSignal;
}

/** Something took longer than it was allowed to. */
export class DeadlineExceededError extends Error {
  readonly code = "DEADLINE_EXCEEDED";
  override readonly name = "DeadlineExceededError";
  readonly timeoutMs: number;

  constructor(what: string, timeoutMs: number) {
    super(`${what}: expected an end within ${timeoutMs} ms, found it still running`);
    this.timeoutMs = timeoutMs;
  }
}

/** Aborts as soon as one of the signals does, with the reason of that one. */
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
  /** Aborts with this one too, if it comes first. */
  readonly signal?: AbortSignal | undefined;
  /** What is being limited, for the message. */
  readonly what: string;
}

/** Aborts with a DeadlineExceededError after a time on our clock, or with the given signal. */
export function timeoutSignal({ clock, timeoutMs, signal, what }: TimeoutOptions): ScopedSignal {
  // One controller for both, by hand: every reconcile has one of these.
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

/** The promise's result, or the signal's reason as soon as it aborts. What the promise does is not stopped by this. */
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
