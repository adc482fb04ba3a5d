// What a reconciler is given. Reads come from caches and cost nothing; writes go to the server, and the next reconcile of
// the same key sees them. Only what the controller declared is there: for the compiler, and again at run time.
import type { Index } from "../cache/object-index.ts";
import type { Clock } from "../concurrency/environment.ts";
import type { Logger } from "../concurrency/logger.ts";
import type { Kind, KubernetesObject, ObjectOf, ObjectRef, Stored } from "../objects/object.ts";
import type { Grant, Granted } from "../schema/access.ts";
import type { Resource, StatusInputOf } from "../schema/define-resource.ts";
import type { NarrowedClient } from "../schema/narrowed-client.ts";
import type { ChildrenOptions, DesiredChild } from "./children.ts";
import type { Declared } from "./declared.ts";
import type { CachedObjects } from "./definition.ts";
import type { Remark } from "./object-events.ts";

export interface ListFilter {
  /** @default all namespaces the operator looks into */
  readonly namespace?: string;
  /** Only objects with all of these labels. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Only objects that name this one among their owners. */
  readonly ownedBy?: Stored<KubernetesObject>;
}

/** What an object may report about itself. For kinds of `defineResource` only legal conditions fit. */
export type StatusInput<K extends Kind> =
  K extends Resource<infer _Spec, infer _Status, infer _Conditions>
    ? StatusInputOf<K>
    : ObjectOf<K> extends { readonly status?: infer S }
      ? NonNullable<S>
      : never;

/** What the compiler shows where a controller that said `reports: false` reports. */
interface NotReporting {
  readonly "status not reported": "leave out reports: false in the options of the controller";
}

/** P: the kind that is reconciled. D: every kind that is cached. G: what may be done. */
export interface Context<P extends Kind, D extends Kind, G extends readonly Grant[]> {
  /** An object from the cache; undefined if there is none. Shared: never change it. */
  get<T extends KubernetesObject>(kind: Kind<T> & Declared<D, T>, ref: ObjectRef): Stored<T> | undefined;
  /** Objects from the cache, in no particular order. */
  list<T extends KubernetesObject>(kind: Kind<T> & Declared<D, T>, filter?: ListFilter): readonly Stored<T>[];
  /** Objects from the cache that an index (`indexBy`) has under this value. */
  lookup<K extends Kind>(index: Index<K> & Declared<D, ObjectOf<K>>, value: string): readonly Stored<ObjectOf<K>>[];

  /** The same, for functions that also run outside a reconcile (`map`, sources): what is declared is checked when they run. */
  readonly cached: CachedObjects;

  /** The server. Reads are live; before anything disruptive, read live and write with UID and resourceVersion. */
  readonly client: NarrowedClient<G>;
  /**
   * Makes the children of an object be exactly these: applies what differs, removes what is no longer wanted, leaves
   * alone what somebody else controls. What is already so costs nothing.
   */
  applyChildren(owner: Stored<ObjectOf<P>>, children: readonly DesiredChild[], options?: ChildrenOptions): Promise<void>;
  /** Reports, through /status, if that says anything new. Adds observedGeneration and the transition times of conditions. */
  setStatus(
    object: Stored<ObjectOf<P>>,
    status: Granted<G, ObjectOf<P>, "patch", "status"> extends true ? StatusInput<P> : NotReporting,
  ): Promise<void>;
  /** Tells people, in `kubectl describe`. */
  event(object: Stored<ObjectOf<P>>, remark: Remark): void;
  /** The same, on an object of another kind. */
  eventOn<T extends KubernetesObject>(kind: Kind<T>, object: Stored<T>, remark: Remark): void;

  /** A line for `explain`: what was considered, why it was left. Cheap; say it rather than log it. */
  note(line: string): void;
  /** Has the object in its fields already. */
  readonly log: Logger;
  readonly clock: Clock;
  /** Aborts when the time limit is over or the operator stops. Give it to everything that waits. */
  readonly signal: AbortSignal;
  /** How often this key failed in a row before this time. */
  readonly failures: number;
}
