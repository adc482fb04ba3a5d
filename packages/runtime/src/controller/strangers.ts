// Objects that stand in the way of a child: they have its name, and are somebody else's. Nobody owns them here, so their
// removal would wake nobody; it is remembered whom it matters to. One that no cache ever shows (a view leaves it out) is
// found gone by the next resync.
import type { Cache } from "../cache/cache.ts";
import type { Cancel } from "../concurrency/environment.ts";
import { type Kind, keyOf, type ObjectRef } from "../objects/object.ts";

export class Strangers {
  /** By kind and key of the stranger, the keys of the owners that wait. */
  readonly #waiting = new Map<string, Set<string>>();

  wait(kind: Kind, stranger: ObjectRef, owner: ObjectRef): void {
    const name = nameOf(kind, stranger);
    const owners = this.#waiting.get(name) ?? new Set();
    this.#waiting.set(name, owners.add(keyOf(owner)));
  }

  /** Wakes those who waited for an object of this kind when it goes. */
  attach(kind: Kind, cache: Cache, wake: (owner: string, reason: string) => void): Cancel {
    return cache.onChange(({ type, object }) => {
      if (type !== "removed" || this.#waiting.size === 0) return;
      const name = nameOf(kind, object.metadata);
      for (const owner of this.#waiting.get(name) ?? []) wake(owner, `${kind.kind} ${keyOf(object.metadata)} is out of the way`);
      this.#waiting.delete(name);
    });
  }
}

function nameOf(kind: Kind, ref: ObjectRef): string {
  return `${kind.plural}.${kind.group} ${keyOf(ref)}`;
}
