// A controller drives objects of one kind toward their spec. It is a value: the kind, the other kinds it reads, and a function
// that receives a key, reads the current state and moves it toward the desired state.
//
//     const gordons = controller(Gordon, { owns: [Pod] }, async (ref, ctx) => {
//       const gordon = ctx.get(Gordon, ref);
//       if (gordon === undefined) return done(); // deleted: the garbage collector removes its children
//       await ctx.applyChildren(gordon, podsFor(gordon));
//       await ctx.setStatus(gordon, statusOf(gordon, ctx.list(Pod, { ownedBy: gordon })));
//       return done();
//     });
//
// The path of a change:
//
//     change-handlers.ts   maps a change to keys → concurrency/work-queue.ts holds each key once
//     runner.ts            takes a key when the caches are synced and have seen the key's own writes (key-state.ts)
//     reconcile.ts         calls the function with a context (context.ts) and a time limit
//     outcome.ts           decides what follows: nothing, a requeue or a back-off
//
// Behind the context: children.ts and apply-children.ts, status.ts, finalizer.ts, tracked-client.ts. explain.ts records what happened.
import type { Change } from "../cache/store.ts";
import type { BackoffOptions } from "../concurrency/backoff.ts";
import type { Environment, Logger } from "../concurrency/environment.ts";
import { isQualifiedName } from "../objects/names.ts";
import type { Kind, KubernetesObject, ObjectOf, ObjectRef, Stored } from "../objects/object.ts";
import type { Grant } from "../schema/permissions.ts";
import { type InferPermissions, inferPermissions } from "../schema/permissions.ts";
import type { CacheReader, Context, StatusInput } from "./context.ts";
import type { Outcome } from "./outcome.ts";

/** Selects the changes that trigger a reconcile. */
export type Predicate<T extends KubernetesObject> = (change: Change<T>) => boolean;

/** A kind of children, with a filter: `owns: [{ kind: Pod, predicate: ({ object, previous }) => … }]`. */
export interface OwnedKind<T extends KubernetesObject> {
  readonly kind: Kind<T>;
  /** Which changes of children trigger a reconcile of their owner. @default all */
  readonly predicate?: Predicate<T>;
}

/**
 * Another kind whose changes trigger reconciles. With an index over the controller's own kind, a Secret finds the objects that
 * reference it:
 *
 *     const bySecret = indexBy(Site, ({ metadata, spec }) => spec.secret && `${metadata.namespace}/${spec.secret}`);
 *
 *     watches: [{ kind: Secret, map: (secret, cached) => cached.lookup(bySecret, keyOf(secret.metadata)).map(refOf) }]
 */
export interface Watch<K> {
  readonly kind: K;
  /**
   * Returns the objects to reconcile after a change of this one. After an update it is also called with the previous state,
   * so an object that is no longer referenced is reconciled too. The caches may be incomplete while they are filled: objects
   * that are listed later are mapped later.
   */
  readonly map: (object: Stored<ObjectOf<K>>, cached: CacheReader) => Iterable<ObjectRef>;
  /** Which changes are mapped. @default all */
  readonly predicate?: Predicate<ObjectOf<K>>;
}

/** Triggers from outside the API server: a poller, a queue, a file. */
export interface Source {
  /** Identifies the source in logs and in `explain`. */
  readonly name: string;
  /**
   * Runs while the controller works; the caches are synced when it starts. It ends when the signal aborts. If it throws before
   * that, the error is logged and the source is started again with a back-off.
   */
  readonly run: (context: SourceContext) => Promise<void>;
}

export interface EnqueueOptions {
  /**
   * An object whose reconcile failed is retried when its back-off ends, not at once. Set it for triggers that come whether or
   * not anything changed, such as every answer to a poll. Changes of objects always trigger at once. @default false
   */
  readonly respectBackoff?: boolean;
}

