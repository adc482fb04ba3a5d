// The rights that follow from what a controller is about, so that nobody writes them down.
//
//   for Gordon         get, list, watch; patch on its status
//   owns Pod           get, list, watch, create, patch, delete; update on gordons/finalizers, which clusters that enforce
//                      owner references (OpenShift) ask for before a child may block the deletion of its owner
//   watches Node       get, list, watch
//   finalizer          patch on Gordon itself
//   events             create and patch, in events.k8s.io
//   leader election    its Lease, in the operator's own namespace
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
  /** Whether it puts a finalizer on what it reconciles. @default false */
  readonly finalizer?: boolean;
  /** Whether it tells people through Events. @default false */
  readonly events?: boolean;
  /** The name of the Lease that elects a leader. @default no leader election */
  readonly lease?: string;
}

type Read = "get" | "list" | "watch";
type ForKind<K, Finalizing> =
  K extends Kind<infer T extends KubernetesObject>
    ? Grant<T, Read, undefined> | Grant<T, "patch", "status"> | (Finalizing extends true ? Grant<T, "patch", undefined> : never)
    : never;
type Owner<K> = K extends Kind<infer T extends KubernetesObject> ? Grant<T, "update", "finalizers"> : never;
type Owned<K> =
  K extends Kind<infer T extends KubernetesObject> ? Grant<T, Read | "create" | "patch" | "delete", undefined> : never;
type Watched<K> = K extends Kind<infer T extends KubernetesObject> ? Grant<T, Read, undefined> : never;
type Members<L> = L extends readonly (infer M)[] ? M : never;

/** The grants that an involvement implies, as a type. */
export type ImpliedBy<I extends Involvement> = readonly (
  | ForKind<I["for"], I["finalizer"]>
  | ([Members<I["owns"]>] extends [never] ? never : Owner<I["for"]>)
  | Owned<Members<I["owns"]>>
  | Watched<Members<I["watches"]>>
  | Members<I["may"]>
  | (I["events"] extends true ? Grant<Event, "create" | "patch", undefined> : never)
  | (I["lease"] extends string ? Grant<Lease, "get" | "create" | "update", undefined> : never)
)[];

/** Every right a controller needs for what it declares. */
export function impliedBy<const I extends Involvement>(involvement: I): ImpliedBy<I> {
  const { for: subject, owns = [], watches = [], finalizer, events, lease } = involvement;
  const grants: readonly Grant[] = [
    ...(subject === undefined ? [] : forKind(subject, owns.length > 0, finalizer === true)),
    ...owns.map((kind) => may(kind, "get", "list", "watch", "create", "patch", "delete")),
    ...watches.map((kind) => may(kind, "get", "list", "watch")),
    ...(involvement.may ?? []),
    ...(events ? [may(Event, "create", "patch")] : []),
    ...(lease === undefined ? [] : leaderElection(lease)),
  ];
  return grants as ImpliedBy<I>;
}

function forKind(kind: Kind, owner: boolean, finalizer: boolean): readonly Grant[] {
  return [
    may(kind, "get", "list", "watch"),
    may(kind, "patch", { subresource: "status" }),
    ...(owner ? [may(kind, "update", { subresource: "finalizers" })] : []),
    ...(finalizer ? [may(kind, "patch")] : []),
  ];
}

/** Creating cannot be limited to a name; the rest is. */
function leaderElection(lease: string): readonly Grant[] {
  return [may(Lease, "create", { where: "operator" }), may(Lease, "get", "update", { where: "operator", names: [lease] })];
}
