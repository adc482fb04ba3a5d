// The pure form of a controller, for the many that only say what should be: a function from an object and what is seen to
// its children and its status. The runtime applies, prunes and reports; there is nothing to await and nothing to mock.
//
//     const gordons = declarative(Gordon, { owns: [Pod] }, (gordon, seen) => ({
//       children: podsFor(gordon),
//       status: statusOf(gordon, seen.children(Pod)),
//     }));
import type { Index } from "../cache/object-index.ts";
import type { Kind, KubernetesObject, ObjectOf, ObjectRef, Stored } from "../objects/object.ts";
import type { Grant } from "../schema/access.ts";
import type { DesiredChild } from "./children.ts";
import type { ListFilter, StatusInput } from "./context.ts";
import { controller } from "./controller.ts";
import type { Declared } from "./declared.ts";
import type { Controller, ControllerOptions } from "./definition.ts";
import type { Remark } from "./object-events.ts";
import { done, type Outcome } from "./outcome.ts";

/** What can be seen of the world, at one moment. */
export interface Seen<D extends Kind> {
  /** The children of the object that is decided about, without those that are being deleted. */
  children<T extends KubernetesObject>(kind: Kind<T> & Declared<D, T>): readonly Stored<T>[];
  get<T extends KubernetesObject>(kind: Kind<T> & Declared<D, T>, ref: ObjectRef): Stored<T> | undefined;
  list<T extends KubernetesObject>(kind: Kind<T> & Declared<D, T>, filter?: ListFilter): readonly Stored<T>[];
  lookup<K extends Kind>(index: Index<K> & Declared<D, ObjectOf<K>>, value: string): readonly Stored<ObjectOf<K>>[];
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** What should be. */
export interface Wanted<P extends Kind> {
  /** All of them: what is missing here is removed. */
  readonly children: readonly DesiredChild[];
  /** @default the status stays as it is */
  readonly status?: StatusInput<P>;
  /** Worth telling, each time it is decided, once the rest has been done. */
  readonly events?: readonly Remark[];
  /** @default done() */
  readonly outcome?: Outcome;
}

/**
 * Defines a controller by a pure function, from an object and what is seen to its children and its status. The runtime applies,
 * prunes and reports. An object that is being deleted is left to the garbage collector.
 *
 *     const gordons = declarative(Gordon, { owns: [Pod] }, (gordon, seen) => ({
 *       children: podsFor(gordon),
 *       status: statusOf(gordon, seen.children(Pod)),
 *     }));
 */
export function declarative<
  P extends Kind,
  const O extends readonly Kind[] = readonly [],
  const W extends readonly Kind[] = readonly [],
  const M extends readonly Grant[] = readonly [],
>(
  kind: P,
  options: ControllerOptions<P, O, W, M>,
  want: (object: Stored<ObjectOf<P>>, seen: Seen<P | O[number] | W[number]>) => Wanted<P>,
): Controller {
  return controller<P, O, W, M>(kind, options, async (ref, context) => {
    // The compiler cannot see through the declared kinds of a generic controller; whoever calls us has been checked.
    const ctx = context as unknown as PlainContext<P>;
    const object = ctx.get(kind, ref) as Stored<ObjectOf<P>> | undefined;
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return done();
    const children = (of: Kind) =>
      ctx.list(of, { ownedBy: object }).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const seen = { children, get: ctx.get, list: ctx.list, lookup: ctx.lookup, now: ctx.clock.now() };
    const wanted = want(object, seen as unknown as Seen<P | O[number] | W[number]>);
    await ctx.applyChildren(object, wanted.children);
    if (wanted.status !== undefined) await ctx.setStatus(object, wanted.status);
    // Last: what is told has happened. If a write failed, the next pass decides afresh what there is to tell.
    for (const remark of wanted.events ?? []) ctx.event(object, remark);
    return wanted.outcome ?? done();
  });
}

interface PlainContext<P extends Kind> {
  get(kind: Kind, ref: ObjectRef): Stored<KubernetesObject> | undefined;
  list(kind: Kind, filter?: ListFilter): readonly Stored<KubernetesObject>[];
  lookup(index: Index, value: string): readonly Stored<KubernetesObject>[];
  readonly clock: { now(): number };
  event(object: Stored<KubernetesObject>, remark: Remark): void;
  applyChildren(owner: Stored<KubernetesObject>, children: readonly DesiredChild[]): Promise<void>;
  setStatus(object: Stored<KubernetesObject>, status: StatusInput<P>): Promise<void>;
}
