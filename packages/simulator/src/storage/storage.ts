// Storage, in place of etcd: all objects, one version counter, and recent history.
//
// - Every write of any kind takes the next resourceVersion, so versions order all changes.
// - Storage keeps history for some minutes: a list continues from the state of its first page, a watch from where its client
//   stopped. Older versions cause `CompactedError`, which the server turns into 410 Expired.
// - Storage is synchronous. A write and the notification of all watchers are one step, so events have the order of writes in
//   every run.
//
// Objects are frozen JSON. Storage does not handle API versions, defaults, or permissions.
import { keyOf, type ObjectRef } from "@memhog/runtime";
import type { Cancel, Clock } from "@memhog/runtime/concurrency";
import { type ApiObject, frozen } from "../json.ts";

/** The key under which all API versions of a kind are stored. */
export interface StoredKind {
  /** "" for the core group. */
  readonly group: string;
  readonly plural: string;
}

/** All objects of a kind, or those in one namespace. */
export interface Scope {
  readonly namespace?: string | undefined;
}

export interface StorageEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly version: bigint;
  /** The new state. For a deletion, the last state with the resourceVersion of the deletion. */
  readonly object: ApiObject;
  /** The state before the write. Undefined for a new object. */
  readonly previous: ApiObject | undefined;
}

type StorageListener = (event: StorageEvent) => void;

export interface Change {
  readonly kind: StoredKind;
  readonly ref: ObjectRef;
  /** The object that the writer read. Undefined if the write creates the object. */
  readonly before: ApiObject | undefined;
  /** The object to store. Undefined if the write deletes the object. */
  readonly after: ApiObject | undefined;
}

export interface Storage {
  /** The version of the last write. */
  readonly version: bigint;
  /** The oldest version that `list` and `watch` accept. */
  readonly compacted: bigint;
  get(kind: StoredKind, ref: ObjectRef): ApiObject | undefined;
  /** Lists objects in the order of their keys ("namespace/name"). @throws CompactedError if `at` was compacted */
  list(kind: StoredKind, scope?: Scope, at?: bigint): readonly ApiObject[];
  /** Returns the stored object with its new resourceVersion; for a deletion, the object of the event. @throws ChangedError */
  write(change: Change): ApiObject;
  /** Sends every event after this version; past events at once. @throws CompactedError */
  watch(kind: StoredKind, scope: Scope, from: bigint, listener: StorageListener): Cancel;
  /** Drops the history before this version. */
  compact(version: bigint): void;
}

/** Another client wrote the object after it was read. Read it again and retry. */
export class ChangedError extends Error {
  readonly code = "STORAGE_CHANGED";
  override readonly name = "ChangedError";
}

/** The requested version was compacted. */
export class CompactedError extends Error {
  readonly code = "STORAGE_COMPACTED";
  override readonly name = "CompactedError";
  readonly asked: bigint;
  readonly oldest: bigint;
  constructor(asked: bigint, oldest: bigint) {
    super(`expected version ${oldest} or later, found ${asked}: earlier history was compacted`);
    this.asked = asked;
    this.oldest = oldest;
  }
}

interface StorageOptions {
  readonly clock: Pick<Clock, "monotonic">;
  /** The minimum time in milliseconds for which history is kept. @default 5 minutes, as the API server compacts etcd */
  readonly historyMs?: number | undefined;
}

export function memoryStorage(options: StorageOptions): Storage {
  return new MemoryStorage(options);
}

class MemoryStorage implements Storage {
  readonly #kinds = new Map<string, KindObjects>();
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #historyMs: number;
  /** Versions with the time at which they were current, a few per `historyMs`. `#compactOld` compacts to them. */
  readonly #marks: { readonly at: number; readonly version: bigint }[] = [];
  #version = 1n;
  #compacted = 1n;

  constructor({ clock, historyMs = 300_000 }: StorageOptions) {
    this.#clock = clock;
    this.#historyMs = historyMs;
  }

  get version(): bigint {
    return this.#version;
  }

  get compacted(): bigint {
    return this.#compacted;
  }

  get(kind: StoredKind, ref: ObjectRef): ApiObject | undefined {
    return this.#objectsOf(kind).get(ref);
  }

