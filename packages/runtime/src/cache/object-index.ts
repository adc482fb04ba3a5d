// Finding objects by something other than their name without walking all of them. An index is a value that names its
// kind and says by which strings an object can be found; caches build it the first time somebody looks something up in
// it, and keep it up to date from then on.
//
//     const podsByNode = indexBy(Pod, (pod) => pod.spec?.nodeName);
//     const neighbours = ctx.lookup(podsByNode, "node-1");
import type { Kind, KubernetesObject, ObjectOf, Stored } from "../objects/object.ts";

/** By which strings an object can be found: none, one or several. */
export type IndexValues<T extends KubernetesObject> = (object: Stored<T>) => string | readonly string[] | undefined;

/** An index over the objects of a kind. Two indexes are the same if they are the same value. */
export interface Index<K extends Kind = Kind> {
  readonly kind: K;
  readonly values: IndexValues<ObjectOf<K>>;
}

/** Defines an index. Make it once, beside the kind; a fresh one on every call would be built on every call. */
export function indexBy<K extends Kind>(kind: K, values: IndexValues<ObjectOf<K>>): Index<K> {
  return { kind, values };
}

/** By the UID of every owner: how the children of an object are found. Every store has it. */
export const byOwner: IndexValues<KubernetesObject> = (object) => object.metadata.ownerReferences?.map((owner) => owner.uid);

/**
 * What an index holds. Objects themselves rather than their keys, and a bare object rather than a set of one: with
 * twenty thousand pods, most of them alone behind their value, the sets would weigh more than the index.
 */
export class IndexedObjects<T extends KubernetesObject> {
  readonly #values: IndexValues<T>;
  readonly #found = new Map<string, Stored<T> | Set<Stored<T>>>();

  constructor(values: IndexValues<T>, objects: Iterable<Stored<T>> = []) {
    this.#values = values;
    for (const object of objects) this.add(object);
  }

  add(object: Stored<T>): void {
    for (const value of this.#valuesOf(object)) {
      const there = this.#found.get(value);
      if (there === undefined) this.#found.set(value, object);
      else if (there instanceof Set) there.add(object);
      else if (there !== object) this.#found.set(value, new Set([there, object]));
    }
  }

  remove(object: Stored<T>): void {
    for (const value of this.#valuesOf(object)) {
      const there = this.#found.get(value);
      if (there === object) this.#found.delete(value);
      else if (there instanceof Set && there.delete(object) && there.size === 0) this.#found.delete(value);
    }
  }

  lookup(value: string): readonly Stored<T>[] {
    const there = this.#found.get(value);
    if (there === undefined) return [];
    return there instanceof Set ? [...there] : [there];
  }

  /** An index that throws on an odd object cannot find it. It must not take the other objects away from everyone. */
  #valuesOf(object: Stored<T>): readonly string[] {
    try {
      const values = this.#values(object);
      if (values === undefined) return [];
      return typeof values === "string" ? [values] : values;
    } catch {
      return [];
    }
  }
}
