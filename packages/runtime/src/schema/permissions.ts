// Permissions as values. A controller declares its permissions once; both its Role (rbac.ts) and the client of its reconcile
// function (restricted-client.ts) are derived from them. So the two cannot drift, and least privilege is the default.
//
//     allow(Pod, "create", "delete")
//     allow(Pod, "patch", { subresource: "resize" })
//     allow(ConfigMap, "get", { names: ["defaults"] })
//
// Most permissions are inferred from the kinds that a controller reconciles, owns and watches (`inferPermissions`).

import { Event, Lease } from "../objects/kinds/access.ts";
import type { Kind, KubernetesObject } from "../objects/object.ts";
import { GrantError } from "./errors.ts";

/** An RBAC verb. Server-side apply requires "patch", and "create" if the object may not exist yet. */
export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

export interface GrantOptions<S extends string | undefined = string | undefined> {
  /** A subresource: "status", "scale", "resize", "eviction". @default the object itself */
  readonly subresource?: S;
  /** Only objects with these names. Not for create and deletecollection, whose requests name no object. @default all */
  readonly names?: readonly string[];
  /**
   * "operator": only in the namespace that the operator runs in. "default": in the namespace "default", which holds Events about
   * cluster-scoped objects. @default all namespaces that the operator watches
   */
  readonly where?: "operator" | "default";
}

/** A permission on objects of a kind. */
export interface Grant<
  T extends KubernetesObject = KubernetesObject,
  V extends Verb = Verb,
  S extends string | undefined = string | undefined,
> extends GrantOptions<S> {
  readonly kind: Kind<T>;
  readonly verbs: readonly V[];
}

export function allow<T extends KubernetesObject, const V extends Verb>(
  kind: Kind<T>,
  ...verbs: readonly [V, ...V[]]
): Grant<T, V, undefined>;
export function allow<T extends KubernetesObject, const V extends Verb, const S extends string | undefined = undefined>(
  kind: Kind<T>,
  ...verbsAndOptions: readonly [V, ...V[], GrantOptions<S>]
): Grant<T, V, S>;
/** Declares a permission: `allow(Pod, "patch", { subresource: "resize" })`. */
export function allow(kind: Kind, ...rest: readonly (Verb | GrantOptions)[]): Grant {
  const verbs = rest.filter((part) => typeof part === "string");
  const options = rest.find((part) => typeof part === "object") ?? {};
  const unnamed = verbs.filter((verb) => verb === "create" || verb === "deletecollection");
  if (options.names !== undefined && options.subresource === undefined && unnamed.length > 0)
    throw new GrantError(
      `allow(${kind.kind}, …): expected only verbs that name an object, because names are given, found ${unnamed.join()} → declare them in an allow(…) without names`,
    );
  return { kind, verbs, ...options };
}

/** The resource in an RBAC rule: "pods" or "pods/resize". */
export function resourceName({ kind, subresource }: Pick<Grant, "kind" | "subresource">): string {
  return subresource === undefined ? kind.plural : `${kind.plural}/${subresource}`;
}

/** Whether two types are identical, not merely assignable: most kinds are assignable to each other. */
export type Same<A, B> = (<X>() => X extends A ? 1 : 2) extends <X>() => X extends B ? 1 : 2 ? true : false;

type Matching<G, T, V, S> =
  G extends Grant<infer GrantedT, infer GrantedV, infer GrantedS>
    ? [Same<GrantedT, T>, V extends GrantedV ? true : false, Same<GrantedS, S>] extends [true, true, true]
      ? true
      : never
    : never;

/** Whether a list of grants includes verb V on objects of type T or on their subresource S. */
export type Granted<G extends readonly Grant[], T, V extends Verb, S extends string | undefined = undefined> = [
  Matching<G[number], T, V, S>,
] extends [never]
  ? false
  : true;

