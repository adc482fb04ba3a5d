// Watches: what is there, if that is wanted, then every change as it happens.
//
// - A selector is a window: an object that moves into it is ADDED, one that moves out of it is DELETED, whatever
//   happened to the object itself.
// - Bookmarks say how far the stream has come: about once a minute, shortly before the stream ends, and where the
//   initial state ends.
// - A watch ends after `timeoutSeconds`, or after half an hour to an hour of the server's choice.
import type { Cancel } from "@memhog/runtime";
import type { ApiObject } from "../json.ts";
import { apiVersionOf } from "../kinds/registry.ts";
import { CompactedError, type StorageEvent } from "../storage/storage.ts";
import { oneAsServed, type ServerCore, storedKindOf, type Target } from "./core.ts";
import { flagIn, numberIn, type Query } from "./query.ts";
import { type AskedVersion, watchVersionIn } from "./resource-version.ts";
import { type Filter, filterIn } from "./selectors.ts";
import { expired, internalError, StatusError } from "./status-error.ts";
import { TextStream } from "./text-stream.ts";

const bookmarkEveryMs = 60_000;
const lastBookmarkMs = 2_000;
const shortestMs = 1_800_000;

/** How an event is written: as the object itself, or as a row of a table. */
export type EventFormat = (object: ApiObject) => string;

export interface WatchCall {
  readonly target: Target;
  readonly query: Query;
  readonly format: EventFormat;
  /** Ends the watch: the client is gone. */
  readonly signal?: AbortSignal | undefined;
}

/** The stream of a watch. @throws StatusError before it begins */
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
  /** Conversions may take time; events keep their order by waiting for each other. */
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
      // Just before its end, so that whoever resumes a quiet watch does not come back with a version that is long compacted.
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

  /** Listens to the storage from this version on; what cannot be listened to ends the watch with an error event. */
  #follow(from: bigint): boolean {
    const { storage } = this.#core;
    const { kind, namespace } = this.#call.target;
    try {
      // A version that is still to come: wait for it, silently.
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
      this.#tell(type, object, previous);
      return;
    }
    this.#inOrder(object, async (served) => {
      this.#tell(type, served, previous && (await oneAsServed(kind, previous)));
    });
  }

  #tell(type: StorageEvent["type"], object: ApiObject, previous: ApiObject | undefined): void {
    const was = previous !== undefined && this.#passes(previous);
    const is = type !== "DELETED" && this.#passes(object);
    if (was && is) this.#send("MODIFIED", object);
    else if (is) this.#send("ADDED", object);
    // What left the window is told as it was when it was last seen, at the version of the change.
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

  /** What cannot be shown (a conversion webhook does not answer) ends the watch: a gap would be worse. */
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
