// Time that stands still until a test moves it. `advance` runs the timers that fall due one by one, in order, and lets
// every consequence play out before the next: what a machine does over an hour happens in a millisecond, the same way
// each time. It reaches users by the testing door.
import type { Cancel, Clock, Environment } from "./environment.ts";
import { Heap } from "./heap.ts";
import { sleepOn } from "./sleep.ts";
import { settled } from "./system-environment.ts";

/** A clock whose time moves by `advance` only. */
export interface ManualClock extends Clock {
  /** Moves time on, running on the way whatever falls due, earliest first; resolves when all of it has settled. */
  advance(milliseconds: number): Promise<void>;
  /** Steps the wall clock alone, as NTP or an administrator does; timers and `monotonic` do not notice. */
  stepWallClock(milliseconds: number): void;
  /** Timers that have neither fired nor been cancelled. */
  readonly pending: number;
  /** Milliseconds until the next timer is due; undefined if there is none. */
  readonly nextDueIn: number | undefined;
}

export interface ManualClockOptions {
  /** Wall-clock time at the start, in milliseconds since 1970. @default 2026-01-01T00:00:00Z */
  readonly now?: number;
}

/**
 * A manual clock. It starts at the same instant in every test, and its `monotonic` at zero.
 *
 *     const clock = manualClock();
 *     const tea = clock.sleep(minutes(4));
 *     await clock.advance(minutes(4)); // tea is ready
 */
export function manualClock(options: ManualClockOptions = {}): ManualClock {
  return new Manual(options.now ?? Date.UTC(2026, 0, 1));
}

/** A whole environment for tests: manual time, and chance that repeats itself for the same seed. */
export function manualEnvironment(
  options: ManualClockOptions & { /** @default 1 */ readonly seed?: number } = {},
): Environment & { readonly clock: ManualClock } {
  const random = seededRandom(options.seed ?? 1);
  return { clock: manualClock(options), random, uuid: () => uuidFrom(random) };
}

/** Numbers in [0, 1) that look random and are the same for the same seed (the mulberry32 generator). */
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
  /** Timers of one instant fire in the order they were set. */
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
    // First let code that is on its way to a sleep arrive there: its timer belongs to this stretch of time.
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

  /** The earliest timer that was not cancelled. */
  #next(): Timer | undefined {
    while (this.#timers.peek() !== undefined && this.#timers.peek()?.callback === undefined) this.#timers.pop();
    return this.#timers.peek();
  }
}
