// What can be measured about a work queue. The queue counts; whoever exports metrics gives the figures their names.

/** Told what happens, as it happens. Every method is optional and must not throw. */
export interface WorkQueueObserver {
  /** A key began to wait. Adds of a key that waits already are not told. */
  added?(): void;
  /** A key was taken, after waiting this long. */
  taken?(waitedMs: number): void;
  /** A lease is done, after being held this long. */
  finished?(workedMs: number): void;
  /** A key was added because working on it failed. */
  retried?(): void;
}

/** How a queue stands at one moment: for gauges, which are read when somebody looks. */
export interface WorkQueueStats {
  /** Keys that wait, not counting those put off until later. */
  readonly depth: number;
  readonly depthByPriority: ReadonlyMap<number, number>;
  /** Keys put off until later. */
  readonly delayed: number;
  /** Leases not done. */
  readonly running: number;
  /** How long the key has waited that has waited longest; 0 if none waits. */
  readonly oldestWaitMs: number;
  /** How long all leases that are not done have been held, added up. */
  readonly unfinishedMs: number;
  /** How long the oldest of them has been held. */
  readonly longestRunningMs: number;
}
