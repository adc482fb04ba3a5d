// Waits for a condition. Everything in Kubernetes happens eventually, so this is how a test asserts.
import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { EventuallyError } from "../errors.ts";

export interface EventuallyOptions {
  /** In milliseconds. Generous, so that a busy machine does not fail a test. @default 60_000 */
  readonly timeoutMs?: number;
  /** The condition, for the message. @default the source of `holds` */
  readonly what?: string;
  /** The path of the component logs, for the message. */
  readonly logs?: string;
  readonly signal?: AbortSignal;
}

/**
 * Reads until `holds` returns true, and returns that value. A read that throws counts as "not yet": the object may not exist, or the
 * API server may be starting. On timeout the message has the last value or the last error.
 */
export async function eventually<T>(
  read: () => T | Promise<T>,
  holds: (value: T) => boolean,
  options: EventuallyOptions = {},
): Promise<T> {
  const deadline = performance.now() + (options.timeoutMs ?? 60_000);
  let last: Observation<T>;
  for (let pause = 10; ; pause = Math.min(pause * 1.5, 500)) {
    options.signal?.throwIfAborted();
    last = await observe(read, holds);
    if ("value" in last && last.holds) return last.value;
    if (performance.now() > deadline) break;
    await sleep(pause, undefined, options.signal ? { signal: options.signal } : {});
  }
  throw failure(last, options, options.what ?? holds.toString());
}

type Observation<T> = { readonly value: T; readonly holds: boolean } | { readonly error: unknown };

async function observe<T>(read: () => T | Promise<T>, holds: (value: T) => boolean): Promise<Observation<T>> {
  try {
    const value = await read();
    return { value, holds: holds(value) };
  } catch (error) {
    return { error };
  }
}

function failure(last: Observation<unknown>, { timeoutMs = 60_000, logs }: EventuallyOptions, what: string): EventuallyError {
  const found = "error" in last ? `the last attempt failed: ${String(last.error)}` : `the last value was ${show(last.value)}`;
  const where = logs === undefined ? "" : `\ncomponent logs: ${logs}`;
  const cause = "error" in last ? { cause: last.error } : {};
  return new EventuallyError(`expected within ${timeoutMs / 1000} s: ${what}\n${found}${where}`, cause);
}

const show = (value: unknown) => inspect(value, { depth: 8, breakLength: 120, maxArrayLength: 20 }).slice(0, 8_000);
