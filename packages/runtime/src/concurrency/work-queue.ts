// The work queue, similar to client-go's: each key is queued at most once, and at most one worker processes a key at a time.
//
// The queue holds keys, not events. Ten changes of one object while it waits result in one reconcile, because a reconciler reads the
// current state. A change while the object is being processed results in one more reconcile afterwards, because the worker may have
// read the object before the change. Hence:
//
//   add             queues a key now, and replaces an earlier addAfter. With `respectBackoff`, a key that waits for its retry after a
//                   failure stays delayed.
//   addAfter        queues a key after a delay. The earliest of several times wins, and `add` wins over any of them.
//   get             returns the next key as a work item. No other worker gets the key until the item is done.
//
// Order: higher priorities first, groups in turns, with aging (priority-lanes.ts). Metrics come from the observer and from `stats()`;
// controller/metrics.ts gives them the names that existing dashboards use.
//
//     using item = await queue.get(signal);
//     if (item !== undefined) await work(item.key);
import { Takers } from "./collections.ts";
import { DelayQueue } from "./delay-queue.ts";
import type { Environment } from "./environment.ts";
import { type PrioritizedItem, PriorityLanes } from "./priority-lanes.ts";

export interface WorkQueueOptions {
  readonly environment: Pick<Environment, "clock" | "random">;
  /** Keys that have waited this long get every second turn, regardless of their priority. @default 10000 */
  readonly ageAfterMs?: number;
  /** The group of a key that is added without one. @default one group for all keys */
  readonly groupOf?: (key: string) => string;
  readonly observer?: WorkQueueObserver;
}

export interface AddOptions {
  /** Higher goes first. A key that already waits keeps its highest priority. @default 0 */
  readonly priority?: number;
  /** Groups take turns. @default the result of `groupOf` */
  readonly group?: string;
  /** Why the key was added, for `WorkItem.reasons`. */
  readonly reason?: string;
  /**
   * Do not shorten a backoff. Use this for triggers that fire whether or not anything changed, such as a poll; otherwise each of them
   * would immediately retry what has just failed. @default false
   */
  readonly respectBackoff?: boolean;
}

export interface AddAfterOptions extends AddOptions {
  /** The delay is the backoff after a failure, so an `add` with `respectBackoff` does not shorten it. @default false */
  readonly backoff?: boolean;
}

/** A key that a worker is processing. */
export interface WorkItem extends Disposable {
  readonly key: string;
  readonly group: string;
  readonly priority: number;
  /** How long the key waited. */
  readonly waitedMs: number;
  /** Why the key was added: the first eight distinct reasons. */
  readonly reasons: readonly string[];
  /** Releases the key. If it was added in the meantime, it is queued again. Calling it twice has no effect. */
  done(): void;
}

interface Waiting extends PrioritizedItem {
  readonly key: string;
  readonly reasons: string[];
  /** Every `add` of this item had `respectBackoff`. */
  respectsBackoff: boolean;
}

interface Running {
  readonly since: number;
  /** Set if the key was added while it was being processed. */
  again: Waiting | undefined;
}

/** Bounds the memory of a key that is added more often than it is processed. */
const mostReasons = 8;

