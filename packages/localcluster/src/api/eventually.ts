// Waits for the world to become as it should be. Everything in Kubernetes happens "eventually", so this is how a test asserts.

import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { EventuallyError } from "../errors.ts";

export interface EventuallyOptions {
  /** In milliseconds. A deadline for what will never happen, so generous: a busy machine is no failure. @default 60_000 */
  readonly timeoutMs?: number;
  /** What is waited for, for the message. @default the text of `holds` */
  readonly what?: string;
  /** Where to look when it does not happen. */
  readonly logs?: string;
  readonly signal?: AbortSignal;
}

/**
 * Reads until `holds` says so, and answers with the value that did. A read that throws counts as "not yet": the object may not
 * be there, or the API server may be starting. On time-out the last value, or the last error, is in the message.
 */
export async function eventually<T>(
  read: () => T | Promise<T>,
  holds: (value: T) => boolean,
  options: EventuallyOptions = {},
): Promise<T> {
  const deadline = performance.now() + (options.timeoutMs ?? 60_000);
  let last: Seen<T>;
  for (let pause = 10; ; pause = Math.min(pause * 1.5, 500)) {
    options.signal?.throwIfAborted();
    last = await look(read, holds);
    if ("value" in last && last.holds) return last.value;
    if (performance.now() > deadline) break;
    await sleep(pause, undefined, options.signal ? { signal: options.signal } : {});
  }
  throw failure(last, options, options.what ?? holds.toString());
}

type Seen<T> = { readonly value: T; readonly holds: boolean } | { readonly error: unknown };

async function look<T>(read: () => T | Promise<T>, holds: (value: T) => boolean): Promise<Seen<T>> {
  try {
    const value = await read();
    return { value, holds: holds(value) };
  } catch (error) {
    return { error };
  }
}

function failure(last: Seen<unknown>, { timeoutMs = 60_000, logs }: EventuallyOptions, what: string): EventuallyError {
  const found = "error" in last ? `the last attempt failed: ${String(last.error)}` : `the last value was ${show(last.value)}`;
  const where = logs === undefined ? "" : `\ncomponent logs: ${logs}`;
  const cause = "error" in last ? { cause: last.error } : {};
  return new EventuallyError(`did not hold within ${timeoutMs / 1000} s: ${what}\n${found}${where}`, cause);
}

const show = (value: unknown) => inspect(value, { depth: 8, breakLength: 120, maxArrayLength: 20 }).slice(0, 8_000);
