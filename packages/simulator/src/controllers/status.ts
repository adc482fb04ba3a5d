// What a controller writes about an object, through /status. As the real controllers do it: the whole status at once, with the
// resourceVersion it was decided on, and only if it says something new.
//
// The runtime's `setStatus` is for kinds of one's own: it adds `observedGeneration` to every status and every condition, and
// half of the built-in kinds have no such field.
import { equals, type KubernetesObject, type Stored } from "@memhog/runtime";

/**
 * Writes the status if it differs from what the object says already.
 *
 *     await report(set, status, (next) => ctx.client.update(ReplicaSet, next, { subresource: "status" }));
 */
export async function report<T extends KubernetesObject & { readonly status?: S }, S extends object>(
  object: Stored<T>,
  status: S,
  write: (next: Stored<T>) => Promise<unknown>,
): Promise<boolean> {
  const next = withoutUndefined(status);
  if (equals(object.status ?? {}, next)) return false;
  await write({ ...object, status: next });
  return true;
}

/** For numbers that the API leaves out where they are zero. */
export function unlessZero(count: number): number | undefined {
  return count === 0 ? undefined : count;
}

/** A field that is undefined is not sent; it must not count as a difference, either. */
type Stated<S> = { readonly [K in keyof S]?: S[K] | undefined };

/** The status with only what is there. */
export function stated<S extends object>(status: Stated<S>): S {
  return withoutUndefined(status) as S;
}

function withoutUndefined<S extends object>(value: S): S {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as S;
}
