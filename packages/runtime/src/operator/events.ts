// Records Events (events.k8s.io/v1), which `kubectl describe` and `kubectl events` show. Events are best effort: recording one must
// never delay or fail a reconcile, and never flood the API server. `record` only enqueues; one writer drains the queue with its own
// rate limit. Events that cannot be written are counted and dropped. Missing permission is logged once per namespace.
import type { Client } from "../client/client.ts";
import { AlreadyExistsError, ApiError, ForbiddenError, NotFoundError, TransportError } from "../client/errors.ts";
import type { Cancel, Environment, Logger } from "../concurrency/environment.ts";
import { TokenBucket } from "../concurrency/token-bucket.ts";
import { Event } from "../objects/kinds/access.ts";
import { formatMicroTime } from "../objects/time.ts";
import { type EventInput, EventSeries, type EventSource, type Series } from "./event-series.ts";

export type EventOutcome = "created" | "updated" | "dropped" | "failed";

export interface EventRecorderOptions extends EventSource {
  readonly client: Pick<Client, "create" | "patch">;
  readonly environment: Environment;
  readonly log: Logger;
  /** Called once for each Event that was written or given up. */
  readonly onOutcome?: (outcome: EventOutcome) => void;
}

/** The write state of a series. */
interface Entry {
  readonly series: Series;
  exists: boolean;
  writtenCount: number;
  writtenAt: number;
  /** Scheduled or queued: further repetitions are included in that write. */
  pending: boolean;
  failures: number;
}

// The count of an ongoing series is written once a minute; the first repetition is written immediately.
const updateIntervalMs = 60_000;
const budget = { perSecond: 5, burst: 25 };
const maxQueueLength = 1_000;
const retryDelaysMs = [1_000, 5_000, 25_000];

