// Waits for a condition, the assertion to use for a system that converges.
import type { Clock } from "../concurrency/environment.ts";
import type { ManualClock } from "../concurrency/manual-clock.ts";
import { systemClock } from "../concurrency/system-environment.ts";

export interface EventuallyOptions {
  /** Maximum wait in milliseconds of the clock. Only failing tests wait that long, so be generous. @default 60000 */
  readonly timeoutMs?: number;
  /** Milliseconds between two reads. @default 50 */
  readonly everyMs?: number;
  /** A manual clock is advanced while waiting. @default the system clock */
  readonly clock?: Clock;
  /** Ends the wait early. */
  readonly signal?: AbortSignal;
}

/** The condition did not hold in time. */
export class EventuallyTimeoutError extends Error {
  readonly code = "NEVER_HELD";
  override readonly name = "EventuallyTimeoutError";
  /** The last value that was read; undefined if the last read threw (see `cause`). */
  readonly lastSeen: unknown;

  constructor(timeoutMs: number, last: Look<unknown>) {
    const found = last.threw ? `the last look threw ${last.error}` : `the last look saw ${describe(last.value)}`;
    super(`expected it to hold within ${timeoutMs} ms; ${found}`, last.threw ? { cause: last.error } : undefined);
    if (!last.threw) this.lastSeen = last.value;
  }
}

/**
 * Reads repeatedly until the value satisfies the condition, and returns the value. A read that throws counts as "not yet": an
 * object that does not exist yet causes an error, too.
 *
 *     const pod = await eventually(() => client.find(Pod, ref), (pod) => pod?.status?.phase === "Running");
 */
export async function eventually<T>(
  read: () => T | Promise<T>,
  holds: (value: T) => boolean,
  options: EventuallyOptions = {},
): Promise<T> {
  const { timeoutMs = 60_000, everyMs = 50, clock = systemClock(), signal } = options;
  const until = clock.monotonic() + timeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    const look = await lookOnce(read, holds);
    if (!look.threw && look.holds) return look.value;
    if (clock.monotonic() >= until) throw new EventuallyTimeoutError(timeoutMs, look);
    await (isManual(clock) ? clock.advance(everyMs) : clock.sleep(everyMs, signal));
  }
}

type Look<T> =
  | { readonly threw: false; readonly value: T; readonly holds: boolean }
  | { readonly threw: true; readonly error: unknown };

async function lookOnce<T>(read: () => T | Promise<T>, holds: (value: T) => boolean): Promise<Look<T>> {
  try {
    const value = await read();
    return { threw: false, value, holds: holds(value) };
  } catch (error) {
    return { threw: true, error };
  }
}

function isManual(clock: Clock): clock is ManualClock {
  return "advance" in clock;
}

/** Limits the length: a large object would hide the rest of the message. */
function describe(value: unknown): string {
  const json = JSON.stringify(value, (_key, inner) => (typeof inner === "bigint" ? `${inner}` : inner)) ?? String(value);
  return json.length > 2_000 ? `${json.slice(0, 2_000)}…` : json;
}
