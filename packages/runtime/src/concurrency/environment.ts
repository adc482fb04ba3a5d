// Time, randomness and identity come in by this door and no other (architecture, rule 2). With them owned, Node's single
// thread makes a whole run repeatable: the simulator and every manual-clock test depend on it. A lint rule forbids
// Date.now, Math.random, setTimeout, fetch and their kin everywhere else.

/** Ends a timer; calling it twice, or after the timer fired, does nothing. */
export type Cancel = () => void;

export interface Clock {
  /** Wall-clock time in milliseconds since 1970. It may step; never measure durations with it. */
  now(): number;
  /** Milliseconds that only ever grow, from an arbitrary start. For ages, deadlines and durations. */
  monotonic(): number;
  /** Calls back once, after at least this many milliseconds. */
  after(milliseconds: number, callback: () => void): Cancel;
  /** Resolves after this many milliseconds; rejects with the signal's reason as soon as it aborts. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

export interface Environment {
  readonly clock: Clock;
  /** A number in [0, 1). */
  random(): number;
  /** A fresh RFC 9562 version 4 UUID. */
  uuid(): string;
}
