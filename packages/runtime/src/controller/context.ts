// The context that a reconcile function receives. `get`, `list` and `lookup` read from the caches of the controller; `client` reads and
// writes on the API server, and the next reconcile of the same key sees those writes. A context gives access only to the
// kinds and verbs that the controller declares: the compiler checks that, and the runtime checks it again.
import type { Index } from "../cache/store.ts";
import type { Clock, Logger } from "../concurrency/environment.ts";
import type { ObjectReference } from "../objects/kinds/kind.ts";
import type { Kind, KubernetesObject, ObjectOf, ObjectRef, Stored } from "../objects/object.ts";
import type { Resource, StatusInputOf } from "../schema/define-resource.ts";
import type { Grant, Granted, Same } from "../schema/permissions.ts";
import type { RestrictedClient } from "../schema/restricted-client.ts";
import type { Child, ChildrenOptions } from "./children.ts";

export interface ListFilter {
  /** @default all namespaces that the operator watches */
  readonly namespace?: string | undefined;
  /** Only objects with all of these labels. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Only objects that have this one among their owner references, or that are tracked for it. */
  readonly ownedBy?: Stored<KubernetesObject>;
}

/**
 * Reads from the caches of a controller. Map functions and sources receive one, and every `Context` is one, so a helper that
 * takes a CacheReader works in all of them.
 */
export interface CacheReader {
  /** Returns an object from the cache, or undefined. The object is shared: never modify it. */
  get<T extends KubernetesObject>(kind: Kind<T>, ref: ObjectRef): Stored<T> | undefined;
  /** Returns objects from the cache, in no particular order. */
  list<T extends KubernetesObject>(kind: Kind<T>, filter?: ListFilter): readonly Stored<T>[];
  /** Returns the objects that an index (`indexBy`) holds under this value. */
  lookup<K extends Kind>(index: Index<K>, value: string): readonly Stored<ObjectOf<K>>[];
}

/** An Event about an object, as `kubectl describe` shows it. */
export interface EventInput {
  /** Why, in CamelCase: "PodReplaced". People write alerts on it, so treat it as public API. */
  readonly reason: string;
  /** One sentence for people. */
  readonly message: string;
  /** @default "Normal" */
  readonly type?: "Normal" | "Warning";
  /** What was done or attempted, in CamelCase. @default "Reconcile" */
  readonly action?: string;
}

export interface ObjectEvent extends EventInput {
  readonly regarding: ObjectReference;
}

/** Receives Events. Recording one never fails and never blocks. */
export interface EventSink {
  record(event: ObjectEvent): void;
}

/** The status that a reconcile function can set. Kinds from `defineResource` accept only the conditions they define. */
export type StatusInput<K extends Kind> =
  K extends Resource<infer _Spec, infer _Status, infer _Conditions>
    ? StatusInputOf<K>
    : ObjectOf<K> extends { readonly status?: infer S }
      ? NonNullable<S>
      : never;

/** Fields of the status to change; null removes one. */
export type StatusPatchInput<K extends Kind> = { readonly [F in keyof StatusInput<K>]?: StatusInput<K>[F] | null };

type Matching<D, T> = D extends Kind<infer DeclaredT> ? (Same<DeclaredT, T> extends true ? true : never) : never;

/** The compiler error for a kind that is not declared. */
interface NotCached {
  readonly "kind not cached": "add this kind to owns or watches of the controller";
}

/** Accepts a kind of T if T is among the declared kinds D. Kinds are compared exactly: most are assignable to each other. */
export type Declared<D extends Kind, T> = [Matching<D, T>] extends [never] ? NotCached : unknown;

/** The compiler error for `setStatus` in a controller with `writesStatus: false`. */
interface StatusNotWritten {
  readonly "status not written": "remove writesStatus: false from the options of the controller";
}

/** P: the reconciled kind. D: every cached kind. G: the permissions. */
export interface Context<P extends Kind, D extends Kind, G extends readonly Grant[]> {
  /** Returns an object from the cache, or undefined. The object is shared: never modify it. */
  get<T extends KubernetesObject>(kind: Kind<T> & Declared<D, T>, ref: ObjectRef): Stored<T> | undefined;
  /** Returns objects from the cache, in no particular order. */
  list<T extends KubernetesObject>(kind: Kind<T> & Declared<D, T>, filter?: ListFilter): readonly Stored<T>[];
  /** Returns the objects that an index (`indexBy`) holds under this value. */
  lookup<K extends Kind>(index: Index<K> & Declared<D, ObjectOf<K>>, value: string): readonly Stored<ObjectOf<K>>[];

  /** Calls the API server; reads are live. Before a disruptive action, read live and write with UID and resourceVersion. */
  readonly client: RestrictedClient<G>;
  /**
   * Makes the children of an object as declared (see `child`, `after`, `keep`, `absent`, `release`). Children that are not
   * mentioned stay, except those of the kinds in `options.prune`: they are deleted. Never touches an object that another
   * owner controls. Writes nothing if the children are already as declared.
   */
  applyChildren(owner: Stored<ObjectOf<P>>, children: readonly Child[], options?: ChildrenOptions): Promise<void>;
  /**
   * Replaces the status of the object, through /status: fields that this controller set before and does not set now are
   * removed, also by a second call in the same reconcile (see `patchStatus`). Conditions are merged by type, and conditions of other writers stay. Adds observedGeneration and transition
   * times. Writes nothing if the status is already as desired.
   */
  setStatus(
    object: Stored<ObjectOf<P>>,
    status: Granted<G, ObjectOf<P>, "patch", "status"> extends true ? StatusInput<P> : StatusNotWritten,
  ): Promise<void>;
  /**
   * Changes only the fields of the status that are named, through /status; null removes one. Nested objects and conditions are
   * merged. Use it to record progress before an action. Writes nothing if the fields are already as desired.
   */
  patchStatus(
    object: Stored<ObjectOf<P>>,
    patch: Granted<G, ObjectOf<P>, "patch", "status"> extends true ? StatusPatchInput<P> : StatusNotWritten,
  ): Promise<void>;
  /** Records an Event on the object. */
  event(object: Stored<ObjectOf<P>>, event: EventInput): void;
  /** Records an Event on an object of another kind. */
  eventOn<T extends KubernetesObject>(kind: Kind<T>, object: Stored<T>, event: EventInput): void;

  /** Adds a line to the `explain` record of this reconcile. Cheaper than a log line. */
  note(line: string): void;
  /** Every line carries the object and the reconcileID. */
  readonly log: Logger;
  readonly clock: Clock;
  /** Aborts at the time limit and when the operator stops. Pass it to everything that waits. */
  readonly signal: AbortSignal;
  /** The number of consecutive failures of this key before this reconcile. */
  readonly failures: number;
}
