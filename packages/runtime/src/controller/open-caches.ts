// The caches of one controller by kind, and the objects of other owners that have the name of a child.
import type { Cache, OpenCache, SharedCaches } from "../cache/cache.ts";
import type { Index } from "../cache/store.ts";
import type { Cancel } from "../concurrency/environment.ts";
import {
  controllerOf,
  type Kind,
  type KubernetesObject,
  keyOf,
  type ObjectOf,
  type ObjectRef,
  type Stored,
} from "../objects/object.ts";
import type { CacheReader, ListFilter } from "./context.ts";
import { KindNotCachedError } from "./errors.ts";

/** Views and `dynamicKind` create new values of a kind, so kinds are compared by group and resource. */
export function isSameKind(a: Kind, b: Kind): boolean {
  return a.group === b.group && a.plural === b.plural;
}

export class OpenCaches implements CacheReader, AsyncDisposable {
  readonly #controller: string;
  readonly #open = new Map<Kind, OpenCache<KubernetesObject>>();

  /** @param controller Its name, for messages. */
  constructor(controller: string) {
    this.#controller = controller;
  }

  open(kinds: Iterable<Kind>, caches: SharedCaches): void {
    for (const kind of new Set(kinds)) this.#open.set(kind, caches.open(kind));
  }

  /** The cache that was opened with this value, or else the first one of the same kind. @throws KindNotCachedError */
  of(kind: Kind): Cache {
    const cache = this.#open.get(kind)?.cache ?? this.allOf(kind)[0];
    if (cache === undefined) throw new KindNotCachedError(kind, this.#controller);
    return cache;
  }

  /** All caches that hold objects of this kind: a controller can open a kind and views of it. */
  allOf(kind: Kind): readonly Cache[] {
    return this.#all().filter((cache) => isSameKind(cache.kind, kind));
  }

  // The signatures that callers see tie the objects to the kind: the cache of a kind holds objects of that kind. The
  // implementations handle all kinds alike.
  get<T extends KubernetesObject>(kind: Kind<T>, ref: ObjectRef): Stored<T> | undefined;
  get(kind: Kind, ref: ObjectRef): Stored<KubernetesObject> | undefined {
    return this.of(kind).get(ref);
  }

  list<T extends KubernetesObject>(kind: Kind<T>, filter?: ListFilter): readonly Stored<T>[];
  list(kind: Kind, { namespace, labels, ownedBy }: ListFilter = {}): readonly Stored<KubernetesObject>[] {
    const cache = this.of(kind);
    const candidates = ownedBy === undefined ? cache.objects(namespace) : cache.ownedBy(ownedBy.metadata.uid);
    const found: Stored<KubernetesObject>[] = [];
    for (const object of candidates) {
      if (namespace !== undefined && object.metadata.namespace !== namespace) continue;
      if (labels === undefined || hasLabels(object, labels)) found.push(object);
    }
    return found;
  }

  lookup<K extends Kind>(index: Index<K>, value: string): readonly Stored<ObjectOf<K>>[];
  lookup(index: Index, value: string): readonly Stored<KubernetesObject>[] {
    return this.of(index.kind).lookup(index.values, value);
  }

  get synced(): boolean {
    return this.#all().every((cache) => cache.synced);
  }

  async whenSynced(signal?: AbortSignal): Promise<void> {
    // One can become stale while we wait for another.
    while (!this.synced) await Promise.all(this.#all().map((cache) => cache.whenSynced(signal)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#open.values()].map((open) => open[Symbol.asyncDispose]()));
  }

  #all(): readonly Cache[] {
    return [...this.#open.values()].map(({ cache }) => cache);
  }
}

function hasLabels({ metadata }: Stored<KubernetesObject>, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(labels).every(([name, value]) => metadata.labels?.[name] === value);
}

/**
 * Objects that have the name of a child and another owner. Their removal would trigger nothing, so this remembers which owners
 * wait for it. If such an object is filtered out of the cache, its deletion is noticed at the next resync.
 */
export class NameConflicts {
  /** By kind and key of the conflicting object, the keys of the owners that wait. */
  readonly #waiting = new Map<string, Set<string>>();

  wait(kind: Kind, conflicting: ObjectRef, owner: ObjectRef): void {
    const name = nameOf(kind, conflicting);
    const owners = this.#waiting.get(name) ?? new Set();
    this.#waiting.set(name, owners.add(keyOf(owner)));
  }

  /** Enqueues the owners that wait for an object of this kind when it is removed, or when its controller releases it. */
  attach(kind: Kind, cache: Cache, enqueue: (owner: string, reason: string) => void): Cancel {
    return cache.onChange(({ type, object, previous }) => {
      const released = previous !== undefined && controllerOf(previous) !== undefined && controllerOf(object) === undefined;
      if (this.#waiting.size === 0 || !(released || type === "removed")) return;
      const name = nameOf(kind, object.metadata);
      const reason = `conflicting ${kind.kind} ${keyOf(object.metadata)} was ${released ? "released" : "removed"}`;
      for (const owner of this.#waiting.get(name) ?? []) enqueue(owner, reason);
      this.#waiting.delete(name);
    });
  }
}

function nameOf(kind: Kind, ref: ObjectRef): string {
  return `${kind.plural}.${kind.group} ${keyOf(ref)}`;
}
