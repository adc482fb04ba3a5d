// Rights, as values. A controller says what it may do; from that one list come the Role that is installed (rbac.ts) and the
// client its reconciler gets, which offers nothing else: the compiler refuses first, and `narrow` refuses at run time what
// got past the compiler (narrowed-client.ts). So the two cannot drift, and least privilege is what one gets by default.
//
//     may(Pod, "create", "delete")
//     may(Pod, "patch", { subresource: "resize" })
//     may(ConfigMap, "get", { names: ["defaults"] })
//
// Most rights need not be written at all: `for`, `owns` and `watches` of a controller imply them (`impliedBy`).
import type { Kind, KubernetesObject } from "../objects/object.ts";
import { GrantError } from "./errors.ts";

/** What the API server asks RBAC about. Server-side apply is "patch", and "create" where the object may not exist yet. */
export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

export interface GrantOptions<S extends string | undefined = string | undefined> {
  /** A door beside the main one: "status", "scale", "resize", "eviction". @default the object itself */
  readonly subresource?: S;
  /** Only objects of these names. Cannot limit create and deletecollection: they name no object. @default all */
  readonly names?: readonly string[];
  /**
   * "operator": only in the namespace the operator itself runs in. "default": in the namespace of that name, where Events about
   * objects of the whole cluster are kept. @default wherever it works
   */
  readonly where?: "operator" | "default";
}

/** The right to do something to objects of a kind. */
export interface Grant<
  T extends KubernetesObject = KubernetesObject,
  V extends Verb = Verb,
  S extends string | undefined = string | undefined,
> extends GrantOptions<S> {
  readonly kind: Kind<T>;
  readonly verbs: readonly V[];
}

export function may<T extends KubernetesObject, const V extends Verb>(
  kind: Kind<T>,
  ...verbs: readonly [V, ...V[]]
): Grant<T, V, undefined>;
export function may<T extends KubernetesObject, const V extends Verb, const S extends string | undefined = undefined>(
  kind: Kind<T>,
  ...verbsAndOptions: readonly [V, ...V[], GrantOptions<S>]
): Grant<T, V, S>;
/** The right to do these things to objects of a kind. */
export function may(kind: Kind, ...rest: readonly (Verb | GrantOptions)[]): Grant {
  const verbs = rest.filter((part) => typeof part === "string");
  const options = rest.find((part) => typeof part === "object") ?? {};
  const unnamed = verbs.filter((verb) => verb === "create" || verb === "deletecollection");
  if (options.names !== undefined && options.subresource === undefined && unnamed.length > 0)
    throw new GrantError(
      `may(${kind.kind}, …): expected verbs that name an object, since names are given; found ${unnamed.join()}`,
    );
  return { kind, verbs, ...options };
}

/** "pods" or "pods/resize": the resource as RBAC spells it. */
export function resourceName({ kind, subresource }: Pick<Grant, "kind" | "subresource">): string {
  return subresource === undefined ? kind.plural : `${kind.plural}/${subresource}`;
}

/** Two types that are the same, not merely assignable: nearly every kind is assignable to nearly every other. */
type Same<A, B> = (<X>() => X extends A ? 1 : 2) extends <X>() => X extends B ? 1 : 2 ? true : false;

type Matching<G, T, V, S> =
  G extends Grant<infer GrantedT, infer GrantedV, infer GrantedS>
    ? [Same<GrantedT, T>, V extends GrantedV ? true : false, Same<GrantedS, S>] extends [true, true, true]
      ? true
      : never
    : never;

/** Whether a list of grants has the right V on objects of type T, at subresource S or at the main door. */
export type Granted<G extends readonly Grant[], T, V extends Verb, S extends string | undefined = undefined> = [
  Matching<G[number], T, V, S>,
] extends [never]
  ? false
  : true;
