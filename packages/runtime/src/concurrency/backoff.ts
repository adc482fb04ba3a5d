// How long to wait before trying again: longer each time, never the same for everyone, and from the beginning once
// things have gone well. Two forms: `delayFor`, a formula for those who count attempts themselves (the work queue, per
// key), and `Backoff`, which counts for one thing that fails (a watch, a lease).
import type { Environment } from "./environment.ts";

export interface BackoffOptions {
  /** The first delay, before jitter. */
  readonly initialMs: number;
  /** No delay is longer, before jitter. */
  readonly maxMs: number;
  /** Each delay is this many times the one before. @default 2 */
  readonly factor?: number;
  /** Up to this fraction of the delay is added, at random, so that many who failed together do not return together. @default 0 */
  readonly jitter?: number;
  /** Start over after this long without a failure, counted from the end of the last delay. @default never */
  readonly resetAfterMs?: number;
}

/**
 * The delay before attempt `failures + 1`.
 *
 *     failures  initial 800 ms, factor 2, max 30 s
 *     0         800 ms
 *     1         1.6 s
 *     5         25.6 s
 *     6…        30 s
 */
export function delayFor(failures: number, options: BackoffOptions, random: () => number): number {
  const { initialMs, maxMs, factor = 2, jitter = 0 } = options;
  // The power overflows to Infinity after a thousand failures; the minimum brings it back.
  const delayMs = Math.min(maxMs, initialMs * factor ** failures);
  return jittered(delayMs, jitter, random);
}

/** The same delay, longer by a random part of up to `fraction`. */
export function jittered(delayMs: number, fraction: number, random: () => number): number {
  return delayMs * (1 + fraction * random());
}

/** Counts the failures of one thing. */
export class Backoff {
  readonly #options: BackoffOptions;
  readonly #environment: Pick<Environment, "clock" | "random">;
  #failures = 0;
  #lastDelayEnds = Number.POSITIVE_INFINITY;

  constructor(options: BackoffOptions, environment: Pick<Environment, "clock" | "random">) {
    this.#options = options;
    this.#environment = environment;
  }

  /** Failures since the beginning or the last reset. */
  get failures(): number {
    return this.#failures;
  }

  /** Notes a failure and says how long to wait. */
  next(): number {
    const { clock, random } = this.#environment;
    const { resetAfterMs = Number.POSITIVE_INFINITY } = this.#options;
    if (clock.monotonic() - this.#lastDelayEnds >= resetAfterMs) this.reset();
    const delayMs = delayFor(this.#failures, this.#options, random);
    this.#failures += 1;
    this.#lastDelayEnds = clock.monotonic() + delayMs;
    return delayMs;
  }

  /** Notes a failure and waits. */
  sleep(signal?: AbortSignal): Promise<void> {
    return this.#environment.clock.sleep(this.next(), signal);
  }

  /** It works again: the next delay is the first one. */
  reset(): void {
    this.#failures = 0;
    this.#lastDelayEnds = Number.POSITIVE_INFINITY;
  }
}
