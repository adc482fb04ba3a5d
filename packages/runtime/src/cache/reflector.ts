// Keeps a store equal to what the server has, for ever. The only way to fail is to be stopped.
//
// It lives in sessions, each one connection: list, then watch from there; when the connection ends, resume from the last
// version seen; when the server no longer knows that version, list again and make up for the removals that were missed.
// What follows which end is decided in after-session.ts. There are three ways to list, and what went wrong with one is
// tried another way: a scan is one answer read while it comes in, the fastest by far (client/scan/), but the server ends
// any answer after a minute; a stream of events has no such end (the same connection then goes on as the watch); pages
// always work. `resourceVersion=0` is never asked for, since that may be answered from a cache older than what we have
// seen.
//
// A dead connection looks like a quiet cluster, so silence is bounded: after `idleMs` a watch is given up. A server that has
// a newer version to tell sends a bookmark about once a minute, and two seconds before a watch ends by its own time
// limit (seen on 1.37). For a quiet kind we therefore ask for a time limit below `idleMs`: the version is carried along by
// the early bookmark, a healthy watch ends politely before the silence is too long, and a path that swallows packets is
// noticed in less than a minute, without relying on bookmarks at all. A request that the server does not even begin to answer
// is given up sooner, after `answerMs`, and the next one follows at once; each waits twice as long as the one before, up to
// four times: a slow server gets its time, and one that says nothing is not asked more often than one that is down.
//
// After a fault the server may be another one than before, with older data: then it is asked how far it is before the watch is
// believed.
//
// Whether the store may be believed meanwhile is kept in freshness.ts.

import type { Client, WatchEvent, WatchOptions } from "../client/client.ts";
import { IdleWatchError, TimeoutError, TransportError } from "../client/errors.ts";
import { anySignal } from "../concurrency/abort.ts";
import { Backoff } from "../concurrency/backoff.ts";
import type { Environment } from "../concurrency/environment.ts";
import type { Logger } from "../concurrency/logger.ts";
import { settled } from "../concurrency/system-environment.ts";
import type { Kind, KubernetesObject, ObjectRef, Stored } from "../objects/object.ts";
import { afterSession, type Listing, type NextSession, RestoredError, type SessionEnd } from "./after-session.ts";
import { Complaints } from "./complaints.ts";
import { type CacheState, Freshness } from "./freshness.ts";
import { Hearing } from "./hearing.ts";
import { Listings } from "./listings.ts";
import type { Progress } from "./own-writes.ts";
import type { Projection, Selection } from "./projection.ts";
import { Snapshot } from "./snapshot.ts";
import type { ObjectStore } from "./store.ts";
import type { ReflectorTiming } from "./timing.ts";
import { isOlder } from "./versions.ts";

export interface ReflectorOptions<T extends KubernetesObject> {
  readonly client: Pick<Client, "list" | "watch" | "scan" | "follow">;
  readonly kind: Kind<T>;
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  readonly selection: Selection;
  readonly project: Projection<T>;
  /** The projection was written for known fields: others need not come. */
  readonly knownFieldsOnly: boolean;
  readonly store: ObjectStore<T>;
  readonly environment: Environment;
  readonly log: Logger;
  readonly timing: ReflectorTiming;
  /** Called after each event that was taken, and each bookmark. */
  readonly onEvent: () => void;
  /** Called after a listing, and when the state has changed. */
  readonly onState: () => void;
}

export class Reflector<T extends KubernetesObject> implements Progress {
  readonly #options: ReflectorOptions<T>;
  readonly #backoff: Backoff;
  readonly #freshness: Freshness;
  readonly #hearing: Hearing;
  readonly #listings: Listings;
  readonly #complaints: Complaints;
  #interrupt = new AbortController();
  /** The version we know everything of. */
  #position: string | undefined;
  /** The same, unless everything is to be listed. */
  #resumeFrom: string | undefined;
  /** Something went wrong since the last listing: the server may be another one than before. */
  #suspicious = false;
  /** Nothing has happened in the last watch, or something went wrong: the next one is to end in time. */
  #quiet = false;
  #listBy: Listing = "scan";
  /** Sessions in a row that the server did not begin to answer. */
  #unanswered = 0;

