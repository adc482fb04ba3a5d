// The objects of one kind, with their changes and indexes. A reflector writes it; everyone else reads. Objects in a store are shared
// with everyone, and in parts with each other (see `sharing`), so nobody may change them; their types are readonly.
//
// Two rules keep a store correct when a watch fails:
//
// - An object is identified by its UID. A different UID under a known name is a removal and an addition, even if a missed event made
//   it look like an update.
// - A watch never goes back. Events that are not newer than the stored object are ignored. A list is always believed, whatever its
//   versions: after a cluster was restored from a backup they are smaller than before.

import type { Cancel } from "../concurrency/environment.ts";
import { ownValue } from "../objects/diff.ts";
import { type Kind, type KubernetesObject, type ObjectOf, type ObjectRef, ownerUids, type Stored } from "../objects/object.ts";
import { isOlder } from "./own-writes.ts";

/** A change in a store. `initial`: the change comes from a list, so it may have happened earlier. */
export type Change<T extends KubernetesObject = KubernetesObject> =
  | { readonly type: "added"; readonly object: Stored<T>; readonly previous?: undefined; readonly initial: boolean }
  | { readonly type: "changed"; readonly object: Stored<T>; readonly previous: Stored<T>; readonly initial: boolean }
  /** `object` is the last known state. */
  | { readonly type: "removed"; readonly object: Stored<T>; readonly previous?: undefined; readonly initial: boolean };

/** Called synchronously with every change, in order, so it must be fast. If it throws, the other listeners are still called. */
export type ChangeListener<T extends KubernetesObject> = (change: Change<T>) => void;

/** The key of cluster-scoped objects. No namespace has this name. */
const clusterScope = "";

export class ObjectStore<T extends KubernetesObject> {
  /** Two levels, because joined "namespace/name" keys would take additional memory. */
  readonly #byNamespace = new Map<string, Map<string, Stored<T>>>();
  readonly #byOwner = new IndexedObjects<T>(byOwner);
  readonly #byValues = new Map<IndexValues<T>, IndexedObjects<T>>();
  readonly #indexes: IndexedObjects<T>[] = [this.#byOwner];
  readonly #listeners = new Set<ChangeListener<T>>();
  readonly #onListenerError: (error: unknown, change: Change<T>) => void;
  #size = 0;
  /** Lists are sorted by name, so the previous object is often a replica of the same workload. */
  #last: Stored<T> | undefined;

  /** @param onListenerError Called with what a listener threw. The other listeners still get the change. */
  constructor(onListenerError: (error: unknown, change: Change<T>) => void) {
    this.#onListenerError = onListenerError;
  }

  get size(): number {
    return this.#size;
  }

  /** Whether the store, or one namespace of it, has no objects. */
  isEmpty(namespace?: string): boolean {
    return namespace === undefined ? this.#size === 0 : !this.#byNamespace.has(namespace);
  }

  get(ref: ObjectRef): Stored<T> | undefined {
    return this.#byNamespace.get(ref.namespace ?? clusterScope)?.get(ref.name);
  }

  /** All objects, or those of one namespace. */
  *objects(namespace?: string): Generator<Stored<T>, undefined> {
    if (namespace !== undefined) yield* this.#byNamespace.get(namespace)?.values() ?? [];
    else for (const objects of this.#byNamespace.values()) yield* objects.values();
  }

  /** The objects that have an owner reference to this UID, or a label that tracks it. */
  ownedBy(uid: string): readonly Stored<T>[] {
    return this.#byOwner.lookup(uid);
  }

  lookup(values: IndexValues<T>, value: string): readonly Stored<T>[] {
    const index = this.#byValues.get(values) ?? this.#build(values);
    return index.lookup(value);
  }

  /** Calls the listener with every change until cancelled. */
  onChange(listener: ChangeListener<T>): Cancel {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Stores an object from a watch event or a list. Ignores an event that is older than the stored object. */
  put(fresh: Stored<T>, { listed }: { readonly listed: boolean }): void {
    const previous = this.get(fresh.metadata);
    if (previous !== undefined && (isSame(previous, fresh) || (!listed && isBefore(fresh, previous)))) return;
    const object = sharing(fresh, previous ?? this.#last);
    this.#last = object;
    if (previous === undefined) this.#add(object, listed);
    else if (object.metadata.uid === previous.metadata.uid) this.#replace(previous, object, listed);
    else {
      this.#remove(previous, previous, listed);
      this.#add(object, listed);
    }
  }

  /** Removes an object; `object` is its last state. */
  remove(object: Stored<T>, { listed }: { readonly listed: boolean }): void {
    const previous = this.get(object.metadata);
    if (previous === undefined || (!listed && isBefore(object, previous))) return;
    // With another UID, the event is for a later object of the same name whose creation was missed. The stored object is gone too,
    // but `object` is not its last state.
    this.#remove(previous, previous.metadata.uid === object.metadata.uid ? object : previous, listed);
  }

  #add(object: Stored<T>, initial: boolean): void {
    this.#set(object);
    this.#size += 1;
    for (const index of this.#indexes) index.add(object);
    this.#tell({ type: "added", object, initial });
  }

  #replace(previous: Stored<T>, object: Stored<T>, initial: boolean): void {
    this.#set(object);
    for (const index of this.#indexes) {
      index.remove(previous);
      index.add(object);
    }
    this.#tell({ type: "changed", object, previous, initial });
  }

  #remove(previous: Stored<T>, last: Stored<T>, initial: boolean): void {
    const { namespace = clusterScope, name } = previous.metadata;
    const objects = this.#byNamespace.get(namespace);
    objects?.delete(name);
    if (objects?.size === 0) this.#byNamespace.delete(namespace);
    this.#size -= 1;
    for (const index of this.#indexes) index.remove(previous);
    this.#tell({ type: "removed", object: last, initial });
  }

  #set(object: Stored<T>): void {
    const { namespace = clusterScope, name } = object.metadata;
    const objects = this.#byNamespace.get(namespace);
    if (objects === undefined) this.#byNamespace.set(namespace, new Map([[name, object]]));
    else objects.set(name, object);
  }

  #build(values: IndexValues<T>): IndexedObjects<T> {
    const index = new IndexedObjects(values, this.objects());
    this.#byValues.set(values, index);
    this.#indexes.push(index);
    return index;
  }