  list(kind: StoredKind, scope: Scope = {}, at?: bigint): readonly ApiObject[] {
    if (at === undefined || at === this.#version) return this.#objectsOf(kind).list(scope);
    this.#checkNotCompacted(at);
    return this.#objectsOf(kind).listAt(scope, at);
  }

  write({ kind, ref, before, after }: Change): ApiObject {
    const objects = this.#objectsOf(kind);
    if (objects.get(ref) !== before)
      throw new ChangedError(`${kind.plural} ${ref.name} changed after it was read; read it again and retry`);
    const last = after ?? before;
    if (last === undefined) throw new TypeError("expected before or after to be set, found neither");
    this.#compactOld();
    this.#version += 1n;
    const object = frozen({ ...last, metadata: { ...last.metadata, resourceVersion: String(this.#version) } });
    const type = before === undefined ? "ADDED" : after === undefined ? "DELETED" : "MODIFIED";
    objects.record({ type, version: this.#version, object, previous: before }, ref);
    return object;
  }

  watch(kind: StoredKind, scope: Scope, from: bigint, listener: StorageListener): Cancel {
    this.#checkNotCompacted(from);
    return this.#objectsOf(kind).watch(scope, from, listener);
  }

  compact(version: bigint): void {
    if (version <= this.#compacted) return;
    this.#compacted = version < this.#version ? version : this.#version;
    for (const objects of this.#kinds.values()) objects.forget(this.#compacted);
  }

  #checkNotCompacted(version: bigint): void {
    if (version < this.#compacted) throw new CompactedError(version, this.#compacted);
  }

  #objectsOf(kind: StoredKind): KindObjects {
    const key = `${kind.group}/${kind.plural}`;
    const known = this.#kinds.get(key);
    if (known !== undefined) return known;
    const objects = new KindObjects();
    this.#kinds.set(key, objects);
    return objects;
  }

  /** Checks the clock on each write instead of using a timer: an idle cluster has nothing to compact. */
  #compactOld(): void {
    const now = this.#clock.monotonic();
    const newest = this.#marks.at(-1);
    if (newest === undefined || now - newest.at >= this.#historyMs / 5) this.#marks.push({ at: now, version: this.#version });
    while ((this.#marks[1]?.at ?? now) < now - this.#historyMs) this.#marks.shift();
    const oldest = this.#marks[0];
    if (oldest !== undefined && oldest.at < now - this.#historyMs) this.compact(oldest.version);
  }
}

// The objects of one kind, ordered by key, with their recent history and watchers.

interface Watcher {
  readonly prefix: string;
  readonly listener: StorageListener;
}

class KindObjects {
  readonly #objects = new Map<string, ApiObject>();
  /** Sorted. Separate from the map, so that a list does not sort all keys each time. */
  readonly #keys: string[] = [];
  readonly #watchers = new Set<Watcher>();
  #history: (StorageEvent & { readonly key: string })[] = [];

  get(ref: ObjectRef): ApiObject | undefined {
    return this.#objects.get(keyOf(ref));
  }

  list(scope: Scope): readonly ApiObject[] {
    const prefix = prefixOf(scope);
    const found: ApiObject[] = [];
    for (let at = position(this.#keys, prefix); this.#keys[at]?.startsWith(prefix); at += 1) {
      const object = this.#objects.get(this.#keys[at] ?? "");
      if (object !== undefined) found.push(object);
    }
    return found;
  }

  /** Reconstructs a past list: starts from the current objects and reverts later events, newest first. */
  listAt(scope: Scope, version: bigint): readonly ApiObject[] {
    const prefix = prefixOf(scope);
    const past = new Map(this.#objects);
    for (const { key, previous } of this.#history.slice(this.#after(version)).reverse()) {
      if (previous === undefined) past.delete(key);
      else past.set(key, previous);
    }
    const keys = [...past.keys()].filter((key) => key.startsWith(prefix)).sort();
    return keys.flatMap((key) => past.get(key) ?? []);
  }

  record(event: StorageEvent, ref: ObjectRef): void {
    const key = keyOf(ref);
    if (event.type === "ADDED") this.#keys.splice(position(this.#keys, key), 0, key);
    if (event.type === "DELETED") {
      this.#keys.splice(position(this.#keys, key), 1);
      this.#objects.delete(key);
    } else {
      this.#objects.set(key, event.object);
    }
    this.#history.push({ ...event, key });
    for (const { prefix, listener } of this.#watchers) if (key.startsWith(prefix)) listener(event);
  }

  watch(scope: Scope, from: bigint, listener: StorageListener): Cancel {
    const prefix = prefixOf(scope);
    for (const event of this.#history.slice(this.#after(from))) if (event.key.startsWith(prefix)) listener(event);
    const watcher = { prefix, listener };
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  forget(version: bigint): void {
    this.#history = this.#history.slice(this.#after(version));
  }

  /** Returns the index of the first event after this version. */
  #after(version: bigint): number {
    let low = 0;
    let high = this.#history.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#history[middle]?.version ?? 0n) <= version) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function prefixOf({ namespace }: Scope): string {
  return namespace === undefined ? "" : `${namespace}/`;
}

/** Returns the index of the key, or where to insert it. */
function position(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] ?? "") < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
