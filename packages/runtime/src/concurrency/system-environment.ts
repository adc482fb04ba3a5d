// The clock and random source of a real process. This is the only file of the runtime that may use Date, timers, performance and
// Math.random. All other code receives an Environment; tests pass `manualEnvironment`.
import { randomUUID } from "node:crypto";
import type { Cancel, Clock, Environment } from "./environment.ts";

/** setTimeout fires at once for longer delays (its delay is a signed 32-bit number), so long delays use several timers. */
const longestTimerMs = 2 ** 31 - 1;

/** The environment of a running process. Create it once, in `main`, and pass it down. */
export function systemEnvironment(): Environment {
  return { clock: systemClock(), random: Math.random, uuid: () => randomUUID() };
}

/** The system clock. */
export function systemClock(): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    after,
    sleep: (milliseconds, signal) => sleepOn(after, milliseconds, signal),
  };
}

/** Resolves after all microtasks, ticks and ready callbacks have run. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function after(milliseconds: number, callback: () => void): Cancel {
  const due = performance.now() + milliseconds;
  let timer: NodeJS.Timeout;
  const wait = (leftMs: number) => {
    timer = setTimeout(onTimer, Math.min(Math.max(Math.ceil(leftMs), 0), longestTimerMs));
  };
  // Node rounds its loop time to whole milliseconds and may call back up to one millisecond early. Deadlines rely on "at least this
  // long", so an early callback waits for the rest.
  const onTimer = () => {
    const leftMs = due - performance.now();
    if (leftMs > 0) wait(leftMs);
    else callback();
  };
  wait(milliseconds);
  return () => clearTimeout(timer);
}

/** The part of a clock that implementations provide. */
export type After = (milliseconds: number, callback: () => void) => Cancel;

/** Implements `Clock.sleep` with `Clock.after`. Leaves no timer and no listener after the promise settles. */
export function sleepOn(after: After, milliseconds: number, signal?: AbortSignal): Promise<void> {
  if (signal === undefined) return new Promise((resolve) => after(milliseconds, resolve));
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      cancel();
      reject(signal.reason);
    };
    const cancel = after(milliseconds, () => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    });
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
