// Keeps a store equal to what the server has. It only ends when it is stopped.
//
// A reflector runs in sessions, one connection each: list, then watch from the version of the list. When the connection ends, the
// next session resumes from the last version seen. When the server no longer has that version, it lists again and removes the objects
// that are gone. next-session.ts decides what follows which end.
//
// It knows three ways to list and changes to another one when one fails: "scan" reads a single response while it arrives and is the
// fastest, but servers end any response after a minute; "stream" receives the list as watch events and continues as the watch;
// "pages" always works. It never asks for `resourceVersion=0`, because a server may answer that from a cache older than what this
// reflector has already seen.
//
// A dead connection looks like a quiet cluster, so the reflector closes a watch after `idleMs` without data. Servers send bookmarks about
// once a minute, and one shortly before a watch ends by its own time limit (observed on 1.37). For a quiet kind the reflector therefore
// asks for a time limit below `idleMs`: a healthy watch ends in time with a bookmark, and a path that drops packets is noticed in less
// than a minute. A request that gets no response is given up after `answerMs`; each of the next ones waits twice as long, up to four
// times `answerMs`, so that a slow server gets its time.
//
// After a failure the server may be a different one with older data (restored from a backup). The reflector then compares versions
// before it trusts the watch.
import type { Client, WatchEvent, WatchOptions } from "../client/client.ts";
import { ExpiredError, IdleWatchError, TimeoutError, TransportError } from "../client/errors.ts";
import { anySignal } from "../concurrency/abort.ts";
import { Backoff } from "../concurrency/backoff.ts";
import type { Environment, Logger } from "../concurrency/environment.ts";
import { settled } from "../concurrency/system-environment.ts";
import type { Kind, KubernetesObject, ObjectRef, Stored } from "../objects/object.ts";
import {
  afterSession,
  type Listing,
  type NextSession,
  type ReflectorTiming,
  RestoredError,
  type SessionEnd,
} from "./next-session.ts";
import { isOlder, type Progress } from "./own-writes.ts";
import type { Projection, Selection } from "./projection.ts";
import type { ObjectStore } from "./store.ts";
import { type CacheState, Freshness, Listings, WatchActivity, WatchErrorLog } from "./watch-state.ts";

export interface ReflectorOptions<T extends KubernetesObject> {
  readonly client: Pick<Client, "list" | "watch" | "scan" | "follow">;
  readonly kind: Kind<T>;
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  readonly selection: Selection;
  readonly project: Projection<T>;
  readonly store: ObjectStore<T>;
  readonly environment: Environment;
  readonly log: Logger;
  readonly timing: ReflectorTiming;
  /** Called after each event and bookmark. */
  readonly onEvent: () => void;
  /** Called after each list, and when the state has changed. */
  readonly onState: () => void;
}

/** Lists and watches one kind in one namespace, or in all, and writes the results to a store. */
export class Reflector<T extends KubernetesObject> implements Progress {
  readonly #options: ReflectorOptions<T>;
  readonly #backoff: Backoff;
  readonly #freshness: Freshness;
  readonly #activity: WatchActivity;
  readonly #listings: Listings;
  readonly #errorLog: WatchErrorLog;
  #interrupt = new AbortController();
  /** The version up to which the store is complete. */
  #position: string | undefined;
  /** The same, or undefined to list again. */
  #resumeFrom: string | undefined;
  /** A session failed since the last list, so the server may have been restored from a backup. */
  #suspicious = false;
  /** The last watch had no events or failed, so the next one gets a time limit below `idleMs`. */
  #quiet = false;
  #listBy: Listing = "scan";
  /** Consecutive sessions without a response. */
  #unanswered = 0;

  constructor(options: ReflectorOptions<T>) {
    const { kind, environment, timing, log, onState } = options;
    const { clock } = environment;
    this.#options = options;
    this.#freshness = new Freshness({ clock, log, toleranceMs: timing.toleranceMs, onChange: onState });
    this.#backoff = new Backoff(timing.backoff, environment);
    this.#activity = new WatchActivity(clock);
    this.#listings = new Listings(clock);
    this.#errorLog = new WatchErrorLog(kind, log);
  }

  get state(): CacheState {
    return this.#freshness.state;
  }

  /** Undefined: all namespaces. */
  get namespace(): string | undefined {
    return this.#options.namespace;
  }

  /** Milliseconds since the last event or bookmark. */
  get lastEventAgeMs(): number {
    return this.#activity.ageMs;
  }

  get position(): string | undefined {
    return this.#position;
  }

  get listingsBegun(): number {
    return this.#listings.begun;
  }

  get listingDone(): number {
    return this.#listings.done;
  }

  get(ref: ObjectRef): Stored<T> | undefined {
    return this.#options.store.get(ref);
  }

