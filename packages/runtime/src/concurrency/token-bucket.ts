// A rate limit: a bucket holds `burst` tokens and gains `perSecond` of them each second; who wants to act takes one, or
// waits in line for it. When the other side says "not before …" (Retry-After), the whole bucket pauses.
import type { Cancel, Clock } from "./environment.ts";
import { Takers } from "./takers.ts";

export interface TokenBucketOptions {
  readonly clock: Clock;
  /** Tokens gained each second. */
  readonly perSecond: number;
  /** Tokens the bucket holds when nobody has taken any for a while. At least 1. */
  readonly burst: number;
}

/** Hands out tokens no faster than its rate, first come, first served. */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #perMs: number;
  readonly #burst: number;
  readonly #takers = new Takers<true>();
  #tokens: number;
  /** When #tokens was right. */
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

  /** Resolves once a token was taken; rejects with the signal's reason, and then no token was. */
  async take(signal?: AbortSignal): Promise<void> {
    const turn = this.#takers.wait(signal);
    this.#serve();
    await turn;
  }

  /** Takes a token if there is one and nobody waits for it. */
  tryTake(): boolean {
    this.#refill();
    if (this.#takers.present || this.#waitMs() > 0) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Hands out nothing before this time of the monotonic clock. A pause that ends earlier changes nothing. */
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

  /** How long until the next token may be handed out, in whole milliseconds. */
  #waitMs(): number {
    // Sums of fractions end a hair beside the truth. Waiting for that hair would set a timer that moves no clock, for ever.
    const missing = 1 - 1e-6 - this.#tokens;
    return Math.ceil(Math.max(missing / this.#perMs, this.#pausedUntil - this.#asOf));
  }
}