/** A queue of keys with deduplication, priorities, fairness between groups and delays. */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #waiting = new Map<string, Waiting>();
  readonly #lanes: PriorityLanes<Waiting>;
  readonly #delayed: DelayQueue<AddAfterOptions>;
  readonly #running = new Map<string, Running>();
  readonly #takers = new Takers<WorkItem>();
  /** Set by `shutDown`. */
  #drained: PromiseWithResolvers<void> | undefined;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#lanes = new PriorityLanes(options.ageAfterMs ?? 10_000);
    this.#delayed = new DelayQueue({ clock: options.environment.clock, onDue: (key, how) => this.add(key, how) });
  }

  /** Keys that wait, not counting delayed ones. */
  get length(): number {
    return this.#waiting.size;
  }

  /** Queues a key now. */
  add(key: string, options: AddOptions = {}): void {
    if (this.#drained !== undefined) return;
    const { respectBackoff = false } = options;
    if (respectBackoff && this.#delayed.get(key)?.backoff === true) return;
    this.#delayed.delete(key);
    const running = this.#running.get(key);
    const before = running === undefined ? this.#waiting.get(key) : running.again;
    if (before !== undefined) {
      note(before, options.reason);
      before.respectsBackoff &&= respectBackoff;
    }
    if (before !== undefined && (options.priority ?? 0) <= before.priority) return;
    const item = this.#item(key, options, before);
    if (before === undefined) this.#options.observer?.added?.();
    if (running !== undefined) running.again = item;
    else this.#wait(item, before);
  }

  /** Queues a key after a delay. Has no effect if the key is due earlier. */
  addAfter(key: string, delayMs: number, options: AddAfterOptions = {}): void {
    if (options.backoff === true && delayMs > 0) this.#withdrawRespectful(key);
    const sooner = this.#waiting.has(key) || this.#running.get(key)?.again !== undefined;
    if (!(delayMs > 0)) this.add(key, options);
    else if (!sooner && this.#drained === undefined) this.#delayed.put(key, delayMs, options);
  }

  /** A backoff starts: earlier adds with `respectBackoff` wait for its end. */
  #withdrawRespectful(key: string): void {
    const running = this.#running.get(key);
    if (running?.again?.respectsBackoff) running.again = undefined;
    const waiting = this.#waiting.get(key);
    if (!waiting?.respectsBackoff) return;
    this.#lanes.withdraw(waiting);
    this.#waiting.delete(key);
  }

  /** Resolves with the next key as soon as there is one, or with undefined once the queue is shut down. */
  get(signal?: AbortSignal): Promise<WorkItem | undefined> {
    if (this.#drained !== undefined) return Promise.resolve(undefined);
    const item = this.#takers.wait(signal);
    this.#handOut();
    return item;
  }

  /**
   * Accepts no more keys and drops those that wait: the next process lists all objects anyway. Resolves when the last work item is
   * done.
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

  /** The current state of the queue. */
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

  #item(key: string, options: AddOptions, before: Waiting | undefined): Waiting {
    const { priority = 0, group, reason, respectBackoff = false } = options;
    return {
      key,
      priority,
      group: before?.group ?? group ?? this.#options.groupOf?.(key) ?? "",
      since: before?.since ?? this.#now(),
      reasons: before?.reasons ?? (reason === undefined ? [] : [reason]),
      respectsBackoff: before?.respectsBackoff ?? respectBackoff,
      gone: false,
    };
  }

  /** Queues an item, replacing the one that waited for the same key. */
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
      this.#takers.give(this.#workItem(item));
    }
  }

  #workItem({ key, group, priority, since, reasons }: Waiting): WorkItem {
    const now = this.#now();
    const waitedMs = now - since;
    const running: Running = { since: now, again: undefined };
    this.#running.set(key, running);
    this.#options.observer?.taken?.(waitedMs);
    const done = () => this.#done(key, running);
    return { key, group, priority, waitedMs, reasons, done, [Symbol.dispose]: done };
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

/** Receives queue events for metrics. All methods are optional and must not throw. */
export interface WorkQueueObserver {
  /** A key was queued. Not called for a key that already waits. */
  added?(): void;
  /** A worker took a key that had waited this long. */
  taken?(waitedMs: number): void;
  /** A work item is done, after this processing time. */
  finished?(workedMs: number): void;
}

/** The state of a queue at one moment, for gauges. */
export interface WorkQueueStats {
  /** Keys that wait, not counting delayed ones. */
  readonly depth: number;
  readonly depthByPriority: ReadonlyMap<number, number>;
  /** Delayed keys. */
  readonly delayed: number;
  /** Work items that are not done. */
  readonly running: number;
  /** How long the oldest waiting key has waited; 0 if none waits. */
  readonly oldestWaitMs: number;
  /** The sum of the processing times of all items that are not done. */
  readonly unfinishedMs: number;
  /** The processing time of the oldest item that is not done. */
  readonly longestRunningMs: number;
}

export interface KeyedRunnerOptions {
  /** How many keys are processed at the same time. @default 1 */
  readonly concurrency?: number;
  /** Processes one key. The key is released when it returns or throws. */
  readonly work: (item: WorkItem) => Promise<void>;
  /** Called with an error that `work` threw. `work` should handle its own failures, so an error here is a bug. */
  readonly onError: (error: unknown, item: WorkItem) => void;
}

/** Runs workers until the queue is shut down and all work items are done. An error in `work` does not stop a worker. */
export async function runKeyed(queue: WorkQueue, options: KeyedRunnerOptions): Promise<void> {
  const { concurrency = 1 } = options;
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw new RangeError(`expected concurrency to be a whole number of at least 1, found ${concurrency}`);
  await Promise.all(Array.from({ length: concurrency }, () => runWorker(queue, options)));
}

async function runWorker(queue: WorkQueue, { work, onError }: KeyedRunnerOptions): Promise<void> {
  for (let item = await queue.get(); item !== undefined; item = await queue.get()) {
    try {
      await work(item);
    } catch (error) {
      onError(error, item);
    } finally {
      item.done();
    }
  }
}