  /** Lists again, in a list that begins after this call. The store and its state stay as they are until it is complete. */
  refresh(): void {
    this.#listings.want();
    if (this.#listings.underWay === undefined) this.#interrupt.abort();
  }

  /** Runs until the signal aborts. It never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const end = await this.#session(signal);
      if (!signal.aborted) await this.#prepare(this.#whatNext(end), end, signal);
    }
    this.#freshness.stop();
  }

  async #session(signal: AbortSignal): Promise<SessionEnd> {
    this.#interrupt = new AbortController();
    using either = anySignal([signal, this.#interrupt.signal]);
    this.#activity.begin();
    this.#listings.giveUp();
    const resumed = this.#resumeFrom !== undefined;
    const how: { error?: unknown } = await this.#listAndWatch(either.signal).catch((error: unknown) => ({ error }));
    return { ...how, resumed, listing: this.#listings.underWay, ...this.#activity.end() };
  }

  async #listAndWatch(signal: AbortSignal): Promise<{ error?: unknown }> {
    if (this.#resumeFrom === undefined && this.#listBy === "scan") await this.#scan(signal);
    if (this.#resumeFrom === undefined && this.#listBy === "pages") await this.#listPages(signal);
    if (this.#resumeFrom === undefined) await this.#watchWithList(signal);
    else if (!this.#listings.wanted) await this.#watchFrom(this.#resumeFrom, signal);
    return {};
  }

  // Listing.

  async #scan(signal: AbortSignal): Promise<void> {
    const { client, kind, project } = this.#options;
    if (client.scan === undefined) return;
    const snapshot = this.#beginListing("scan");
    const take = (object: Stored<T>) => {
      this.#activity.receive();
      snapshot.put(object);
    };
    const options = { ...this.#scope(), ...this.#patience(), project, signal };
    const { resourceVersion } = await client.scan(kind, take, options);
    this.#finishListing(snapshot, resourceVersion);
    await settled(); // let work that waits for the list start first; the watch connects in the next turn of the event loop
    signal.throwIfAborted();
  }

  async #listPages(signal: AbortSignal): Promise<void> {
    const { client, kind, project, timing } = this.#options;
    const snapshot = this.#beginListing("pages");
    let page = await client.list(kind, { ...this.#scope(), limit: timing.pageSize, signal });
    for (;;) {
      for (const object of page.items) snapshot.put(project(object));
      const { continue: next, resourceVersion } = page.metadata;
      if (next === undefined || next === "") return this.#finishListing(snapshot, resourceVersion);
      page = await client.list(kind, { ...this.#scope(), limit: timing.pageSize, continue: next, signal });
    }
  }

  async #watchWithList(signal: AbortSignal): Promise<void> {
    let snapshot: Snapshot<T> | undefined = this.#beginListing("stream");
    const again = new AbortController();
    using either = anySignal([signal, again.signal]);
    const take = (event: WatchEvent<T>) => {
      if (snapshot === undefined) this.#take(event);
      else if (event.type === "DELETED") snapshot.remove(event.object);
      else if (event.type !== "BOOKMARK") snapshot.put(event.object);
      else if (event.initialEventsEnd) {
        this.#finishListing(snapshot, event.resourceVersion);
        snapshot = undefined;
        if (this.#listings.wanted) again.abort();
      }
    };
    await this.#follow(take, { sendInitialEvents: true, timeoutSeconds: this.#longTimeout(), signal: either.signal });
  }

  #beginListing(how: Listing): Snapshot<T> {
    this.#listings.begin(how);
    return new Snapshot(this.#options.store, this.#options.namespace);
  }

  #finishListing(snapshot: Snapshot<T>, resourceVersion: string): void {
    snapshot.finish();
    this.#listings.finish();
    this.#suspicious = false;
    this.#quiet = true; // until something happens
    this.#position = resourceVersion;
    this.#resumeFrom = resourceVersion;
    this.#freshness.alive();
    this.#options.onState();
  }

  // Watching.

  async #watchFrom(resourceVersion: string, signal: AbortSignal): Promise<void> {
    const { timing } = this.#options;
    const timeoutSeconds = this.#quiet ? timing.quietTimeoutSeconds : this.#longTimeout();
    this.#quiet = true;
    const restored = new AbortController();
    using either = anySignal([signal, restored.signal]);
    const onOpen = () => {
      this.#activity.opened(timeoutSeconds * 1_000 < timing.idleMs);
      if (!this.#suspicious) this.#freshness.alive();
      else this.#compare(resourceVersion, either.signal).catch((error: unknown) => restored.abort(error));
    };
    try {
      await this.#follow((event) => this.#take(event), { resourceVersion, timeoutSeconds, signal: either.signal, onOpen });
    } finally {
      restored.abort(); // a comparison that ends later must not report that this watch is alive
    }
  }

  /**
   * Checks that the server is not behind this cache. A server that was restored from a backup accepts the watch, but sends no events
   * until it has reached the version again (observed on 1.37). The version of a list shows where it is.
   */
  async #compare(resumedFrom: string, signal: AbortSignal): Promise<void> {
    const { client, kind } = this.#options;
    const { timeoutMs } = this.#patience();
    const { metadata } = await client.list(kind, { ...this.#scope(), limit: 1, timeoutMs, signal });
    if (isOlder(metadata.resourceVersion, resumedFrom)) throw new RestoredError(resumedFrom, metadata.resourceVersion);
    this.#suspicious = false;
    this.#freshness.alive();
  }

  #take(event: WatchEvent<T>): void {
    const { store, onEvent } = this.#options;
    this.#errorLog.eventReceived();
    if (event.type === "BOOKMARK") this.#resumeFrom = event.resourceVersion || this.#resumeFrom;
    else {
      this.#quiet = false;
      this.#resumeFrom = event.object.metadata.resourceVersion;
      if (event.type === "DELETED") store.remove(event.object, { listed: false });
      else store.put(event.object, { listed: false });
    }
    this.#position = this.#resumeFrom;
    onEvent();
  }

  async #follow(
    take: (event: WatchEvent<T>) => void,
    how: Pick<WatchOptions<T>, "resourceVersion" | "sendInitialEvents" | "timeoutSeconds" | "signal" | "onOpen">,
  ): Promise<void> {
    const { client, kind, project } = this.#options;
    const options = { ...this.#scope(), ...this.#patience(), project, ...how };
    const receive = (event: WatchEvent<T>) => {
      this.#activity.receive();
      take(event);
    };
    if (client.follow !== undefined) await client.follow<T>(kind, receive, options);
    else for await (const event of client.watch<T>(kind, options)) receive(event);
  }

  #scope(): Selection & { namespace?: string | undefined } {
    return { ...this.#options.selection, namespace: this.#options.namespace };
  }

  #patience(): { readonly idleMs: number; readonly timeoutMs: number } {
    const { idleMs, answerMs } = this.#options.timing;
    return { idleMs, timeoutMs: answerMs * 2 ** Math.min(this.#unanswered, 2) };
  }

  /** Random, so that the watches of many processes do not all end in the same minute. */
  #longTimeout(): number {
    const { environment, timing } = this.#options;
    return Math.round(timing.timeoutSeconds * (1 + environment.random()));
  }

  // Between sessions.

  #whatNext(end: SessionEnd): NextSession {
    if (this.#listings.wanted) return { from: "list", when: "at once" };
    return afterSession(end);
  }

  async #prepare(next: NextSession, end: SessionEnd, signal: AbortSignal): Promise<void> {
    const { timing, environment } = this.#options;
    if (next.from === "list" || this.#listings.isDueAfter(timing.relistMs)) this.#resumeFrom = undefined;
    this.#unanswered = end.error instanceof TimeoutError ? this.#unanswered + 1 : 0;
    // Older servers respond only when they have the whole list. If that takes too long, the list can still be streamed.
    this.#listBy = next.listBy ?? (this.#unanswered > 2 ? "stream" : "scan");
    // After a failure, use a short time limit: then a watch without data is known to be broken.
    if (end.error !== undefined) this.#quiet = this.#suspicious = true;
    this.#doubt(next, end);
    if (next.when === "at once") return;
    const delayMs = Math.max(Math.min(this.#backoff.next(), next.atMostMs ?? Number.POSITIVE_INFINITY), next.atLeastMs ?? 0);
    this.#errorLog.failed(end.error, { delayMs, failures: this.#backoff.failures });
    await environment.clock.sleep(delayMs, signal).catch(() => {}); // aborted: the loop checks the signal
  }

  /** Updates the state after a session, until the next watch opens or the next list completes. */
  #doubt(next: NextSession, end: SessionEnd): void {
    // A failed list loses no known state. Only the end of a watch shows that history is gone.
    const expired = end.error instanceof RestoredError || end.error instanceof ExpiredError;
    const lost = expired || (next.when === "later" && next.from === "list");
    if (lost && end.listing === undefined) this.#freshness.lost(end.error);
    else if (next.when === "later" || end.error instanceof TransportError) this.#freshness.disconnected(end.error);
    if (end.listing === undefined && next.from === "list" && end.error instanceof IdleWatchError)
      this.#errorLog.silentWatch(end.error);
  }
}

const listed = { listed: true } as const;

/**
 * Writes one list to a store while it arrives. Objects go straight into the store, because a second copy would double the memory, and
 * only their UIDs are kept. At the end, it removes the stored objects that are not in the list. A list that fails halfway has only
 * stored newer states.
 */
export class Snapshot<T extends KubernetesObject> {
  readonly #store: ObjectStore<T>;
  readonly #namespace: string | undefined;
  /** Undefined if the store was empty, so that no object can be missing from the list. */
  readonly #seen: Set<string> | undefined;

  /** @param namespace Undefined: all namespaces. */
  constructor(store: ObjectStore<T>, namespace?: string) {
    this.#store = store;
    this.#namespace = namespace;
    this.#seen = store.isEmpty(namespace) ? undefined : new Set();
  }

  put(object: Stored<T>): void {
    this.#store.put(object, listed);
    this.#seen?.add(object.metadata.uid);
  }

  /** A streamed list may include deletions that happened while it was streamed. */
  remove(object: Stored<T>): void {
    this.#store.remove(object, listed);
  }

  /** The list is complete. */
  finish(): void {
    const seen = this.#seen;
    if (seen === undefined) return;
    const gone: Stored<T>[] = [];
    for (const object of this.#store.objects(this.#namespace)) if (!seen.has(object.metadata.uid)) gone.push(object);
    for (const object of gone) this.#store.remove(object, listed);
  }
}
