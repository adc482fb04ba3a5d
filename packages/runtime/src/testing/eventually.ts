// Waiting for the state of the world, the one honest assertion about a system that converges.
import type { Clock } from "../concurrency/environment.ts";
import type { ManualClock } from "../concurrency/manual-clock.ts";
import { systemClock } from "../concurrency/system-environment.ts";

export interface EventuallyOptions {
  /** How long to wait, on the clock. It costs only tests that fail, so be generous. @default 60000 */
  readonly timeoutMs?: number;
  /** Time between two looks. @default 50 */
  readonly everyMs?: number;
  /** A manual clock is advanced while waiting, so time passes for whatever is being waited for. @default the system's */
  readonly clock?: Clock;
  /** Ends the wait early. */
  readonly signal?: AbortSignal;
}

/** The world did not come to hold what was waited for. */
export class NeverHeldError extends Error {
  readonly code = "NEVER_HELD";
  override readonly name = "NeverHeldError";
  /** What the last look saw; undefined if the last look threw (then `cause` says what). */
  readonly lastSeen: unknown;

  constructor(timeoutMs: number, last: Look<unknown>) {
    const found = last.threw ? `the last look threw ${last.error}` : `the last look saw ${describe(last.value)}`;
    super(`expected it to hold within ${timeoutMs} ms; ${found}`, last.threw ? { cause: last.error } : undefined);
    if (!last.threw) this.lastSeen = last.value;
  }
}

/**
 * Reads again and again until what was read holds, and returns it. A read that throws counts as "not yet": an object
 * that is still to be created answers with an error, too.
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
    if (clock.monotonic() >= until) throw new NeverHeldError(timeoutMs, look);
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

/** Enough of a value to understand a failure by, and no more: whole objects would bury it. */
function describe(value: unknown): string {
  const json = JSON.stringify(value, (_key, inner) => (typeof inner === "bigint" ? `${inner}` : inner)) ?? String(value);
  return json.length > 2_000 ? `${json.slice(0, 2_000)}…` : json;
}
