// The work queue: keys that need attention, each at most once, and never the same one in two hands.
//
// What is queued is a key, not an event. Ten changes of one object while it waits are one piece of work, because a
// reconciler reads the world afresh; a change while the object is being worked on is one more piece afterwards, because
// the worker may have read just before it. Everything here follows from that:
//
//   add             it needs attention now. If it was put off until later, that wish is fulfilled by this one.
//   addAfter        it needs attention later; of several wishes the earliest counts, and "now" is earlier than any.
//   addRateLimited  it failed: later, and later still each time, until `forget` says that it went well.
//   get             the next key, as a lease: nobody else gets that key until the lease is done.
//
// Order: higher priorities first, groups in turns, and age counts (priority-lanes.ts). All time is the injected
// clock's. Nothing here knows what a key means. Who wants figures hands in an observer and asks `stats()`; the names
// that stock dashboards know are given to them elsewhere.
//
//     using lease = await queue.get(signal);
//     if (lease !== undefined) await work(lease.key);
import { type BackoffOptions, delayFor } from "./backoff.ts";
import { DelayQueue } from "./delay-queue.ts";
import type { Environment } from "./environment.ts";
import { type PrioritizedItem, PriorityLanes } from "./priority-lanes.ts";
import { Takers } from "./takers.ts";
import type { WorkQueueObserver, WorkQueueStats } from "./work-queue-figures.ts";

export interface WorkQueueOptions {
  readonly environment: Pick<Environment, "clock" | "random">;
  /** The delay of `addRateLimited`, per key. @default 5 ms, doubling to 5 min, up to a tenth of jitter */
  readonly backoff?: BackoffOptions;
  /** After waiting this long a key has a claim to every second turn, whatever its priority. @default 10000 */
  readonly ageAfterMs?: number;
  /** The group of a key that is added without one. @default all in one group */
  readonly groupOf?: (key: string) => string;
  readonly observer?: WorkQueueObserver;
}

export interface AddOptions {
  /** Higher goes first. A key that waits already keeps the highest of its priorities. @default 0 */
  readonly priority?: number;
  /** Groups take turns. @default what `groupOf` says */
  readonly group?: string;
  /** Why, for `Lease.reasons`. */
  readonly reason?: string;
}

/** A key in somebody's hands. */
export interface Lease extends Disposable {
  readonly key: string;
  readonly group: string;
  readonly priority: number;
  /** How long the key waited. */
  readonly waitedMs: number;
  /** How often `addRateLimited` was called since the last `forget`. */
  readonly failures: number;
  /** Why the key was added: each reason once, the first eight of them. */
  readonly reasons: readonly string[];
  /** Gives the key back; if it was added meanwhile, it waits again. Calling it twice does nothing. */
  done(): void;
}

interface Waiting extends PrioritizedItem {
  readonly key: string;
  readonly reasons: string[];
}

interface Running {
  readonly since: number;
  /** The key was added while it ran. */
  again: Waiting | undefined;
}

/** A key that is added more often than it is worked on must not grow. */
const mostReasons = 8;
const defaultBackoff: BackoffOptions = { initialMs: 5, maxMs: 300_000, jitter: 0.1 };

