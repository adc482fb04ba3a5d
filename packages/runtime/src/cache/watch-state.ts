// The state of a reflector: whether its store is current (Freshness), what arrived when (WatchActivity), its lists (Listings), and
// its log (WatchErrorLog).

import { ForbiddenError, NotFoundError } from "../client/errors.ts";
import type { Cancel, Clock, Logger } from "../concurrency/environment.ts";
import type { Kind } from "../objects/object.ts";
import type { Listing, SessionEnd } from "./next-session.ts";

/**
 * "starting": never complete yet. "live": complete and connected. "stale": the cache was complete, but has lost history, or its
 * connection for longer than `toleranceMs`.
 */
export type CacheState = "starting" | "live" | "stale";

export interface FreshnessOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** How long the cache may be disconnected before it is stale. */
  readonly toleranceMs: number;
  readonly onChange: () => void;
}

/** Tracks the state of a cache. Interruptions shorter than `toleranceMs` do not change it. */
export class Freshness {
  readonly #options: FreshnessOptions;
  #state: CacheState = "starting";
  #cancelPatience: Cancel | undefined;

  constructor(options: FreshnessOptions) {
    this.#options = options;
  }

  get state(): CacheState {
    return this.#state;
  }

  /** The cache is complete and connected. */
  alive(): void {
    this.stop();
    if (this.#state === "live") return;
    if (this.#state === "stale") this.#options.log.info({}, "cache has caught up");
    this.#become("live");
  }

  /** The connection is lost. The cache becomes stale unless `alive` is called within `toleranceMs`. */
  disconnected(error: unknown): void {
    const { clock, toleranceMs } = this.#options;
    this.#cancelPatience ??= clock.after(toleranceMs, () => this.lost(error));
  }

  /** The cache has missed events. */
  lost(error: unknown): void {
    if (this.#state !== "live") return;
    this.#options.log.warn({ err: error }, "cache is stale: reconciles that need it wait until it has caught up");
    this.#become("stale");
  }

  /** Cancels the timer. */
  stop(): void {
    this.#cancelPatience?.();
    this.#cancelPatience = undefined;
  }

  #become(state: CacheState): void {
    this.#state = state;
    this.#options.onChange();
  }
}

/** Records what arrived from the server and when. `SessionEnd` consists of it. */
export class WatchActivity {
  readonly #clock: Clock;
  #lastReceivedAt: number;
  #began = 0;
  #openedAt: number | undefined;
  #received = false;
  #silent = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#lastReceivedAt = clock.monotonic();
  }

  /** Milliseconds since anything arrived. */
  get ageMs(): number {
    return this.#clock.monotonic() - this.#lastReceivedAt;
  }

  begin(): void {
    this.#began = this.#clock.monotonic();
    this.#openedAt = undefined;
    this.#received = false;
    this.#silent = false;
  }

  /** The server accepted the watch. @param endsBeforeIdle Its time limit is below `idleMs`. */
  opened(endsBeforeIdle: boolean): void {
    this.#openedAt = this.#clock.monotonic();
    this.#silent = endsBeforeIdle;
  }

  receive(): void {
    this.#received = true;
    this.#silent = false;
    this.#lastReceivedAt = this.#clock.monotonic();
  }

  end(): Pick<SessionEnd, "lastedMs" | "openMs" | "received" | "silent"> {
    const now = this.#clock.monotonic();
    return { lastedMs: now - this.#began, openMs: now - (this.#openedAt ?? now), received: this.#received, silent: this.#silent };
  }
}

/** Counts the lists of a reflector, to tell a list that began after a request for one from a list that was already in progress. */
export class Listings {
  readonly #clock: Clock;
  #wanted = 0;
  #begun = 0;
  #done = 0;
  #lastDoneAt = 0;
  #underWay: Listing | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many have begun. */
  get begun(): number {
    return this.#begun;
  }

  /** The number of the last complete list; the first is 1. */
  get done(): number {
    return this.#done;
  }

  /** The list in progress, if any. */
  get underWay(): Listing | undefined {
    return this.#underWay;
  }

  /** Whether a requested list has not begun yet. A list that was in progress at the time of the request does not count. */
  get wanted(): boolean {
    return this.#wanted > this.#begun;
  }

  /** Requests a list that begins after this call. */
  want(): void {
    this.#wanted = this.#begun + 1;
  }

  begin(how: Listing): void {
    this.#underWay = how;
    this.#begun += 1;
  }

  finish(): void {
    this.#underWay = undefined;
    this.#done = this.#begun;
    this.#lastDoneAt = this.#clock.monotonic();
  }

  /** The list in progress, if any, has failed. */
  giveUp(): void {
    this.#underWay = undefined;
  }

  isDueAfter(relistMs: number): boolean {
    return this.#clock.monotonic() - this.#lastDoneAt >= relistMs;
  }
}

/** Logs the failures of a watch: the first in a row as a warning, the others at debug level. */
export class WatchErrorLog {
  readonly #kind: Kind;
  readonly #log: Logger;
  /** The warning about silent watches was logged, and no event has arrived since. */
  #warnedOfSilence = false;

  constructor(kind: Kind, log: Logger) {
    this.#kind = kind;
    this.#log = log;
  }

  /** @param failures In a row, this one included. */
  failed(err: unknown, { delayMs, failures }: { readonly delayMs: number; readonly failures: number }): void {
    const fields = { err, delayMs: Math.round(delayMs), failures };
    if (failures === 1) this.#log.warn(fields, `${describe(this.#kind, err)}; retrying`);
    else this.#log.debug(fields, "watch failed again; retrying");
  }

  silentWatch(err: unknown): void {
    const level = this.#warnedOfSilence ? "debug" : "warn";
    this.#log[level]({ err }, "watch was accepted, but no event arrived; listing instead until a watch delivers events");
    this.#warnedOfSilence = true;
  }

  /** A watch event or bookmark arrived. */
  eventReceived(): void {
    this.#warnedOfSilence = false;
  }
}

/** Names the two most common causes of a failed first start, because the server's message ("404 page not found") names neither. */
function describe(kind: Kind, error: unknown): string {
  const what = kind.group === "" ? kind.plural : `${kind.plural}.${kind.group}`;
  if (error instanceof NotFoundError)
    return `the API server does not serve ${what} in version ${kind.version}: install its CRD, or check the CRD's versions`;
  if (error instanceof ForbiddenError)
    return `not allowed to list and watch ${what}: grant it in the Role or ClusterRole of this user`;
  return "watch failed";
}
