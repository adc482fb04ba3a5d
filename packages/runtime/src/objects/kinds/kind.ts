// The built-in kinds, one file per API group (core/ has one per noun, it is large). A kind is a value and a type of the
// same name: `Pod` the value says how the API server spells it, `Pod` the type says what its objects look like.
//
//     import { Pod } from "@memhog/runtime";
//     const pod = await client.get(Pod, { namespace: "default", name: "web" }); // pod: Stored<Pod>
//
// The types list the fields operators use, under the names `kubectl explain` prints; that is where their meaning is
// documented, and repeating it here would only let it rot. An object always has every field the server sent, whether or
// not a type knows it: nothing is dropped on the way through. Everything is readonly because objects are shared between
// caches and reconcilers; to change one, make another.
import type { Kind, KubernetesObject } from "../object.ts";

/** What an unknown kind's objects look like: the usual metadata, and anything else. */
export interface DynamicObject extends KubernetesObject {
  readonly [field: string]: unknown;
}

/**
 * A kind that is known by its name only, for objects whose types nobody wrote down.
 *
 *     const Certificate = dynamicKind({ group: "cert-manager.io", version: "v1", kind: "Certificate", plural: "certificates", namespaced: true });
 */
export function dynamicKind<T extends KubernetesObject = DynamicObject>(spelling: Omit<Kind, "objectType">): Kind<T> {
  const { group, version, kind, plural, namespaced } = spelling;
  return Object.freeze({ group, version, kind, plural, namespaced });
}

/** A built-in kind whose objects live in namespaces. */
export function namespacedKind<T extends KubernetesObject>(apiVersion: string, kind: string, plural: string): Kind<T> {
  return dynamicKind<T>({ ...groupAndVersion(apiVersion), kind, plural, namespaced: true });
}

/** A built-in kind whose objects belong to the whole cluster. */
export function clusterKind<T extends KubernetesObject>(apiVersion: string, kind: string, plural: string): Kind<T> {
  return dynamicKind<T>({ ...groupAndVersion(apiVersion), kind, plural, namespaced: false });
}

/** "apps/v1" → apps and v1; "v1" → the core group. The inverse of `apiVersionOf`. */
export function groupAndVersion(apiVersion: string): Pick<Kind, "group" | "version"> {
  const slash = apiVersion.indexOf("/");
  return { group: apiVersion.slice(0, Math.max(slash, 0)), version: apiVersion.slice(slash + 1) };
}
