// The objects of one kind in the order of their keys, what happened to them lately, and who wants to hear of it.
import { type Cancel, keyOf, type ObjectRef } from "@memhog/runtime";
import type { ApiObject } from "../json.ts";
import type { Scope, StorageEvent, StorageListener } from "./storage.ts";

interface Watcher {
  readonly prefix: string;
  readonly listener: StorageListener;
}

export class Shelf {
  readonly #objects = new Map<string, ApiObject>();
  /** Sorted. Kept beside the map, because a list must not sort a thousand keys each time. */
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

  /** The list as it was: today's, with what happened since taken back, newest first. */
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

  /** Where in the history the events after this version begin. */
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

/** Where this key is among sorted keys, or would be. */
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
