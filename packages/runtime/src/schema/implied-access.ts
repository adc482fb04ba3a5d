// The rights that follow from what a controller is about, so that nobody writes them down.
//
//   for Gordon         list, watch; patch on its status, unless it never reports there
//   owns Pod           get, list, watch, create, patch, delete; update on gordons/finalizers, which clusters that enforce
//                      owner references (OpenShift) ask for before a child may block the deletion of its owner
//                      (controller/owner-references.real.test.ts)
//   watches Node       list, watch: a cache needs no more, and what is in it need not be read again
//   finalizer          patch on Gordon itself
//   events             create and patch, in events.k8s.io; of a kind of the whole cluster, in the namespace default
//   leader election    its Lease, in the operator's own namespace
//
// Nothing is given in reserve: what became of a write whose answer was lost is asked by a list of one name (controller/look-up.ts),
// so to write takes no right to get. A reconciler that reads live declares it: may(Gordon, "get").
import { Lease } from "../objects/kinds/coordination.ts";
import { Event } from "../objects/kinds/events.ts";
import type { Kind, KubernetesObject } from "../objects/object.ts";
import { type Grant, may } from "./access.ts";

export interface Involvement {
  /** The kind that is reconciled. */
  readonly for?: Kind;
  /** Kinds it makes children of. */
  readonly owns?: readonly Kind[];
  /** Kinds it only looks at. */
  readonly watches?: readonly Kind[];
  /** Whatever else it declares. */
  readonly may?: readonly Grant[];
  /** Whether it says how things stand in the status of what it reconciles. @default true */
  readonly reports?: boolean;
  /** Whether it puts a finalizer on what it reconciles. @default false */
  readonly finalizer?: boolean;
  /** Whether it tells people through Events. @default false */
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

/** The grants that an involvement implies, as a type. */
export type ImpliedBy<I extends Involvement> = readonly (
  | ForKind<I["for"], I["reports"], I["finalizer"]>
  | ([Members<I["owns"]>] extends [never] ? never : Owner<I["for"]>)
  | Owned<Members<I["owns"]>>
  | Watched<Members<I["watches"]>>
  | Members<I["may"]>
  | (I["events"] extends true ? Grant<Event, "create" | "patch", undefined> : never)
  | (I["lease"] extends string ? Grant<Lease, "get" | "create" | "update", undefined> : never)
)[];

/** Every right a controller needs for what it declares. */
export function impliedBy<const I extends Involvement>(involvement: I): ImpliedBy<I> {
  const { for: subject, owns = [], watches = [], events, lease } = involvement;
  const grants: readonly Grant[] = [
    ...(subject === undefined ? [] : forKind(subject, involvement)),
    ...owns.map((kind) => may(kind, "get", "list", "watch", "create", "patch", "delete")),
    ...watches.map((kind) => may(kind, "list", "watch")),
    ...(involvement.may ?? []),
    ...(events ? [may(Event, "create", "patch")] : []),
    ...(events && subject?.namespaced === false ? [may(Event, "create", "patch", { where: "default" })] : []),
    ...(lease === undefined ? [] : leaderElection(lease)),
  ];
  return grants as ImpliedBy<I>;
}

function forKind(kind: Kind, { owns = [], reports = true, finalizer = false }: Involvement): readonly Grant[] {
  return [
    may(kind, "list", "watch"),
    ...(reports ? [may(kind, "patch", { subresource: "status" })] : []),
    ...(owns.length > 0 ? [may(kind, "update", { subresource: "finalizers" })] : []),
    ...(finalizer ? [may(kind, "patch")] : []),
  ];
}

/** Creating cannot be limited to a name; the rest is. */
function leaderElection(lease: string): readonly Grant[] {
  return [may(Lease, "create", { where: "operator" }), may(Lease, "get", "update", { where: "operator", names: [lease] })];
}