  constructor(options: ReflectorOptions<T>) {
    const { kind, environment, timing, log, onState } = options;
    const { clock } = environment;
    this.#options = options;
    this.#freshness = new Freshness({ clock, log, toleranceMs: timing.toleranceMs, onChange: onState });
    this.#backoff = new Backoff(timing.backoff, environment);
    this.#hearing = new Hearing(clock);
    this.#listings = new Listings(clock);
    this.#complaints = new Complaints(kind, log);
  }

  get state(): CacheState {
    return this.#freshness.state;
  }

  /** The namespace this one looks after; undefined: all. */
  get namespace(): string | undefined {
    return this.#options.namespace;
  }

  /** Milliseconds since the last event or bookmark. */
  get lastEventAgeMs(): number {
    return this.#hearing.ageMs;
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

  /** Lists everything again, soon, in a listing that begins after this call. Until it is complete nothing else changes. */
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
    this.#hearing.begin();
    this.#listings.giveUp();
    const how: { error?: unknown } = await this.#listAndWatch(either.signal).catch((error: unknown) => ({ error }));
    return { ...how, listing: this.#listings.underWay, ...this.#hearing.end() };
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
    const { client, kind, project, knownFieldsOnly } = this.#options;
    if (client.scan === undefined) return;
    const snapshot = this.#beginListing("scan");
    const take = (object: Stored<T>) => {
      this.#hearing.hear();
      snapshot.put(object);
    };
    const options = { ...this.#scope(), ...this.#patience(), knownFieldsOnly, project, signal };
    const { resourceVersion } = await client.scan(kind, take, options);
    this.#finishListing(snapshot, resourceVersion);
    await settled(); // what has waited for the list begins in this turn of the event loop: the watch, which connects, in the next
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
      this.#hearing.opened(timeoutSeconds * 1_000 < timing.idleMs);
      if (!this.#suspicious) this.#freshness.alive();
      else this.#compare(resourceVersion, either.signal).catch((error: unknown) => restored.abort(error));
    };
    await this.#follow((event) => this.#take(event), { resourceVersion, timeoutSeconds, signal: either.signal, onOpen });
  }

  /**
   * Whether the server has come as far as we have. One that was restored from a backup has not, and does not say so: it accepts
   * the watch, and tells nothing of what happens until it gets there (seen on 1.37). Its lists do say how far it is.
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
    this.#complaints.told();
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
    const heard = (event: WatchEvent<T>) => {
      this.#hearing.hear();
      take(event);
    };
    if (client.follow !== undefined) await client.follow<T>(kind, heard, options);
    else for await (const event of client.watch<T>(kind, options)) heard(event);
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
    // Older servers begin to answer when they have the whole list: one that takes too long can still be streamed.
    this.#listBy = next.listBy ?? (this.#unanswered > 2 ? "stream" : "scan");
    // After a fault, or a long silence, the next watch is to end in time: then its own silence means something.
    if (end.error !== undefined) this.#quiet = this.#suspicious = true;
    this.#doubt(next, end);
    if (next.when === "at once") return;
    const delayMs = Math.max(Math.min(this.#backoff.next(), next.atMostMs ?? Number.POSITIVE_INFINITY), next.atLeastMs ?? 0);
    this.#complaints.failed(end.error, { delayMs, failures: this.#backoff.failures });
    await environment.clock.sleep(delayMs, signal).catch(() => {}); // stopped: the loop looks at the signal
  }

  /** What an end means for those who rely on us, until something opens or is listed. */
  #doubt(next: NextSession, end: SessionEnd): void {
    // A listing that failed loses nothing that was known before it; only a watch can find out that history is gone.
    const lost = end.error instanceof RestoredError || (next.when === "later" && next.from === "list");
    if (lost && end.listing === undefined) this.#freshness.lost(end.error);
    else if (next.when === "later" || end.error instanceof TransportError) this.#freshness.disconnected(end.error);
    if (end.listing === undefined && next.from === "list" && end.error instanceof IdleWatchError)
      this.#complaints.stayedMute(end.error);
  }
}
