// Exponential backoff with jitter. `delayFor` computes a delay for callers that count failures themselves (the work queue, per key).
// `Backoff` counts the failures of one operation (a watch, a lease).
import type { Environment } from "./environment.ts";

export interface BackoffOptions {
  /** The first delay, before jitter. */
  readonly initialMs: number;
  /** The longest delay, before jitter. */
  readonly maxMs: number;
  /** Each delay is this many times the previous one. @default 2 */
  readonly factor?: number;
  /** Adds a random part of up to this fraction of the delay, so that clients that failed together do not retry together. @default 0 */
  readonly jitter?: number;
  /** Resets after this long without a failure, counted from the end of the last delay. @default never */
  readonly resetAfterMs?: number;
}

/**
 * The delay before attempt `failures + 1`. For example, with an initial delay of 800 ms, factor 2 and a maximum of 30 s:
 *
 *     failures  delay
 *     0         800 ms
 *     1         1.6 s
 *     5         25.6 s
 *     6…        30 s
 */
export function delayFor(failures: number, options: BackoffOptions, random: () => number): number {
  const { initialMs, maxMs, factor = 2, jitter = 0 } = options;
  // The power overflows to Infinity after about a thousand failures; Math.min handles that.
  const delayMs = Math.min(maxMs, initialMs * factor ** failures);
  return jittered(delayMs, jitter, random);
}

/** The delay plus a random part of up to `fraction` of it. */
export function jittered(delayMs: number, fraction: number, random: () => number): number {
  return delayMs * (1 + fraction * random());
}

/** Counts the failures of one operation. */
export class Backoff {
  readonly #options: BackoffOptions;
  readonly #environment: Pick<Environment, "clock" | "random">;
  #failures = 0;
  #lastDelayEnds = Number.POSITIVE_INFINITY;

  constructor(options: BackoffOptions, environment: Pick<Environment, "clock" | "random">) {
    this.#options = options;
    this.#environment = environment;
  }

  /** Failures since the start or the last reset. */
  get failures(): number {
    return this.#failures;
  }

  /** Records a failure and returns the delay before the next attempt. */
  next(): number {
    const { clock, random } = this.#environment;
    const { resetAfterMs = Number.POSITIVE_INFINITY } = this.#options;
    if (clock.monotonic() - this.#lastDelayEnds >= resetAfterMs) this.reset();
    const delayMs = delayFor(this.#failures, this.#options, random);
    this.#failures += 1;
    this.#lastDelayEnds = clock.monotonic() + delayMs;
    return delayMs;
  }

  /** Records a failure and waits for the delay. */
  sleep(signal?: AbortSignal): Promise<void> {
    return this.#environment.clock.sleep(this.next(), signal);
  }

  /** Call on success: the next delay is the initial one. */
  reset(): void {
    this.#failures = 0;
    this.#lastDelayEnds = Number.POSITIVE_INFINITY;
  }
}
