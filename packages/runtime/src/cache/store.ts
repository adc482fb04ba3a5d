// What is known of the objects of one kind: a map that tells of its changes. It is fed by a reflector and read by
// everyone else; nothing in it is ever written back, and the objects in it are shared, with everyone and in parts with each
// other (sharing.ts), so nobody may change them (their types say so).
//
// Two rules keep it right under the faults of a watch:
//
// - An object is its UID, not its name. Another UID under a known name is a removal and an addition, even if the server
//   (or a missed event) made it look like one update.
// - A watch never goes back. An event that is older than what is stored is a repetition and is ignored, a repetition of
//   the same version changes nothing and is not told to anyone. A listing, on the other hand, is the truth, whatever
//   its versions: after a cluster was restored from a backup they are smaller than before.
import type { Cancel } from "../concurrency/environment.ts";
import type { KubernetesObject, ObjectRef, Stored } from "../objects/object.ts";
import { byOwner, IndexedObjects, type IndexValues } from "./object-index.ts";
import { sharing } from "./sharing.ts";
import { isOlder } from "./versions.ts";

/** Something became different. `initial`: it is part of a listing, so nothing need have happened just now. */
export type Change<T extends KubernetesObject = KubernetesObject> =
  | { readonly type: "added"; readonly object: Stored<T>; readonly previous?: undefined; readonly initial: boolean }
  | { readonly type: "changed"; readonly object: Stored<T>; readonly previous: Stored<T>; readonly initial: boolean }
  /** The object as it was last seen. */
  | { readonly type: "removed"; readonly object: Stored<T>; readonly previous?: undefined; readonly initial: boolean };

/** Called with every change, in order, while it happens: it must be quick. If it throws, the others are told all the same. */
export type ChangeListener<T extends KubernetesObject> = (change: Change<T>) => void;

/** The name of the map of objects without a namespace. No namespace is called so. */
const clusterScope = "";

export class ObjectStore<T extends KubernetesObject> {
  /** Two levels instead of one with joined keys: the names exist already, joined keys would not. */
  readonly #byNamespace = new Map<string, Map<string, Stored<T>>>();
  readonly #byOwner = new IndexedObjects<T>(byOwner);
  readonly #byValues = new Map<IndexValues<T>, IndexedObjects<T>>();
  readonly #indexes: IndexedObjects<T>[] = [this.#byOwner];
  readonly #listeners = new Set<ChangeListener<T>>();
  readonly #onListenerError: (error: unknown, change: Change<T>) => void;
  #size = 0;
  /** Listings are sorted by name, so the object before is often a replica of the same thing. */
  #last: Stored<T> | undefined;

  /** @param onListenerError is told what a listener threw: a change is told once, so nobody else may lose it for that. */
  constructor(onListenerError: (error: unknown, change: Change<T>) => void) {
    this.#onListenerError = onListenerError;
  }

  get size(): number {
    return this.#size;
  }

  /** Nothing at all, or nothing in one namespace. */
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

  /** The objects that name this UID among their owners. */
  ownedBy(uid: string): readonly Stored<T>[] {
    return this.#byOwner.lookup(uid);
  }

  lookup(values: IndexValues<T>, value: string): readonly Stored<T>[] {
    const index = this.#byValues.get(values) ?? this.#build(values);
    return index.lookup(value);
  }

  /** Tells of every change from now on, until cancelled. */
  onChange(listener: ChangeListener<T>): Cancel {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** An object was seen: on a watch, or in a listing. */
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

  /** An object was seen to be gone; this is its last state. */
  remove(object: Stored<T>, { listed }: { readonly listed: boolean }): void {
    const previous = this.get(object.metadata);
    if (previous === undefined || (!listed && isBefore(object, previous))) return;
    // The end of a life we never saw is also the end of the one before it, but is not its last state.
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
