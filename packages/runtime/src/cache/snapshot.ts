// One listing, taken over into a store while it comes in. Objects go straight into the store (a second copy of the world
// would double our memory) and only their UIDs are remembered; at the end, whatever was not among them is gone, and the
// removal that no watch told us about is made up for. A listing that breaks off halfway has only put newer states in. The
// first listing of all has nothing to make up for, and remembers nothing.
import type { KubernetesObject, Stored } from "../objects/object.ts";
import type { ObjectStore } from "./store.ts";

const listed = { listed: true } as const;

export class Snapshot<T extends KubernetesObject> {
  readonly #store: ObjectStore<T>;
  readonly #namespace: string | undefined;
  /** Undefined: there was nothing before, so nothing can be gone. */
  readonly #seen: Set<string> | undefined;

  /** @param namespace The one that is listed; undefined: all of them. */
  constructor(store: ObjectStore<T>, namespace?: string) {
    this.#store = store;
    this.#namespace = namespace;
    this.#seen = store.isEmpty(namespace) ? undefined : new Set();
  }

  put(object: Stored<T>): void {
    this.#store.put(object, listed);
    this.#seen?.add(object.metadata.uid);
  }

  /** A streamed listing may also tell of removals that happened while it was streamed. */
  remove(object: Stored<T>): void {
    this.#store.remove(object, listed);
  }

  /** The listing is complete. */
  finish(): void {
    const seen = this.#seen;
    if (seen === undefined) return;
    const gone: Stored<T>[] = [];
    for (const object of this.#store.objects(this.#namespace)) if (!seen.has(object.metadata.uid)) gone.push(object);
    for (const object of gone) this.#store.remove(object, listed);
  }
}
