// The caches of one controller, found by kind.
import type { Cache } from "../cache/cache.ts";
import type { Index } from "../cache/object-index.ts";
import type { OpenCache, SharedCaches } from "../cache/shared-caches.ts";
import type { Kind, KubernetesObject, ObjectRef } from "../objects/object.ts";
import type { CachedObjects } from "./definition.ts";
import { KindNotCachedError } from "./errors.ts";
import { isSameKind } from "./work.ts";

export class OpenCaches implements AsyncDisposable {
  readonly #controller: string;
  readonly #open = new Map<Kind, OpenCache<KubernetesObject>>();

  /** @param controller Its name, for messages. */
  constructor(controller: string) {
    this.#controller = controller;
  }

  open(kinds: Iterable<Kind>, caches: SharedCaches): void {
    for (const kind of new Set(kinds)) this.#open.set(kind, caches.open(kind));
  }

  /** The cache that was opened with this very value, or else the first one of the same kind. @throws KindNotCachedError */
  of(kind: Kind): Cache {
    const cache = this.#open.get(kind)?.cache ?? this.allOf(kind)[0];
    if (cache === undefined) throw new KindNotCachedError(kind, this.#controller);
    return cache;
  }

  /** All caches that see objects of this kind: a kind may be looked at whole and through views. */
  allOf(kind: Kind): readonly Cache[] {
    return this.#all().filter((cache) => isSameKind(cache.kind, kind));
  }

  get synced(): boolean {
    return this.#all().every((cache) => cache.synced);
  }

  async whenSynced(signal?: AbortSignal): Promise<void> {
    // One may become stale while we wait for another.
    while (!this.synced) await Promise.all(this.#all().map((cache) => cache.whenSynced(signal)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#open.values()].map((open) => open[Symbol.asyncDispose]()));
  }

  #all(): readonly Cache[] {
    return [...this.#open.values()].map(({ cache }) => cache);
  }
}

/** The caches as functions outside a reconcile see them. */
export function cachedObjects(cacheOf: (kind: Kind) => Cache): CachedObjects {
  const all = {
    get: (kind: Kind, ref: ObjectRef) => cacheOf(kind).get(ref),
    objects: (kind: Kind, namespace?: string) => cacheOf(kind).objects(namespace),
    lookup: (index: Index, value: string) => cacheOf(index.kind).lookup(index.values, value),
  };
  return all as unknown as CachedObjects; // a cache of a kind holds objects of that kind
}
