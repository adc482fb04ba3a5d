// The real world's time and chance. This is the only file of the runtime that may touch Date, timers, performance and
// random numbers: everyone else is handed an Environment, and a test hands over `manualEnvironment` instead.
import { randomUUID } from "node:crypto";
import type { Cancel, Clock, Environment } from "./environment.ts";
import { sleepOn } from "./sleep.ts";

/** Longer than this setTimeout fires at once (its delay is a signed 32-bit number), so long waits are made in steps. */
const longestTimerMs = 2 ** 31 - 1;

/** The environment of a running process. Take it once, in `main`, and pass it down. */
export function systemEnvironment(): Environment {
  return { clock: systemClock(), random: Math.random, uuid: () => randomUUID() };
}

/** The clock of this machine. */
export function systemClock(): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    after,
    sleep: (milliseconds, signal) => sleepOn(after, milliseconds, signal),
  };
}

/** Resolves once everything that could run without time passing has run: microtasks, ticks and ready callbacks. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function after(milliseconds: number, callback: () => void): Cancel {
  const due = performance.now() + milliseconds;
  let timer: NodeJS.Timeout;
  const wait = (leftMs: number) => {
    timer = setTimeout(onTimer, Math.min(Math.max(Math.ceil(leftMs), 0), longestTimerMs));
  };
  // Node rounds its loop time to whole milliseconds and may call up to one early. "At least this long" is a promise
  // that deadlines are computed with, so an early call waits for the rest.
  const onTimer = () => {
    const leftMs = due - performance.now();
    if (leftMs > 0) wait(leftMs);
    else callback();
  };
  wait(milliseconds);
  return () => clearTimeout(timer);
}
