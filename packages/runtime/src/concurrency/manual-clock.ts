// A clock for tests that stands still until the test advances it. `advance` runs due timers one by one, in order, and lets all
// resulting work settle before the next, so an hour passes in milliseconds and every run is the same. Exported from
// @memhog/runtime/testing.

import { Heap } from "./collections.ts";
import type { Cancel, Clock, Environment } from "./environment.ts";
import { settled, sleepOn } from "./system-environment.ts";

/** A clock that only `advance` moves. */
export interface ManualClock extends Clock {
  /** Advances the time and runs all timers due until then, earliest first. Resolves when all resulting work has settled. */
  advance(milliseconds: number): Promise<void>;
  /** Changes only the wall clock, as NTP or an administrator does; timers and `monotonic` are not affected. */
  stepWallClock(milliseconds: number): void;
  /** Timers that have neither fired nor been canceled. */
  readonly pending: number;
  /** Milliseconds until the next timer is due; undefined if there is none. */
  readonly nextDueIn: number | undefined;
}

export interface ManualClockOptions {
  /** Wall-clock time at the start, in milliseconds since 1970. @default 2026-01-01T00:00:00Z */
  readonly now?: number;
}

/**
 * A manual clock. Every one starts at the same instant, with `monotonic` at zero.
 *
 *     const clock = manualClock();
 *     const sleep = clock.sleep(minutes(4));
 *     await clock.advance(minutes(4)); // sleep is resolved
 */
export function manualClock(options: ManualClockOptions = {}): ManualClock {
  return new Manual(options.now ?? Date.UTC(2026, 0, 1));
}

/** An environment for tests: a manual clock and seeded random numbers. */
export function manualEnvironment(
  options: ManualClockOptions & { /** @default 1 */ readonly seed?: number } = {},
): Environment & { readonly clock: ManualClock } {
  const random = seededRandom(options.seed ?? 1);
  return { clock: manualClock(options), random, uuid: () => uuidFrom(random) };
}

/** Pseudorandom numbers in [0, 1), the same for the same seed (the mulberry32 generator). */
export function seededRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function uuidFrom(random: () => number): string {
  const bytes = Uint8Array.from({ length: 16 }, () => Math.floor(random() * 256));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40; // version 4
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80; // variant of RFC 9562
  return Buffer.from(bytes)
    .toString("hex")
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

interface Timer {
  readonly due: number;
  /** Timers due at the same instant fire in the order they were set. */
  readonly order: number;
  callback: (() => void) | undefined;
}

class Manual implements ManualClock {
  #wallClockAtZero: number;
  #elapsed = 0;
  #order = 0;
  #pending = 0;
  readonly #timers = new Heap<Timer>((a, b) => a.due < b.due || (a.due === b.due && a.order < b.order));

  constructor(now: number) {
    this.#wallClockAtZero = now;
  }

  get pending(): number {
    return this.#pending;
  }

  get nextDueIn(): number | undefined {
    const next = this.#next();
    return next === undefined ? undefined : Math.max(0, next.due - this.#elapsed);
  }

  now(): number {
    return this.#wallClockAtZero + this.#elapsed;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  stepWallClock(milliseconds: number): void {
    this.#wallClockAtZero += milliseconds;
  }

  after(milliseconds: number, callback: () => void): Cancel {
    this.#order += 1;
    const timer: Timer = { due: this.#elapsed + Math.max(0, milliseconds), order: this.#order, callback };
    this.#timers.push(timer);
    this.#pending += 1;
    return () => {
      if (timer.callback === undefined) return;
      timer.callback = undefined;
      this.#pending -= 1;
    };
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return sleepOn((ms, callback) => this.after(ms, callback), milliseconds, signal);
  }

  async advance(milliseconds: number): Promise<void> {
    const until = this.#elapsed + milliseconds;
    // Let code that is about to sleep set its timer first: the timer belongs to this span of time.
    await settled();
    for (let timer = this.#next(); timer !== undefined && timer.due <= until; timer = this.#next()) {
      this.#fire(timer);
      await settled();
    }
    this.#elapsed = Math.max(this.#elapsed, until);
  }

  #fire(timer: Timer): void {
    this.#timers.pop();
    this.#elapsed = Math.max(this.#elapsed, timer.due);
    const { callback } = timer;
    timer.callback = undefined;
    this.#pending -= 1;
    callback?.();
  }

  /** The earliest timer that was not canceled. */
  #next(): Timer | undefined {
    while (this.#timers.peek() !== undefined && this.#timers.peek()?.callback === undefined) this.#timers.pop();
    return this.#timers.peek();
  }
}
