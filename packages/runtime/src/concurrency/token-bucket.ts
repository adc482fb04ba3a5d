// A client-side rate limit: the bucket holds up to `burst` tokens and gains `perSecond` of them each second. A caller takes a token
// or waits for one. A Retry-After from the server pauses the whole bucket.

import { Takers } from "./collections.ts";
import type { Cancel, Clock } from "./environment.ts";

export interface TokenBucketOptions {
  readonly clock: Clock;
  /** Tokens gained per second. */
  readonly perSecond: number;
  /** The most tokens the bucket can hold. At least 1. */
  readonly burst: number;
}

/** Hands out tokens at a limited rate, first come, first served. */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #perMs: number;
  readonly #burst: number;
  readonly #takers = new Takers<true>();
  #tokens: number;
  /** When #tokens was last computed. */
  #asOf: number;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #timer: Cancel | undefined;

  constructor({ clock, perSecond, burst }: TokenBucketOptions) {
    if (!(perSecond > 0) || !(burst >= 1))
      throw new RangeError(`expected perSecond > 0 and burst >= 1, found ${perSecond} and ${burst}`);
    this.#clock = clock;
    this.#perMs = perSecond / 1_000;
    this.#burst = burst;
    this.#tokens = burst;
    this.#asOf = clock.monotonic();
  }

  /** Resolves when it has taken a token. Rejects with the signal's reason, without taking a token. */
  async take(signal?: AbortSignal): Promise<void> {
    const turn = this.#takers.wait(signal);
    this.#serve();
    await turn;
  }

  /** Takes a token if one is available and no caller waits for it. */
  tryTake(): boolean {
    this.#refill();
    if (this.#takers.present || this.#waitMs() > 0) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Hands out no tokens before this time of the monotonic clock. Has no effect if a longer pause is in progress. */
  pauseUntil(monotonicMs: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, monotonicMs);
  }

  #serve(): void {
    this.#timer?.();
    this.#timer = undefined;
    this.#refill();
    for (; this.#takers.present; this.#tokens -= 1) {
      const waitMs = this.#waitMs();
      if (waitMs > 0) {
        this.#timer = this.#clock.after(waitMs, () => this.#serve());
        return;
      }
      this.#takers.give(true);
    }
  }

  #refill(): void {
    const now = this.#clock.monotonic();
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#asOf) * this.#perMs);
    this.#asOf = now;
  }

  /** Whole milliseconds until the next token is available. */
  #waitMs(): number {
    // Without a tolerance, a rounding error would set timers of zero length forever.
    const missing = 1 - 1e-6 - this.#tokens;
    return Math.ceil(Math.max(missing / this.#perMs, this.#pausedUntil - this.#asOf));
  }
}
