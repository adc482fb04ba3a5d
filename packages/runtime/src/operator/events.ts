// Events (events.k8s.io/v1): what `kubectl describe` and `kubectl events` show about an object. They are courtesy: telling
// must never hold up a reconcile, never fail one and never flood the API server. So `record` only notes; one writer works
// through what was noted, at its own pace and with its own budget, and what cannot be written is counted and let go. That we may
// not write at all is said once for a namespace: what is not there is not missed until it is needed.
import type { Client } from "../client/client.ts";
import { AlreadyExistsError, ApiError, ForbiddenError, NotFoundError, TransportError } from "../client/errors.ts";
import type { Cancel, Environment } from "../concurrency/environment.ts";
import type { Logger } from "../concurrency/logger.ts";
import { TokenBucket } from "../concurrency/token-bucket.ts";
import { Event } from "../objects/kinds/events.ts";
import { formatMicroTime } from "../objects/time.ts";
import { type EventInput, EventSeries, type EventSource, type Series } from "./event-series.ts";

export type EventOutcome = "created" | "updated" | "dropped" | "failed";

export interface EventRecorderOptions extends EventSource {
  readonly client: Pick<Client, "create" | "patch">;
  readonly environment: Environment;
  readonly log: Logger;
  /** Counted by what became of them. */
  readonly onOutcome?: (outcome: EventOutcome) => void;
}

/** What is to be written of a series, and how it has gone so far. */
interface Entry {
  readonly series: Series;
  exists: boolean;
  writtenCount: number;
  writtenAt: number;
  /** On its way to the writer: further repetitions go with it. */
  waiting: boolean;
  failures: number;
}

// The count of a series that goes on is written once a minute; the first repetition at once, since it is news.
const betweenUpdatesMs = 60_000;
const budget = { perSecond: 5, burst: 25 };
const longestQueue = 1_000;
const retryMs = [1_000, 5_000, 25_000];

