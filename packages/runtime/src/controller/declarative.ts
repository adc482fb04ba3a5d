// The declarative form of a controller: a pure function from an object and the observed state to its children and its status.
// The runtime applies, prunes and writes the status; the function has nothing to await, and its tests have nothing to mock.
import type { Index } from "../cache/store.ts";
import type { Kind, KubernetesObject, ObjectOf, ObjectRef, Stored } from "../objects/object.ts";
import type { Grant } from "../schema/permissions.ts";
import type { Child } from "./children.ts";
import type { Declared, EventInput, ListFilter, StatusInput } from "./context.ts";
import { asDeclared, assemble, type Controller, type ControllerOptions, type KindsOf } from "./controller.ts";
import { done, type Outcome } from "./outcome.ts";
import type { ReconcileScope } from "./reconcile.ts";
import type { StatusToSet } from "./status.ts";

/** The observed state. */
export interface Seen<D extends Kind> {
  /** The children of the object, without those that are being deleted. */
  children<T extends KubernetesObject>(kind: Kind<T> & Declared<D, T>): readonly Stored<T>[];
  get<T extends KubernetesObject>(kind: Kind<T> & Declared<D, T>, ref: ObjectRef): Stored<T> | undefined;
  list<T extends KubernetesObject>(kind: Kind<T> & Declared<D, T>, filter?: ListFilter): readonly Stored<T>[];
  lookup<K extends Kind>(index: Index<K> & Declared<D, ObjectOf<K>>, value: string): readonly Stored<ObjectOf<K>>[];
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The desired state. */
export interface Wanted<P extends Kind> {
  /** The children, as declared by `child`, `after`, `keep`, `absent` and `release`. A child that is not mentioned stays. */
  readonly children: readonly Child[];
  /** Kinds of which `children` has every child: other children of these kinds are DELETED. @default none */
  readonly prune?: readonly Kind[];
  /** Replaces the status, like `ctx.setStatus`. @default the status stays as it is */
  readonly status?: StatusInput<P>;
  /** Events, recorded after the writes. Every reconcile that returns an event records it. */
  readonly events?: readonly EventInput[];
  /** What follows. @default done() */
  readonly outcome?: Outcome;
}

/**
 * Defines a controller by a pure function from an object and the observed state to its children and its status. The runtime
 * applies and reports. The garbage collector handles objects that are being deleted.
 *
 *     const gordons = declarative(Gordon, { owns: [Pod] }, (gordon, seen) => ({
 *       children: podsFor(gordon),
 *       prune: [Pod],
 *       status: statusOf(gordon, seen.children(Pod)),
 *     }));
 */
export function declarative<
  P extends Kind,
  const O extends readonly KubernetesObject[] = readonly [],
  const W extends readonly Kind[] = readonly [],
  const M extends readonly Grant[] = readonly [],
>(
  kind: P,
  options: ControllerOptions<P, O, W, M>,
  decide: (object: Stored<ObjectOf<P>>, seen: Seen<P | KindsOf<O[number]> | W[number]>) => Wanted<P>,
): Controller {
  const decideAny: (object: never, seen: never) => Wanted<P> = decide;
  return assemble(kind, options, async (ref: ObjectRef, scope: ReconcileScope) => {
    const { get, list, lookup, clock } = scope;
    const object = get(kind, ref);
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return done();
    const children = (of: Kind) =>
      list(of, { ownedBy: object }).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const seen = { children, get, list, lookup, now: clock.now() };
    const wanted = decideAny(asDeclared(object), asDeclared(seen));
    await scope.applyChildren(object, wanted.children, wanted.prune && { prune: wanted.prune });
    if (wanted.status !== undefined) await scope.setStatus(object, wanted.status as StatusToSet);
    // Last, because an Event reports what has happened. If a write fails, the next reconcile decides again what to record.
    for (const event of wanted.events ?? []) scope.event(object, event);
    return wanted.outcome ?? done();
  });
}
