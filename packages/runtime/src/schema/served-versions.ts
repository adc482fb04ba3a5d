// The versions of a kind, as they are served.
import type { AnyResource } from "./define-resource.ts";

/** All versions that are served, the stored one first. Without a status of its own, every write through a version would lose it. */
export function servedVersions(resource: AnyResource): readonly AnyResource[] {
  const { status, conditions, alsoServed = [] } = resource.definition;
  const stated = { ...(status !== undefined && { status }), ...(conditions !== undefined && { conditions }) };
  const others = alsoServed.map((other) => {
    const silent = other.definition.status === undefined && other.definition.conditions === undefined;
    return silent ? { ...other, definition: { ...other.definition, ...stated } } : other;
  });
  return [resource, ...others];
}