// The permissions inferred from the kinds of a controller:
//
//   for Gordon         list, watch; patch on its status, unless writesStatus is false
//   owns Pod           get, list, watch, create, patch, delete; update on gordons/finalizers, which clusters that enforce
//                      owner references (OpenShift) ask for before a child may block the deletion of its owner
//                      (controller/owner-references.real.test.ts)
//   watches Node       list, watch, for the cache
//   finalizer          patch on Gordon itself
//   events             create and patch, in events.k8s.io; for a cluster-scoped kind in the namespace default
//   leader election    its Lease, in the operator's own namespace
//
// Writes require no get: a write whose response was lost is read back by a list with a field selector
// (controller/key-state.ts). A reconcile function that reads live declares it: allow(Gordon, "get").

export interface ControllerKinds {
  /** The reconciled kind. */
  readonly for?: Kind;
  /** Kinds of children. */
  readonly owns?: readonly Kind[];
  /** Kinds that are only read. */
  readonly watches?: readonly Kind[];
  /** Additional permissions. */
  readonly permissions?: readonly Grant[];
  /** Whether the controller writes the status of the reconciled kind. @default true */
  readonly writesStatus?: boolean;
  /** Whether the controller has a finalizer. @default false */
  readonly finalizer?: boolean;
  /** Whether the controller records Events. @default false */
  readonly events?: boolean;
  /** The name of the Lease that elects a leader. @default no leader election */
  readonly lease?: string;
}

type Cache = "list" | "watch";
type ForKind<K, Reporting, Finalizing> =
  K extends Kind<infer T extends KubernetesObject>
    ?
        | Grant<T, Cache, undefined>
        | (Reporting extends false ? never : Grant<T, "patch", "status">)
        | (Finalizing extends true ? Grant<T, "patch", undefined> : never)
    : never;
type Owner<K> = K extends Kind<infer T extends KubernetesObject> ? Grant<T, "update", "finalizers"> : never;
type Owned<K> =
  K extends Kind<infer T extends KubernetesObject> ? Grant<T, Cache | "get" | "create" | "patch" | "delete", undefined> : never;
type Watched<K> = K extends Kind<infer T extends KubernetesObject> ? Grant<T, Cache, undefined> : never;
type Members<L> = L extends readonly (infer M)[] ? M : never;

/** The permissions inferred from the kinds of a controller, as a type. */
export type InferPermissions<I extends ControllerKinds> = readonly (
  | ForKind<I["for"], I["writesStatus"], I["finalizer"]>
  | ([Members<I["owns"]>] extends [never] ? never : Owner<I["for"]>)
  | Owned<Members<I["owns"]>>
  | Watched<Members<I["watches"]>>
  | Members<I["permissions"]>
  | (I["events"] extends true ? Grant<Event, "create" | "patch", undefined> : never)
  | (I["lease"] extends string ? Grant<Lease, "get" | "create" | "update", undefined> : never)
)[];

/** Infers every permission that a controller requires. */
export function inferPermissions<const I extends ControllerKinds>(kinds: I): InferPermissions<I> {
  const { for: subject, owns = [], watches = [], events, lease } = kinds;
  const grants: readonly Grant[] = [
    ...(subject === undefined ? [] : forKind(subject, kinds)),
    ...owns.map((kind) => allow(kind, "get", "list", "watch", "create", "patch", "delete")),
    ...watches.map((kind) => allow(kind, "list", "watch")),
    ...(kinds.permissions ?? []),
    ...(events ? [allow(Event, "create", "patch")] : []),
    ...(events && subject?.namespaced === false ? [allow(Event, "create", "patch", { where: "default" })] : []),
    ...(lease === undefined ? [] : leaderElection(lease)),
  ];
  return grants as InferPermissions<I>;
}

function forKind(kind: Kind, { owns = [], writesStatus = true, finalizer = false }: ControllerKinds): readonly Grant[] {
  return [
    allow(kind, "list", "watch"),
    ...(writesStatus ? [allow(kind, "patch", { subresource: "status" })] : []),
    ...(owns.length > 0 ? [allow(kind, "update", { subresource: "finalizers" })] : []),
    ...(finalizer ? [allow(kind, "patch")] : []),
  ];
}

/** RBAC cannot limit create to a name; get and update are limited. */
function leaderElection(lease: string): readonly Grant[] {
  return [allow(Lease, "create", { where: "operator" }), allow(Lease, "get", "update", { where: "operator", names: [lease] })];
}