export interface SourceContext {
  /** Triggers a reconcile of an object. */
  readonly enqueue: (ref: ObjectRef, reason: string, options?: EnqueueOptions) => void;
  readonly cached: CacheReader;
  readonly environment: Environment;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Cleanup that must finish before an object is removed. */
export interface Finalizer<P extends Kind, C> {
  /** A qualified name in a domain you own: "gordon.example.com/cleanup". */
  readonly name: string;
  /** Cleans up. Must be idempotent. The object is removed after this returns `done()`; any other outcome keeps it. */
  readonly cleanUp: (object: Stored<ObjectOf<P>>, context: C) => Promise<Outcome>;
}

/** The kinds and permissions of a controller. They determine its caches, its Role and the type of its context. */
export interface ControllerKindOptions<
  O extends readonly KubernetesObject[],
  W extends readonly Kind[],
  M extends readonly Grant[],
  R extends boolean,
> {
  /** Kinds of children: a change of a child triggers its owner, and `applyChildren` can create it. */
  readonly owns?: { readonly [I in keyof O]: Kind<O[I]> | OwnedKind<O[I]> };
  /** Other kinds whose changes trigger reconciles. */
  readonly watches?: { readonly [I in keyof W]: Watch<W[I]> };
  /** Permissions in addition to those inferred from the kinds: `allow(Pod, "patch", { subresource: "resize" })`. */
  readonly permissions?: M;
  /** Whether the controller calls `setStatus`. If false, the permission is omitted and `setStatus` does not compile. @default true */
  readonly writesStatus?: R;
}

/** How a controller behaves. C is the type of its context. */
export interface ControllerBehavior<P extends Kind, C> {
  /** Used in metrics and logs, and as the field manager of its writes. @default the kind in lower case */
  readonly name?: string;
  /** Triggers from outside the API server. */
  readonly sources?: readonly Source[];
  /**
   * Which changes of the reconciled objects trigger a reconcile. Changes of the spec only, like controller-runtime's
   * GenerationChangedPredicate: `({ object, previous }) => object.metadata.generation !== previous?.metadata.generation`.
   * @default all
   */
  readonly predicate?: Predicate<ObjectOf<P>>;
  /** Cleanup before an object is removed. With a finalizer, objects that are being deleted are not reconciled. */
  readonly finalizer?: Finalizer<P, C>;
  /**
   * The status of an object that is stuck: the server rejected a write (403, 422), or the function threw a TerminalError.
   * The runtime records an Event in any case. @default the status stays as it is
   */
  readonly onTerminalError?: (error: Error, object: Stored<ObjectOf<P>>, cached: CacheReader) => StatusInput<P>;
  /** Objects reconciled at the same time; one object is never reconciled twice at once. @default 1 */
  readonly concurrency?: number;
  /** Milliseconds after which a reconcile is abandoned: its signal aborts, its calls fail, and it is retried. @default 2 min */
  readonly timeoutMs?: number;
  /** Milliseconds after which every object is reconciled even without a change; 0 for never. @default 1 h */
  readonly resyncMs?: number;
  /** Delay before the retry of a failed reconcile. @default 50 ms, doubling up to 5 min, plus up to a fifth at random */
  readonly backoff?: BackoffOptions;
  /** Objects with a higher priority leave the queue first. @default 0 for all */
  readonly priority?: (object: Stored<ObjectOf<P>>) => number;
}

export type ControllerOptions<
  P extends Kind,
  O extends readonly KubernetesObject[],
  W extends readonly Kind[],
  M extends readonly Grant[],
  R extends boolean = true,
> = ControllerKindOptions<O, W, M, R> & ControllerBehavior<P, ContextFor<P, O, W, M, R>>;

/** A union of kinds for a union of object types. */
export type KindsOf<T> = T extends KubernetesObject ? Kind<T> : never;

/** The context of a controller with these kinds. Use `typeof definition.Context` instead of writing it. */
export type ContextFor<
  P extends Kind,
  O extends readonly KubernetesObject[],
  W extends readonly Kind[],
  M extends readonly Grant[],
  R extends boolean = true,
> = Context<
  P,
  P | KindsOf<O[number]> | W[number],
  InferPermissions<{
    readonly for: P;
    readonly owns: readonly KindsOf<O[number]>[];
    readonly watches: W;
    readonly permissions: M;
    readonly writesStatus: R;
  }>
>;

export type Reconcile<C> = (ref: ObjectRef, context: C) => Promise<Outcome>;

/** A controller, ready for `operator({ controllers: […] })`. */
export interface Controller {
  readonly name: string;
  readonly kind: Kind;
  /** All of its permissions: the Role is generated from them, and its client offers nothing else. */
  readonly grants: readonly Grant[];
  readonly plan: Plan;
}

/** Every kind that a controller caches: its own, those it owns and those it watches. */
export function kindsOf({ kind, plan }: Controller): readonly Kind[] {
  return [kind, ...plan.owns.map((owned) => owned.kind), ...plan.watches.map((watch) => watch.kind)];
}

export type AnyPredicate = (change: never) => boolean;

export interface AnyWatch {
  readonly kind: Kind;
  readonly map: (object: never, cached: CacheReader) => Iterable<ObjectRef>;
  readonly predicate?: AnyPredicate;
}

/** The options of a controller with their defaults. Its functions were typed for one context each: see `asDeclared`. */
export interface Plan {
  readonly owns: readonly { readonly kind: Kind; readonly predicate?: AnyPredicate }[];
  readonly watches: readonly AnyWatch[];
  readonly sources: readonly Source[];
  readonly predicate: AnyPredicate | undefined;
  readonly finalizer: { readonly name: string; cleanUp(object: never, context: never): Promise<Outcome> } | undefined;
  readonly writesStatus: boolean;
  readonly onTerminalError: ((error: Error, object: never, cached: CacheReader) => unknown) | undefined;
  readonly concurrency: number;
  readonly timeoutMs: number;
  readonly resyncMs: number;
  readonly backoff: BackoffOptions;
  readonly priority: ((object: never) => number) | undefined;
  readonly reconcile: Reconcile<never>;
}

/**
 * Passes a value to a function of the user. The compiler checked in `controller()` that the function takes exactly this type;
 * the loop, which handles all kinds alike, cannot express it. This is the only place where that knowledge is lost.
 */
export function asDeclared(value: object): never {
  return value as never;
}

/** A controller without its function. */
export interface ControllerDefinition<P extends Kind, C> {
  readonly kind: P;
  /**
   * The type of the context, for functions that are declared apart from the controller. Only for `typeof`: it has no value.
   *
   *     const gordons = defineController(Gordon, { owns: [Pod] });
   *     async function reconcile(ref: ObjectRef, ctx: typeof gordons.Context): Promise<Outcome> { … }
   */
  readonly Context: C;
  /** The controller with this function. */
  reconcile(reconcile: Reconcile<C>, behavior?: ControllerBehavior<P, C>): Controller;
}

/**
 * Declares the kinds of a controller first and its functions later, so that a function can be declared anywhere with the
 * inferred context type.
 *
 *     const definition = defineController(Gordon, { owns: [Pod] });
 *     export const gordons = definition.reconcile(reconcile, { resyncMs: minutes(10) });
 *     async function reconcile(ref: ObjectRef, ctx: typeof definition.Context): Promise<Outcome> { … }
 */
export function defineController<
  P extends Kind,
  const O extends readonly KubernetesObject[] = readonly [],
  const W extends readonly Kind[] = readonly [],
  const M extends readonly Grant[] = readonly [],
  const R extends boolean = true,
>(kind: P, kinds: ControllerKindOptions<O, W, M, R>): ControllerDefinition<P, ContextFor<P, O, W, M, R>> {
  const definition: Omit<ControllerDefinition<P, ContextFor<P, O, W, M, R>>, "Context"> = {
    kind,
    reconcile: (reconcile, behavior = {}) => assemble(kind, { ...kinds, ...behavior }, reconcile),
  };
  return definition as ControllerDefinition<P, ContextFor<P, O, W, M, R>>;
}

/**
 * Defines a controller: a kind, the other kinds it reads, and a function that receives a key, reads the current state and moves
 * it toward the desired state. The loop retries what the function throws, with growing delays; a TerminalError only after a
 * change.
 *
 *     const gordons = controller(Gordon, { owns: [Pod] }, async (ref, ctx) => {
 *       const gordon = ctx.get(Gordon, ref);
 *       if (gordon === undefined) return done(); // deleted: the garbage collector removes its children
 *       await ctx.applyChildren(gordon, podsFor(gordon));
 *       await ctx.setStatus(gordon, statusOf(gordon, ctx.list(Pod, { ownedBy: gordon })));
 *       return done(); // or requeueAfter(minutes(1), "why"), or awaitChange("of what")
 *     });
 */
export function controller<
  P extends Kind,
  const O extends readonly KubernetesObject[] = readonly [],
  const W extends readonly Kind[] = readonly [],
  const M extends readonly Grant[] = readonly [],
  const R extends boolean = true,
>(kind: P, options: ControllerOptions<P, O, W, M, R>, reconcile: Reconcile<ContextFor<P, O, W, M, R>>): Controller {
  return assemble(kind, options, reconcile);
}

interface AnyOptions extends Partial<Omit<Plan, "owns" | "reconcile">> {
  readonly name?: string;
  readonly owns?: readonly (Kind | Plan["owns"][number])[];
  readonly permissions?: readonly Grant[];
}

/** A controller from options whose types were checked by the caller. */
export function assemble(kind: Kind, options: AnyOptions, reconcile: Reconcile<never>): Controller {
  const { name = kind.kind.toLowerCase(), permissions = [], owns = [], ...rest } = defined(options);
  const plan: Plan = { ...defaults, ...rest, owns: owns.map((owned) => (isKind(owned) ? { kind: owned } : owned)), reconcile };
  checkNumbers(kind, plan);
  const { watches, finalizer, writesStatus } = plan;
  if (finalizer !== undefined && !(finalizer.name.includes("/") && isQualifiedName(finalizer.name)))
    throw new TypeError(
      `finalizer: expected a qualified name in a domain you own, such as "gordon.example.com/cleanup", found "${finalizer.name}"`,
    );
  if (plan.onTerminalError !== undefined && !writesStatus)
    throw new TypeError(
      `controller of ${kind.kind}: expected no onTerminalError, which sets the status, with writesStatus: false`,
    );
  const kinds = { for: kind, owns: plan.owns.map((owned) => owned.kind), watches: watches.map((watch) => watch.kind) };
  const grants = inferPermissions({ ...kinds, permissions, writesStatus, finalizer: finalizer !== undefined, events: true });
  return { name, kind, grants, plan };
}

/** Both have a `kind`: of a Kind it is its name. */
function isKind(owned: Kind | Plan["owns"][number]): owned is Kind {
  return typeof owned.kind === "string";
}

/** Without the options that are undefined, so that `{ timeoutMs: settings.timeoutMs }` means the default if it is not set. */
function defined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}

