// Compile-time bookkeeping: which kinds a controller may read from its caches. Kinds are nearly all assignable to each
// other (most fields of most objects are optional), so "is declared" means: objects of exactly the same type.
import type { Kind } from "../objects/object.ts";

/** Two types that are the same, not merely assignable. */
type Same<A, B> = (<X>() => X extends A ? 1 : 2) extends <X>() => X extends B ? 1 : 2 ? true : false;

type Matching<D, T> = D extends Kind<infer DeclaredT> ? (Same<DeclaredT, T> extends true ? true : never) : never;

/** What the compiler shows where a kind is missing. */
interface NotCached {
  readonly "kind not cached": "add this kind to owns or watches of the controller";
}

/** Fits every kind of T if T is among the declared kinds D; otherwise nothing fits. */
export type Declared<D extends Kind, T> = [Matching<D, T>] extends [never] ? NotCached : unknown;
