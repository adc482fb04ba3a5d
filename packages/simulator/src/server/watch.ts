// Watches: the initial state if requested, then every change.
//
// - An object that begins to match the selector is ADDED; one that stops matching is DELETED.
// - Bookmarks follow the initial state, then about once a minute, and shortly before the watch ends.
// - A watch ends after `timeoutSeconds`, or after 30 to 60 minutes.
import type { Cancel } from "@memhog/runtime/concurrency";
import type { ApiObject } from "../json.ts";
import { apiVersionOf } from "../kinds/registry.ts";
import { CompactedError, type StorageEvent } from "../storage/storage.ts";
import { oneAsServed, type ServerCore, storedKindOf, type Target } from "./core.ts";
import { type AskedVersion, type Filter, filterIn, watchVersionIn } from "./list.ts";
import { flagIn, numberIn, type Query } from "./query.ts";
import { expired, internalError, StatusError } from "./status-error.ts";

const bookmarkEveryMs = 60_000;
const lastBookmarkMs = 2_000;
const shortestMs = 1_800_000;

/** Serializes the object of an event: as the object itself, or as a row of a table. */
type EventFormat = (object: ApiObject) => string;

interface WatchCall {
  readonly target: Target;
  readonly query: Query;
  readonly format: EventFormat;
  /** Aborts when the client disconnects; ends the watch. */
  readonly signal?: AbortSignal | undefined;
}

/** Starts a watch. @throws StatusError */
export function watchObjects(core: ServerCore, call: WatchCall): TextStream {
  const asked = watchVersionIn(call.query);
  const filter = filterIn(call.query, call.target.kind);
  const timeoutSeconds = numberIn(call.query, "timeoutSeconds");
  const timeoutMs = timeoutSeconds ? timeoutSeconds * 1000 : shortestMs * (1 + core.environment.random());
  const watch = new Watch(core, call, filter);
  watch.begin(asked, timeoutMs);
  return watch.stream;
}

class Watch {
  readonly stream = new TextStream(() => this.#end());
  readonly #core: ServerCore;
  readonly #call: WatchCall;
  readonly #filter: Filter | undefined;
  readonly #cancels: Cancel[] = [];
  /** Conversion is asynchronous; each event waits for the previous one, which keeps the order. */
  #tail: Promise<void> | undefined;

  constructor(core: ServerCore, call: WatchCall, filter: Filter | undefined) {
    this.#core = core;
    this.#call = call;
    this.#filter = filter;
  }

  begin(asked: AskedVersion, timeoutMs: number): void {
    const { clock } = this.#core.environment;
    const { storage } = this.#core;
    const { query } = this.#call;
    const initial = query.sendInitialEvents === undefined ? (asked.version ?? 0n) === 0n : flagIn(query, "sendInitialEvents");
    const bookmarks = flagIn(query, "allowWatchBookmarks");
    const from = initial ? storage.version : (asked.version ?? storage.version);
    if (initial) this.#sendState(bookmarks);
    if (!this.#follow(from)) return;
    if (bookmarks) {
      this.#bookmarkEvery(bookmarkEveryMs);
      // A client that resumes a quiet watch would otherwise use a version that may already be compacted.
      if (timeoutMs > lastBookmarkMs) this.#cancels.push(clock.after(timeoutMs - lastBookmarkMs, () => this.#bookmark()));
    }
    this.#cancels.push(clock.after(timeoutMs, () => this.#finish()));
    for (const signal of [this.#call.signal, this.#core.stopped]) this.#endOn(signal);
  }

  #sendState(bookmark: boolean): void {
    const { kind, namespace } = this.#call.target;
    for (const object of this.#core.storage.list(storedKindOf(kind), { namespace })) {
      this.#inOrder(object, (served) => this.#passes(served) && this.#send("ADDED", served));
    }
    if (bookmark) this.#bookmark({ "k8s.io/initial-events-end": "true" });
  }

  /** Follows the storage from this version. If the version is compacted, ends the watch with an ERROR event. */
  #follow(from: bigint): boolean {
    const { storage } = this.#core;
    const { kind, namespace } = this.#call.target;
    try {
      // A future version: send nothing until the storage reaches it.
      const start = from > storage.version ? storage.version : from;
      const listener = (event: StorageEvent) => event.version > from && this.#onEvent(event);
      this.#cancels.push(storage.watch(storedKindOf(kind), { namespace }, start, listener));
      return true;
    } catch (error) {
      if (!(error instanceof CompactedError)) throw error;
      const { body } = expired(`too old resource version: ${error.asked} (${error.oldest})`);
      this.stream.push(`${JSON.stringify({ type: "ERROR", object: body })}\n`);
      this.stream.end();
      return false;
    }
  }

  #onEvent({ type, object, previous }: StorageEvent): void {
    const { kind } = this.#call.target;
    if (kind.conversion === undefined) {
      this.#dispatch(type, object, previous);
      return;
    }
    this.#inOrder(object, async (served) => {
      this.#dispatch(type, served, previous && (await oneAsServed(kind, previous)));
    });
  }

  #dispatch(type: StorageEvent["type"], object: ApiObject, previous: ApiObject | undefined): void {
    const was = previous !== undefined && this.#passes(previous);
    const is = type !== "DELETED" && this.#passes(object);
    if (was && is) this.#send("MODIFIED", object);
    else if (is) this.#send("ADDED", object);
    // An object that stops matching is sent in its last matching state, with the resourceVersion of the change.
    else if (was) this.#send("DELETED", type === "DELETED" ? object : atVersionOf(previous, object));
  }

  #passes(object: ApiObject): boolean {
    return this.#filter === undefined || this.#filter(object);
  }

  #send(type: string, object: ApiObject): void {
    this.stream.push(`{"type":"${type}","object":${this.#call.format(object)}}\n`);
  }

  #inOrder(object: ApiObject, then: (served: ApiObject) => unknown): void {
    const { kind } = this.#call.target;
    if (kind.conversion === undefined && this.#tail === undefined) then(object);
    else
      this.#tail = (this.#tail ?? Promise.resolve())
        .then(async () => void (await then(await oneAsServed(kind, object))))
        .catch((error: unknown) => this.#fail(error));
  }

  /** Ends the watch with an ERROR event, for example if a conversion webhook fails. Skipping the event would leave a gap. */
  #fail(error: unknown): void {
    const { body } = error instanceof StatusError ? error : internalError(error instanceof Error ? error.message : String(error));
    this.stream.push(`${JSON.stringify({ type: "ERROR", object: body })}\n`);
    this.#finish();
  }

  #bookmark(annotations?: Readonly<Record<string, string>>): void {
    const { kind } = this.#call.target;
    const metadata = { resourceVersion: String(this.#core.storage.version), ...(annotations && { annotations }) };
    const object = { kind: kind.kind, apiVersion: apiVersionOf(kind), metadata } as ApiObject;
    const line = `{"type":"BOOKMARK","object":${this.#call.format(object)}}\n`;
    if (this.#tail === undefined) this.stream.push(line);
    else this.#tail = this.#tail.then(() => this.stream.push(line));
  }

  #bookmarkEvery(periodMs: number): void {
    const { clock } = this.#core.environment;
    let cancel: Cancel = () => {};
    const again = () => {
      cancel = clock.after(periodMs, () => {
        this.#bookmark();
        again();
      });
    };
    again();
    this.#cancels.push(() => cancel());
  }

  #endOn(signal: AbortSignal | undefined): void {
    const onAbort = () => this.#finish();
    signal?.addEventListener("abort", onAbort, { once: true });
    this.#cancels.push(() => signal?.removeEventListener("abort", onAbort));
  }

  #finish(): void {
    this.#end();
    this.stream.end();
  }

  #end(): void {
    for (const cancel of this.#cancels.splice(0)) cancel();
  }
}

