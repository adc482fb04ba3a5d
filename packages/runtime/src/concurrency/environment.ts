// Time, randomness, identity and logging are passed in as values. Node's single thread then makes a whole run repeatable: the simulator
// and every test with a manual clock depend on it. A lint rule forbids Date.now, Math.random, setTimeout and fetch elsewhere.

/** Cancels a timer. Calling it twice, or after the timer fired, has no effect. */
export type Cancel = () => void;

export interface Clock {
  /** Wall-clock time in milliseconds since 1970. It can jump; never measure durations with it. */
  now(): number;
  /** Milliseconds that never decrease, from an arbitrary start. For ages, deadlines and durations. */
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
  /** A new RFC 9562 version 4 UUID. */
  uuid(): string;
}

/**
 * The part of pino's interface that the runtime uses, so any pino logger fits. Fields come first, as in pino:
 *
 *     log.warn({ err, watch: "pods" }, "watch failed, resuming");
 */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** A logger that adds these fields to every line. */
  child(fields: object): Logger;
}

/** Discards everything. For tests, and the default where a logger is optional. */
export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLogger,
};
