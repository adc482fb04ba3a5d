// What one key has written and its caches have not seen yet. The key is not reconciled again before they have (promise
// W1), and a write whose outcome is unknown, or that failed because our view was old, is looked up on the server first
// (promises C2, A1): the next reconcile then decides from a view at least as new as what the server had.
import type { Cache } from "../cache/cache.ts";
import type { Mark } from "../cache/own-writes.ts";
import type { Kind, KubernetesObject, ObjectRef, Stored } from "../objects/object.ts";

/** Reads an object from the server. */
export type LiveRead = (kind: Kind, ref: ObjectRef, signal: AbortSignal) => Promise<Stored<KubernetesObject> | undefined>;

interface Doubt {
  readonly kind: Kind;
  readonly ref: ObjectRef;
  readonly caches: readonly Cache[];
}

interface Expectation {
  readonly cache: Cache;
  readonly mark: Mark;
}

export class PendingWrites {
  #underWay = 0;
  #landed: PromiseWithResolvers<void> | undefined;
  #doubts: Doubt[] = [];
  #expected: Expectation[] = [];

  /** Nothing is under way, nothing in doubt, and the caches have seen everything. */
  get seen(): boolean {
    if (this.#underWay > 0 || this.#doubts.length > 0 || !this.#expected.every(isMet)) return false;
    this.#expected = [];
    return true;
  }

  /** A write begins; call the result when it has ended. */
  begin(): () => void {
    this.#underWay += 1;
    return () => {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#landed?.resolve();
    };
  }

  /** The server has answered with this object. */
  written(caches: readonly Cache[], object: Stored<KubernetesObject>): void {
    for (const cache of caches) this.#expected.push({ cache, mark: cache.written(object) });
  }

  /** This object was deleted; without a UID, the one that the cache has. */
  deleted(caches: readonly Cache[], ref: ObjectRef, uid?: string): void {
    for (const cache of caches) {
      const gone = uid ?? cache.get(ref)?.metadata.uid;
      if (gone !== undefined) this.#expected.push({ cache, mark: cache.deleted(ref, gone) });
    }
  }

  /** What the server has under this name is not known to us: it must be read. */
  doubt(caches: readonly Cache[], kind: Kind, ref: ObjectRef): void {
    if (caches.length > 0) this.#doubts.push({ kind, ref, caches });
  }

  /** Resolves when all of it is seen. Rejects with what a live read throws; calling again goes on from there. */
  async settle(read: LiveRead, signal: AbortSignal): Promise<void> {
    while (!this.seen) {
      if (this.#underWay > 0) await this.#whenLanded();
      else if (this.#doubts[0] !== undefined) await this.#dispel(this.#doubts[0], read, signal);
      else await this.#whenMet(signal);
    }
  }

  async #dispel(doubt: Doubt, read: LiveRead, signal: AbortSignal): Promise<void> {
    const { kind, ref, caches } = doubt;
    if (ref.name === "") {
      // The server was to make the name up, so we do not know what to ask for: only a new listing can tell.
      for (const cache of caches) this.#expected.push({ cache, mark: cache.unknown(ref) });
    } else {
      const found = await read(kind, ref, signal);
      if (found === undefined) this.deleted(caches, ref);
      else this.written(caches, found);
    }
    this.#doubts = this.#doubts.filter((other) => other !== doubt);
  }

  async #whenMet(signal: AbortSignal): Promise<void> {
    // They have to be met at the same time: "deleted" holds before the creation is seen, too.
    const missing = this.#expected.find((expectation) => !isMet(expectation));
    if (missing !== undefined) await missing.cache.whenReached(missing.mark, signal);
  }

  async #whenLanded(): Promise<void> {
    this.#landed = Promise.withResolvers();
    await this.#landed.promise;
  }
}

function isMet({ cache, mark }: Expectation): boolean {
  return cache.reached(mark);
}