  #tell(change: Change<T>): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        this.#onListenerError(error, change);
      }
    }
  }
}

function isSame(a: Stored<KubernetesObject>, b: Stored<KubernetesObject>): boolean {
  return a.metadata.resourceVersion === b.metadata.resourceVersion && a.metadata.uid === b.metadata.uid;
}

function isBefore(a: Stored<KubernetesObject>, b: Stored<KubernetesObject>): boolean {
  return isOlder(a.metadata.resourceVersion, b.metadata.resourceVersion);
}

/** Returns the values under which an index lists an object: none, one or several. */
export type IndexValues<T extends KubernetesObject> = (object: Stored<T>) => string | readonly string[] | undefined;

/** An index over the objects of a kind. A cache builds it on the first lookup and then keeps it up to date. */
export interface Index<K extends Kind = Kind> {
  readonly kind: K;
  readonly values: IndexValues<ObjectOf<K>>;
}

/**
 * Defines an index. Define it once, at module level: a cache builds each new index from all objects.
 *
 *     const podsByNode = indexBy(Pod, (pod) => pod.spec?.nodeName);
 *     const neighbors = ctx.lookup(podsByNode, "node-1");
 */
export function indexBy<K extends Kind>(kind: K, values: IndexValues<ObjectOf<K>>): Index<K> {
  return { kind, values };
}

/** Lists objects by the UID of every owner. Every store has this index. */
export const byOwner: IndexValues<KubernetesObject> = ownerUids;

/**
 * The contents of an index. A value with one object maps to the object itself instead of a set: with 20,000 pods, most of them the
 * only one of their value, the sets would take more memory than the rest of the index.
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

  /** If the index function throws, the index omits that object. An error here would end the watch for all objects. */
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

/**
 * Replaces every part of `object` that equals the same part of `like` with that part, in place. Replicas of a Deployment differ only
 * in name, identity and status, so sharing the equal subtrees and strings saves most of their memory. The replaced parts are garbage
 * collected while they are young, which is cheap. Sharing is safe because cached objects are readonly.
 */
export function sharing<T>(object: T, like: unknown): T {
  if (object === like) return like as T; // of two equal strings, keep the older one
  if (!isTree(object) || !isTree(like)) return object;
  if (Array.isArray(object)) return (Array.isArray(like) && shareItems(object, like) ? like : object) as T;
  return (!Array.isArray(like) && shareProperties(object, like) ? like : object) as T;
}

type Parts = Record<string, unknown>;

function isTree(value: unknown): value is Parts {
  return typeof value === "object" && value !== null && !Object.isFrozen(value);
}

/** Shares the properties; returns whether all of them are equal. */
function shareProperties(object: Parts, like: Parts): boolean {
  let same = true;
  let count = 0;
  for (const key in object) {
    const before = ownValue(like, key);
    const shared = sharing(object[key], before);
    if (shared !== before) same = false;
    object[key] = shared;
    count += 1;
  }
  if (!same) return false;
  for (const _key in like) count -= 1;
  return count === 0;
}

function shareItems(list: unknown[], like: readonly unknown[]): boolean {
  let same = list.length === like.length;
  for (let at = 0; at < list.length; at += 1) {
    list[at] = sharing(list[at], like[at]);
    if (list[at] !== like[at]) same = false;
  }
  return same;
}