/** Keys that need attention. See the top of this file. */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #waiting = new Map<string, Waiting>();
  readonly #lanes: PriorityLanes<Waiting>;
  readonly #delayed: DelayQueue<AddOptions>;
  readonly #running = new Map<string, Running>();
  readonly #failures = new Map<string, number>();
  readonly #takers = new Takers<Lease>();
  /** Set by `shutDown`. */
  #drained: PromiseWithResolvers<void> | undefined;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#lanes = new PriorityLanes(options.ageAfterMs ?? 10_000);
    this.#delayed = new DelayQueue({ clock: options.environment.clock, onDue: (key, how) => this.add(key, how) });
  }

  /** Keys that wait, not counting those put off until later. */
  get length(): number {
    return this.#waiting.size;
  }

  /** The key needs attention now. */
  add(key: string, options: AddOptions = {}): void {
    if (this.#drained !== undefined) return;
    this.#delayed.delete(key);
    const running = this.#running.get(key);
    const before = running === undefined ? this.#waiting.get(key) : running.again;
    if (before !== undefined) note(before, options.reason);
    if (before !== undefined && (options.priority ?? 0) <= before.priority) return;
    const item = this.#item(key, options, before);
    if (before === undefined) this.#options.observer?.added?.();
    if (running !== undefined) running.again = item;
    else this.#wait(item, before);
  }

  /** The key needs attention in a while. Does nothing if it will get some sooner. */
  addAfter(key: string, delayMs: number, options: AddOptions = {}): void {
    const sooner = this.#waiting.has(key) || this.#running.get(key)?.again !== undefined;
    if (!(delayMs > 0)) this.add(key, options);
    else if (!sooner && this.#drained === undefined) this.#delayed.put(key, delayMs, options);
  }

  /** Working on the key failed: it needs attention again after its back-off, which is returned. */
  addRateLimited(key: string, options: AddOptions = {}): number {
    const failures = this.failuresOf(key);
    const delayMs = delayFor(failures, this.#options.backoff ?? defaultBackoff, this.#options.environment.random);
    this.#failures.set(key, failures + 1);
    this.#options.observer?.retried?.();
    this.addAfter(key, delayMs, options);
    return delayMs;
  }

  /** Working on the key went well, or it is no more: its next back-off starts from the beginning. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** How often the key failed since the last `forget`. */
  failuresOf(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** The next key, as soon as there is one; undefined once the queue is shut down. */
  get(signal?: AbortSignal): Promise<Lease | undefined> {
    if (this.#drained !== undefined) return Promise.resolve(undefined);
    const lease = this.#takers.wait(signal);
    this.#handOut();
    return lease;
  }

  /**
   * Takes no more work and lets go of what waits: whoever starts next reads the world afresh anyway. Resolves when the
   * last lease is done.
   */
  shutDown(): Promise<void> {
    if (this.#drained !== undefined) return this.#drained.promise;
    this.#drained = Promise.withResolvers();
    this.#delayed.clear();
    for (const item of this.#waiting.values()) this.#lanes.withdraw(item);
    this.#waiting.clear();
    for (const running of this.#running.values()) running.again = undefined;
    this.#takers.sendAway();
    if (this.#running.size === 0) this.#drained.resolve();
    return this.#drained.promise;
  }

  /** How the queue stands at this moment. */
  stats(): WorkQueueStats {
    const now = this.#now();
    const ages = Array.from(this.#running.values(), ({ since }) => now - since);
    return {
      depth: this.#waiting.size,
      depthByPriority: this.#lanes.sizes(),
      delayed: this.#delayed.size,
      running: this.#running.size,
      oldestWaitMs: now - (this.#lanes.oldestSince() ?? now),
      unfinishedMs: ages.reduce((sum, age) => sum + age, 0),
      longestRunningMs: Math.max(0, ...ages),
    };
  }

  #now(): number {
    return this.#options.environment.clock.monotonic();
  }

  #item(key: string, { priority = 0, group, reason }: AddOptions, before: Waiting | undefined): Waiting {
    return {
      key,
      priority,
      group: before?.group ?? group ?? this.#options.groupOf?.(key) ?? "",
      since: before?.since ?? this.#now(),
      reasons: before?.reasons ?? (reason === undefined ? [] : [reason]),
      gone: false,
    };
  }

  /** Puts an item in line, in place of what waited for its key before. */
  #wait(item: Waiting, before?: Waiting): void {
    if (before !== undefined) this.#lanes.withdraw(before);
    this.#waiting.set(item.key, item);
    this.#lanes.add(item);
    this.#handOut();
  }

  #handOut(): void {
    while (this.#takers.present) {
      const item = this.#lanes.take(this.#now());
      if (item === undefined) return;
      this.#waiting.delete(item.key);
      this.#takers.give(this.#lease(item));
    }
  }

  #lease({ key, group, priority, since, reasons }: Waiting): Lease {
    const now = this.#now();
    const waitedMs = now - since;
    const running: Running = { since: now, again: undefined };
    this.#running.set(key, running);
    this.#options.observer?.taken?.(waitedMs);
    const done = () => this.#done(key, running);
    return { key, group, priority, waitedMs, failures: this.failuresOf(key), reasons, done, [Symbol.dispose]: done };
  }

  #done(key: string, running: Running): void {
    if (this.#running.get(key) !== running) return;
    this.#running.delete(key);
    this.#options.observer?.finished?.(this.#now() - running.since);
    if (running.again !== undefined) this.#wait(running.again);
    if (this.#running.size === 0) this.#drained?.resolve();
  }
}

function note(item: Waiting, reason: string | undefined): void {
  if (reason === undefined || item.reasons.length >= mostReasons || item.reasons.includes(reason)) return;
  item.reasons.push(reason);
}