export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #series: EventSeries;
  readonly #budget: TokenBucket;
  readonly #entries = new WeakMap<Series, Entry>();
  readonly #queue: Entry[] = [];
  /** Those whose time to be written has not come, and how to stop the timer that waits for it. */
  readonly #waiting = new Map<Entry, Cancel>();
  /** Namespaces in which we were told that we may not. */
  readonly #refusedIn = new Set<string>();
  readonly #ending = new AbortController();
  /** We are leaving: what there is budget for is written, nobody waits for more. */
  readonly #leaving = new AbortController();
  #writing: Promise<void> | undefined;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#series = new EventSeries(options.environment, options);
    this.#budget = new TokenBucket({ clock: options.environment.clock, ...budget });
  }

  /** Notes that something happened. Returns at once and never throws. */
  record(input: EventInput): void {
    const series = this.#ending.signal.aborted ? undefined : this.#series.note(input);
    if (series === undefined) this.#outcome("dropped");
    else this.#noted(series);
  }

  /**
   * Writes what is still to be written, as far as the budget goes and for as long as the signal allows, and records nothing
   * from then on. Only the server can keep it waiting. No timer is left: one would keep the process for a minute.
   */
  async close(signal: AbortSignal): Promise<void> {
    this.#leaving.abort();
    const stop = () => this.#ending.abort(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    for (const [entry, cancel] of this.#waiting) {
      cancel();
      this.#enqueue(entry);
    }
    await this.#writing;
    signal.removeEventListener("abort", stop);
    this.#ending.abort();
  }

  #noted(series: Series): void {
    const fresh = { series, exists: false, writtenCount: 0, writtenAt: 0, waiting: false, failures: 0 };
    const entry = this.#entries.get(series) ?? fresh;
    this.#entries.set(series, entry);
    if (!entry.waiting) this.#schedule(entry, this.#delayFor(entry));
  }

  #delayFor({ writtenCount, writtenAt }: Entry): number {
    if (writtenCount < 2) return 0;
    return Math.max(0, writtenAt + betweenUpdatesMs - this.#options.environment.clock.monotonic());
  }

  #schedule(entry: Entry, delayMs: number): void {
    const { clock } = this.#options.environment;
    const enqueue = () => this.#enqueue(entry);
    entry.waiting = true;
    if (delayMs === 0 || this.#leaving.signal.aborted) enqueue();
    else this.#waiting.set(entry, clock.after(delayMs, enqueue));
  }

  #enqueue(entry: Entry): void {
    this.#waiting.delete(entry);
    if (this.#ending.signal.aborted || this.#queue.length >= longestQueue) {
      entry.waiting = false;
      this.#outcome("dropped");
      return;
    }
    this.#queue.push(entry);
    this.#writing ??= this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    const { signal } = this.#ending;
    for (let entry = this.#queue.shift(); entry !== undefined && !signal.aborted; entry = this.#queue.shift()) {
      entry.waiting = false;
      if (!(await this.#mayWrite())) {
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
    this.#writing = undefined; // at once: what is noted from here on needs another writer
  }

  async #mayWrite(): Promise<boolean> {
    const { signal } = this.#leaving;
    if (this.#budget.tryTake()) return true;
    return this.#budget.take(signal).then(
      () => true,
      () => false,
    );
  }

  async #write(entry: Entry, signal: AbortSignal): Promise<void> {
    const { client, environment } = this.#options;
    const { event, count } = entry.series;
    // The count may grow while we write; what is noted as written is what was sent.
    const lastObservedTime = formatMicroTime(environment.clock.now());
    const limits = { signal, timeoutMs: 10_000 };
    if (entry.exists)
      await client.patch(Event, event.metadata, { type: "merge", body: { series: { count, lastObservedTime } } }, limits);
    else
      await client
        .create(Event, count === 1 ? event : { ...event, series: { count, lastObservedTime } }, limits)
        .catch(unlessThere);
    this.#outcome(entry.exists ? "updated" : "created");
    entry.exists = true;
    entry.writtenCount = count;
    entry.writtenAt = environment.clock.monotonic();
  }

  #failed(entry: Entry, error: unknown): void {
    const delayMs = this.#ending.signal.aborted ? undefined : retryDelay(entry, error, this.#leaving.signal.aborted);
    entry.failures += 1;
    if (error instanceof NotFoundError) entry.exists = false;
    if (delayMs !== undefined) {
      this.#schedule(entry, delayMs);
      return;
    }
    this.#outcome("failed");
    this.#series.forget(entry.series);
    this.#complain(entry.series.event, error);
  }

  #complain({ metadata: { namespace }, regarding, reason }: Series["event"], error: unknown): void {
    const { log } = this.#options;
    if (!isRefused(error) || this.#refusedIn.has(namespace)) {
      log.debug({ err: error, regarding: regarding?.name, reason }, "event could not be written");
      return;
    }
    this.#refusedIn.add(namespace);
    log.warn({ err: error, namespace }, "events may not be written here: kubectl describe will not show them");
  }

  #outcome(outcome: EventOutcome): void {
    this.#options.onOutcome?.(outcome);
  }
}

/** How long to wait before another try, if it is worth one; whoever is leaving does not wait. */
function retryDelay({ exists, failures }: Entry, error: unknown, leaving: boolean): number | undefined {
  // The server lets go of Events after an hour, also of one whose series goes on: then it is created again.
  if (error instanceof NotFoundError && exists) return 0;
  const passing = error instanceof TransportError || (error instanceof ApiError && (error.status === 429 || error.status >= 500));
  return passing && !leaving ? retryMs[failures] : undefined;
}

/** By RBAC, that is: in a namespace that is being deleted nobody may write. */
function isRefused(error: unknown): boolean {
  return error instanceof ForbiddenError && !error.causes.some(({ reason }) => reason === "NamespaceTerminating");
}

/** An earlier try got through after all, only its answer did not. */
function unlessThere(error: unknown): void {
  if (!(error instanceof AlreadyExistsError)) throw error;
}