function atVersionOf(seen: ApiObject | undefined, now: ApiObject): ApiObject {
  const { resourceVersion = "" } = now.metadata;
  return { ...(seen ?? now), metadata: { ...(seen ?? now).metadata, resourceVersion } };
}

// A stream of text for one reader. Unread text is buffered without a limit: the reader is in this process, or is a socket with
// backpressure.

const encoder = new TextEncoder();

class TextStream implements AsyncIterableIterator<Uint8Array> {
  readonly #onReturn: () => void;
  #waiting: string[] = [];
  #ended = false;
  #failure: { readonly reason: unknown } | undefined;
  #reader: PromiseWithResolvers<IteratorResult<Uint8Array>> | undefined;

  /** `onReturn` runs when the reader stops reading. */
  constructor(onReturn: () => void = () => {}) {
    this.#onReturn = onReturn;
  }

  push(text: string): void {
    if (this.#ended) return;
    const reader = this.#takeReader();
    if (reader === undefined) this.#waiting.push(text);
    else reader.resolve({ done: false, value: encoder.encode(text) });
  }

  /** Ends the stream after the buffered text. */
  end(): void {
    this.#ended = true;
    this.#takeReader()?.resolve({ done: true, value: undefined });
  }

  /** Fails the stream after the buffered text, like a broken connection. */
  fail(reason: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    const reader = this.#takeReader();
    if (reader === undefined) this.#failure = { reason };
    else reader.reject(reason);
  }

  /** Returns all buffered text as one chunk, so that a slow reader catches up in one step. */
  next(): Promise<IteratorResult<Uint8Array>> {
    if (this.#waiting.length > 0) {
      const text = this.#waiting.length === 1 ? (this.#waiting[0] ?? "") : this.#waiting.join("");
      this.#waiting = [];
      return Promise.resolve({ done: false, value: encoder.encode(text) });
    }
    if (this.#failure !== undefined) {
      const { reason } = this.#failure;
      this.#failure = undefined;
      return Promise.reject(reason);
    }
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    this.#reader = Promise.withResolvers();
    return this.#reader.promise;
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.#ended = true;
    this.#waiting = [];
    this.#onReturn();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #takeReader() {
    const reader = this.#reader;
    this.#reader = undefined;
    return reader;
  }
}
