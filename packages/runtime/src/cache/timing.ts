// The times of a cache, in one place. The numbers come from what API servers do (kubernetes-facts.md), and from the
// promise that a cache is right again within a minute of a fault's end (W3). The longest that we can be waiting in vain when
// a fault ends is one of these, never two in a row: silence is followed by the next attempt at once (after-session.ts).
//
//     50 s    a watch that has died since it was opened      `idleMs`
//     40 s    a request that was swallowed                   four times `answerMs`, see reflector.ts
//     37.5 s  the pause after an error                       `backoff`, with all of its jitter
import type { BackoffOptions } from "../concurrency/backoff.ts";

export interface ReflectorTiming {
  /** Silence after which a watch is given up. */
  readonly idleMs: number;
  /** Silence after which a watch or a scan is given up that the server has not begun to answer; up to four times as much if that goes on. */
  readonly answerMs: number;
  /** Time limit of a watch on a kind that was quiet during the last one; below `idleMs`, see reflector.ts. */
  readonly quietTimeoutSeconds: number;
  /** Time limit of any other watch: this much, up to twice as much. */
  readonly timeoutSeconds: number;
  /** How long a cache may be without connection before it is called stale. */
  readonly toleranceMs: number;
  /** A listing now and then, in case something between us and the server lost an event. @see afterSession */
  readonly relistMs: number;
  /** Objects per page where listing cannot be streamed: small, since a page is parsed in one go. */
  readonly pageSize: number;
  /** A mark that was not reached for this long has the cache listed again. */
  readonly overdueMs: number;
  readonly backoff: BackoffOptions;
}

export const defaultTiming: ReflectorTiming = {
  idleMs: 50_000,
  answerMs: 10_000,
  quietTimeoutSeconds: 45,
  timeoutSeconds: 300,
  toleranceMs: 30_000,
  relistMs: 3_600_000,
  pageSize: 100,
  overdueMs: 10_000,
  backoff: { initialMs: 800, maxMs: 30_000, factor: 2, jitter: 0.25, resetAfterMs: 120_000 },
};