export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #series: EventSeries;
  readonly #budget: TokenBucket;
  readonly #entries = new WeakMap<Series, Entry>();
  readonly #queue: Entry[] = [];
  /** Entries to write later, each with a function that cancels its timer. */
  readonly #scheduled = new Map<Entry, Cancel>();
  /** Namespaces in which we lack the permission to write Events. */
  readonly #forbiddenIn = new Set<string>();
  /** Aborts when closing is over: nothing is recorded or written any more. */
  readonly #closed = new AbortController();
  /** Aborts when closing starts: from then on, Events beyond the rate limit are dropped instead of delayed. */
  readonly #closing = new AbortController();
  #writing: Promise<void> | undefined;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#series = new EventSeries(options.environment, options);
    this.#budget = new TokenBucket({ clock: options.environment.clock, ...budget });
  }

  /** Records an Event. Returns immediately and never throws. */
  record(input: EventInput): void {
    const series = this.#closed.signal.aborted ? undefined : this.#series.add(input);
    if (series === undefined) this.#outcome("dropped");
    else this.#update(series);
  }

  /**
   * Writes pending Events within the rate limit until the signal aborts. Afterwards nothing is recorded. Leaves no timer behind,
   * because a timer would keep the process alive.
   */
  async close(signal: AbortSignal): Promise<void> {
    this.#closing.abort();
    const stop = () => this.#closed.abort(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    for (const [entry, cancel] of this.#scheduled) {
      cancel();
      this.#enqueue(entry);
    }
    await this.#writing;
    signal.removeEventListener("abort", stop);
    this.#closed.abort();
  }

  #update(series: Series): void {
    const fresh = { series, exists: false, writtenCount: 0, writtenAt: 0, pending: false, failures: 0 };
    const entry = this.#entries.get(series) ?? fresh;
    this.#entries.set(series, entry);
    if (!entry.pending) this.#schedule(entry, this.#delayFor(entry));
  }

  #delayFor({ writtenCount, writtenAt }: Entry): number {
    if (writtenCount < 2) return 0;
    return Math.max(0, writtenAt + updateIntervalMs - this.#options.environment.clock.monotonic());
  }

  #schedule(entry: Entry, delayMs: number): void {
    const { clock } = this.#options.environment;
    const enqueue = () => this.#enqueue(entry);
    entry.pending = true;
    if (delayMs === 0 || this.#closing.signal.aborted) enqueue();
    else this.#scheduled.set(entry, clock.after(delayMs, enqueue));
  }

  #enqueue(entry: Entry): void {
    this.#scheduled.delete(entry);
    if (this.#closed.signal.aborted || this.#queue.length >= maxQueueLength) {
      entry.pending = false;
      this.#outcome("dropped");
      return;
    }
    this.#queue.push(entry);
    this.#writing ??= this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    const { signal } = this.#closed;
    for (let entry = this.#queue.shift(); entry !== undefined && !signal.aborted; entry = this.#queue.shift()) {
      entry.pending = false;
      if (!(await this.#waitForBudget())) {
        this.#outcome("dropped");
        continue;
      }
      try {
        await this.#write(entry, signal);
        entry.failures = 0;
      } catch (error) {
        this.#failed(entry, error);
      }
    }
    this.#writing = undefined; // synchronously: an Event recorded from here on starts a new writer
  }

  async #waitForBudget(): Promise<boolean> {
    const { signal } = this.#closing;
    if (this.#budget.tryTake()) return true;
    return this.#budget.take(signal).then(
      () => true,
      () => false,
    );
  }

  async #write(entry: Entry, signal: AbortSignal): Promise<void> {
    const { client, environment } = this.#options;
    const { event, count } = entry.series;
    // The count may grow during the request: remember the value that was sent.
    const lastObservedTime = formatMicroTime(environment.clock.now());
    const limits = { signal, timeoutMs: 10_000 };
    if (entry.exists)
      await client.patch(Event, event.metadata, { type: "merge", body: { series: { count, lastObservedTime } } }, limits);
    else
      await client
        .create(Event, count === 1 ? event : { ...event, series: { count, lastObservedTime } }, limits)
        .catch(ignoreAlreadyExists);
    this.#outcome(entry.exists ? "updated" : "created");
    entry.exists = true;
    entry.writtenCount = count;
    entry.writtenAt = environment.clock.monotonic();
  }

  #failed(entry: Entry, error: unknown): void {
    const delayMs = this.#closed.signal.aborted ? undefined : retryDelay(entry, error, this.#closing.signal.aborted);
    entry.failures += 1;
    if (error instanceof NotFoundError) entry.exists = false;
    if (delayMs !== undefined) {
      this.#schedule(entry, delayMs);
      return;
    }
    this.#outcome("failed");
    this.#series.forget(entry.series);
    this.#logFailure(entry.series.event, error);
  }

  #logFailure({ metadata: { namespace }, regarding, reason }: Series["event"], error: unknown): void {
    const { log } = this.#options;
    if (!isForbidden(error) || this.#forbiddenIn.has(namespace)) {
      log.debug({ err: error, regarding: regarding?.name, reason }, "could not write event");
      return;
    }
    this.#forbiddenIn.add(namespace);
    log.warn({ err: error, namespace }, "no permission to write events in this namespace; kubectl describe will not show them");
  }

  #outcome(outcome: EventOutcome): void {
    this.#options.onOutcome?.(outcome);
  }
}

/** Milliseconds until the next attempt; undefined if there is none. */
function retryDelay({ exists, failures }: Entry, error: unknown, closing: boolean): number | undefined {
  // The server deletes Events after an hour, even those of an ongoing series: create it again.
  if (error instanceof NotFoundError && exists) return 0;
  const transient =
    error instanceof TransportError || (error instanceof ApiError && (error.status === 429 || error.status >= 500));
  return transient && !closing ? retryDelaysMs[failures] : undefined;
}

/** True for a denial by RBAC; false for a namespace that is being deleted, which rejects every create. */
function isForbidden(error: unknown): boolean {
  return error instanceof ForbiddenError && !error.causes.some(({ reason }) => reason === "NamespaceTerminating");
}

/** An earlier attempt succeeded, but its response was lost. */
function ignoreAlreadyExists(error: unknown): void {
  if (!(error instanceof AlreadyExistsError)) throw error;
}