/** Numbers often come from text, and a wrong one would make the loop wait forever or not at all. */
function checkNumbers({ kind }: Kind, { concurrency, timeoutMs, resyncMs, backoff }: Plan): void {
  const check = (name: string, found: number, isValid: boolean, expected: string) => {
    if (!isValid) throw new TypeError(`controller of ${kind}: expected ${name} to be ${expected}, found ${found}`);
  };
  check("concurrency", concurrency, Number.isInteger(concurrency) && concurrency > 0, "a whole number above 0");
  check("timeoutMs", timeoutMs, Number.isFinite(timeoutMs) && timeoutMs > 0, "milliseconds above 0");
  check("resyncMs", resyncMs, Number.isFinite(resyncMs) && resyncMs >= 0, "milliseconds, or 0 for never");
  const { initialMs, maxMs } = backoff;
  check("backoff.initialMs", initialMs, Number.isFinite(initialMs) && initialMs > 0, "milliseconds above 0");
  check("backoff.maxMs", maxMs, Number.isFinite(maxMs) && maxMs >= initialMs, "milliseconds, not less than initialMs");
}

const defaults: Omit<Plan, "reconcile" | "owns"> = {
  watches: [],
  sources: [],
  predicate: undefined,
  finalizer: undefined,
  writesStatus: true,
  onTerminalError: undefined,
  concurrency: 1,
  timeoutMs: 120_000,
  resyncMs: 3_600_000,
  backoff: { initialMs: 50, maxMs: 300_000, jitter: 0.2 },
  priority: undefined,
};
