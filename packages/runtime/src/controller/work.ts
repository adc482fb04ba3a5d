// What the helpers of a reconcile (children, status, finalizer) stand on: the inside of a context, without types that
// belong to the compiler.
import type { Cache } from "../cache/cache.ts";
import type { Client } from "../client/client.ts";
import type { Clock } from "../concurrency/environment.ts";
import type { Kind, ObjectRef } from "../objects/object.ts";
import type { Outcomes, Settled } from "./settled.ts";

export interface Work {
  /** The kind that is reconciled. */
  readonly kind: Kind;
  /** The kinds of its children. */
  readonly owns: readonly Kind[];
  /** Under which name the server notes who wrote a field. */
  readonly fieldManager: string;
  /** Tracked: writes are waited for. */
  readonly client: Client;
  readonly clock: Clock;
  readonly settled: Settled;
  /** What came of statuses. */
  readonly reported: Outcomes;
  /** @throws KindNotCachedError */
  cacheOf(kind: Kind): Cache;
  /** Has the owner looked at again when an object has gone that stands in its way. */
  whenGone(kind: Kind, ref: ObjectRef, owner: ObjectRef): void;
  /** For `explain`. */
  note(line: string): void;
}

/** Kinds are compared by what they are: views and `dynamicKind` make new values of them. */
export function isSameKind(a: Kind, b: Kind): boolean {
  return a.group === b.group && a.plural === b.plural;
}
