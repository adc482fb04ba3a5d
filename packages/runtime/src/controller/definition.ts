// A controller as a value: what it is about and what it does, before anything runs. `controller()` makes it with types
// that hold it together; here are the options, and the same without those types, for the machinery.
import type { Index, IndexValues } from "../cache/object-index.ts";
import type { Change } from "../cache/store.ts";
import type { Environment } from "../concurrency/environment.ts";
import type { Logger } from "../concurrency/logger.ts";
import type { Kind, KubernetesObject, ObjectOf, ObjectRef, Stored } from "../objects/object.ts";
import type { Grant } from "../schema/access.ts";
import type { ImpliedBy } from "../schema/implied-access.ts";
import type { Context, StatusInput } from "./context.ts";
import type { Outcome } from "./outcome.ts";

/** The objects of a kind, as far as they are in the cache. */
export interface CacheReader<T extends KubernetesObject> {
  get(ref: ObjectRef): Stored<T> | undefined;
  objects(namespace?: string): Iterable<Stored<T>>;
  lookup(values: IndexValues<T>, value: string): readonly Stored<T>[];
}

/** Everything a controller has in its caches, for functions that run outside a reconcile. Only kinds it declared are there. */
export interface CachedObjects {
  get<T extends KubernetesObject>(kind: Kind<T>, ref: ObjectRef): Stored<T> | undefined;
  objects<T extends KubernetesObject>(kind: Kind<T>, namespace?: string): Iterable<Stored<T>>;
  lookup<K extends Kind>(index: Index<K>, value: string): readonly Stored<ObjectOf<K>>[];
}

/** News from elsewhere than the API server: something polled, a queue, a file. */
export interface Source {
  /** For logs, and for `explain`. */
  readonly name: string;
  /**
   * Runs as long as the controller works, caches in sync when it begins. It should end when the signal aborts; if it throws
   * before that, it is logged and started again after a while.
   */
  readonly run: (world: SourceWorld) => Promise<void>;
}

export interface SourceWorld {
  /** Has an object looked at. */
  readonly wake: (ref: ObjectRef, why: string) => void;
  readonly cached: CachedObjects;
  readonly environment: Environment;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/**
 * Another kind whose changes matter. With an index over the controller's own kind, a Secret finds those who name it:
 *
 *     const bySecret = indexBy(Site, ({ metadata, spec }) => spec.secret && `${metadata.namespace}/${spec.secret}`);
 *
 *     watches: [{ kind: Secret, map: (secret, _all, cached) => cached.lookup(bySecret, keyOf(secret.metadata)).map(refOf) }]
 */
export interface Watch<K, P extends Kind> {
  readonly kind: K;
  /**
   * Which objects of the controller's kind a change of this one matters to. After a change it is asked about the object as
   * it was, too: what no longer concerns an object is news for it. It may look at everything else that is cached, which
   * need not be complete yet: what is listed later is mapped later.
   */
  readonly map: (object: Stored<ObjectOf<K>>, all: CacheReader<ObjectOf<P>>, cached: CachedObjects) => Iterable<ObjectRef>;
  /** Which changes matter at all. @default all */
  readonly when?: (change: Change<ObjectOf<K>>) => boolean;
}

/** Work to be done before an object may go. */
export interface Finalizer<P extends Kind, C> {
  /** In a domain of yours: "gordon.example.com/cleanup". */
  readonly name: string;
  /** Cleans up; may be called many times. The object goes when it returns `done()`, and stays for any other outcome. */
  readonly cleanUp: (object: Stored<ObjectOf<P>>, context: C) => Promise<Outcome>;
}

export interface ControllerOptions<
  P extends Kind,
  O extends readonly Kind[],
  W extends readonly Kind[],
  M extends readonly Grant[],
  R extends boolean = true,
> {
  /** For metrics, logs and as field manager. @default the kind in lower case */
  readonly name?: string;
  /** Kinds of which it makes children: a change of a child is looked at, and `applyChildren` may be used. */
  readonly owns?: O;
  /** Other kinds whose changes matter. */
  readonly watches?: { readonly [I in keyof W]: Watch<W[I], P> };
  /** Which changes of children matter. @default all */
  readonly whenOwned?: (change: Change<ObjectOf<O[number]>>) => boolean;
  /** What is news although it is not in Kubernetes. */
  readonly sources?: readonly Source[];
  /** What it may do beyond what the kinds above imply: `may(Pod, "patch", { subresource: "resize" })`. */
  readonly may?: M;
  /**
   * Which changes of the objects themselves matter. Of the spec alone, as controller-runtime's GenerationChangedPredicate has it:
   * `({ object, previous }) => object.metadata.generation !== previous?.metadata.generation`. @default all
   */
  readonly when?: (change: Change<ObjectOf<P>>) => boolean;
  /** Something to do before an object may go. With it, objects that are being deleted are not reconciled. */
  readonly finalizer?: Finalizer<P, ContextFor<P, O, W, M, R>>;
  /** Whether it uses `setStatus`. If false, it has no right to, and nothing fits `setStatus`. @default true */
  readonly reports?: R;
  /**
   * What the status says when an object is stuck: the server refuses (403, 422), or the reconciler threw a
   * PermanentError. It is an Event in any case. @default the status stays as it is
   */
  readonly whenStuck?: (error: Error, object: Stored<ObjectOf<P>>, cached: CachedObjects) => StatusInput<P>;
  /** Objects reconciled at the same time; one object is never reconciled twice at once. @default 1 */
  readonly concurrency?: number;
  /** Milliseconds after which a reconcile is given up: its signal aborts, its calls fail, and it is tried again. @default 2 min */
  readonly timeoutMs?: number;
  /** Milliseconds after which every object is looked at even if nothing happened; 0 for never. @default 1 h */
  readonly resyncMs?: number;
}

export type ContextFor<
  P extends Kind,
  O extends readonly Kind[],
  W extends readonly Kind[],
  M extends readonly Grant[],
  R extends boolean = true,
> = Context<
  P,
  P | O[number] | W[number],
  ImpliedBy<{ readonly for: P; readonly owns: O; readonly watches: W; readonly may: M; readonly reports: R }>
>;

export type Reconcile<C> = (ref: ObjectRef, context: C) => Promise<Outcome>;

/** A controller, ready to be given to `operator({ controllers: […] })`. */
export interface Controller {
  readonly name: string;
  readonly kind: Kind;
  /** Everything it may do: the Role is printed from this, and its client offers nothing else. */
  readonly grants: readonly Grant[];
  readonly plan: Plan;
}

/** The options of a controller with their defaults, for the machinery: kinds are kinds, whatever their objects. */
export interface Plan {
  readonly owns: readonly Kind[];
  readonly watches: readonly Watch<Kind, Kind>[];
  readonly sources: readonly Source[];
  readonly when: ((change: Change) => boolean) | undefined;
  readonly whenOwned: ((change: Change) => boolean) | undefined;
  readonly finalizer: Finalizer<Kind, AnyContext> | undefined;
  readonly reports: boolean;
  readonly whenStuck: ((error: Error, object: Stored<KubernetesObject>, cached: CachedObjects) => object) | undefined;
  readonly concurrency: number;
  readonly timeoutMs: number;
  readonly resyncMs: number;
  readonly reconcile: Reconcile<AnyContext>;
}

/** Types belong to the compiler; a controller is called with the context it was typed for. */
export type AnyContext = never;
