// What etcd is to the real one: every object, one counter for the whole cluster, and the recent past.
//
// - One resourceVersion for everything. Each write takes the next number, whatever its kind, so versions order all changes.
// - The past is kept for some minutes: a list goes on from the state its first page saw, a watch goes on from where its
//   client stopped. What was compacted is answered with `CompactedError`, which the server turns into 410 Expired.
// - Synchronous on purpose. A write and the calls of all watchers are one step that nothing can come between, so the order
//   of events is the order of writes, in every run.
//
// Objects are frozen JSON. Storage knows nothing of versions of kinds, defaults or rights: that is the server's trade.
import type { Cancel, Clock, ObjectRef } from "@memhog/runtime";
import type { ApiObject } from "../json.ts";
import { frozen } from "../json.ts";
import { Shelf } from "./shelf.ts";

/** Where objects are kept: one place for all versions of a kind. */
export interface StoredKind {
  /** "" for the core group. */
  readonly group: string;
  readonly plural: string;
}

/** All of a kind, or what is in one namespace. */
export interface Scope {
  readonly namespace?: string | undefined;
}

export interface StorageEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly version: bigint;
  /** What is now; of a deletion the last state, with the version of the deletion. */
  readonly object: ApiObject;
  /** What was before; undefined for what is new. */
  readonly previous: ApiObject | undefined;
}

export type StorageListener = (event: StorageEvent) => void;

export interface Change {
  readonly kind: StoredKind;
  readonly ref: ObjectRef;
  /** What the writer believes is stored; undefined: nothing. */
  readonly before: ApiObject | undefined;
  /** What shall be stored; undefined: nothing. */
  readonly after: ApiObject | undefined;
}

export interface Storage {
  /** The version of the last write. */
  readonly version: bigint;
  /** The oldest version whose state can still be asked for. */
  readonly compacted: bigint;
  get(kind: StoredKind, ref: ObjectRef): ApiObject | undefined;
  /** In the order of their keys ("namespace/name"). @throws CompactedError if `at` is too long ago */
  list(kind: StoredKind, scope?: Scope, at?: bigint): readonly ApiObject[];
  /** The object as stored (for a deletion: as the event tells it), with its new resourceVersion. @throws ChangedError */
  write(change: Change): ApiObject;
  /** Every event after this version, the past ones at once. @throws CompactedError */
  watch(kind: StoredKind, scope: Scope, from: bigint, listener: StorageListener): Cancel;
  /** Forgets how things were before this version. */
  compact(version: bigint): void;
}

/** Somebody else wrote in between: read again. */
export class ChangedError extends Error {
  readonly code = "STORAGE_CHANGED";
  override readonly name = "ChangedError";
}

/** The past that was asked for is forgotten. */
export class CompactedError extends Error {
  readonly code = "STORAGE_COMPACTED";
  override readonly name = "CompactedError";
  readonly asked: bigint;
  readonly oldest: bigint;
  constructor(asked: bigint, oldest: bigint) {
    super(`expected version ${oldest} or later, found ${asked}: the history before was compacted`);
    this.asked = asked;
    this.oldest = oldest;
  }
}

export interface StorageOptions {
  readonly clock: Pick<Clock, "monotonic">;
  /** Milliseconds for which the past is kept, at least. @default 5 minutes, as the API server compacts etcd */
  readonly historyMs?: number | undefined;
}

export function memoryStorage(options: StorageOptions): Storage {
  return new MemoryStorage(options);
}

class MemoryStorage implements Storage {
  readonly #shelves = new Map<string, Shelf>();
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #historyMs: number;
  /** Versions and when they were current, a few per `historyMs`: what to compact to when the time has come. */
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
    return this.#shelf(kind).get(ref);
  }

  list(kind: StoredKind, scope: Scope = {}, at?: bigint): readonly ApiObject[] {
    if (at === undefined || at === this.#version) return this.#shelf(kind).list(scope);
    this.#mustRemember(at);
    return this.#shelf(kind).listAt(scope, at);
  }

  write({ kind, ref, before, after }: Change): ApiObject {
    const shelf = this.#shelf(kind);
    if (shelf.get(ref) !== before) throw new ChangedError(`${kind.plural} ${ref.name} was changed since it was read`);
    const last = after ?? before;
    if (last === undefined) throw new TypeError("expected a change, found nothing before and nothing after");
    this.#forgetTheOld();
    this.#version += 1n;
    const object = frozen({ ...last, metadata: { ...last.metadata, resourceVersion: String(this.#version) } });
    const type = before === undefined ? "ADDED" : after === undefined ? "DELETED" : "MODIFIED";
    shelf.record({ type, version: this.#version, object, previous: before }, ref);
    return object;
  }

  watch(kind: StoredKind, scope: Scope, from: bigint, listener: StorageListener): Cancel {
    this.#mustRemember(from);
    return this.#shelf(kind).watch(scope, from, listener);
  }

  compact(version: bigint): void {
    if (version <= this.#compacted) return;
    this.#compacted = version < this.#version ? version : this.#version;
    for (const shelf of this.#shelves.values()) shelf.forget(this.#compacted);
  }

  #mustRemember(version: bigint): void {
    if (version < this.#compacted) throw new CompactedError(version, this.#compacted);
  }

  #shelf(kind: StoredKind): Shelf {
    const key = `${kind.group}/${kind.plural}`;
    const known = this.#shelves.get(key);
    if (known !== undefined) return known;
    const shelf = new Shelf();
    this.#shelves.set(key, shelf);
    return shelf;
  }

  /** Looks at the clock on each write instead of setting a timer: a cluster at rest has nothing to forget. */
  #forgetTheOld(): void {
    const now = this.#clock.monotonic();
    const newest = this.#marks.at(-1);
    if (newest === undefined || now - newest.at >= this.#historyMs / 5) this.#marks.push({ at: now, version: this.#version });
    while ((this.#marks[1]?.at ?? now) < now - this.#historyMs) this.#marks.shift();
    const oldest = this.#marks[0];
    if (oldest !== undefined && oldest.at < now - this.#historyMs) this.compact(oldest.version);
  }
}
