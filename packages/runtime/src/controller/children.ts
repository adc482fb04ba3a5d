// The children of an object, as values: what a child should be, and how far the runtime may go to get there. A list of children
// goes to `ctx.applyChildren`, or is what a declarative controller returns. apply-children.ts carries it out.
//
//     child(Kind, object, options)   exists as declared
//     after(condition, child)        the same, but not before the condition is met; until then it is kept
//     keep(Kind, ref)                stays as it is, whether it exists or not
//     absent(Kind, ref)              does not exist
//     release(Kind, ref)             stays, but is no child any more
//
// A child that the list does not mention stays as it is, unless its kind is pruned: `{ prune: [Pod] }` means that the list has
// every child of that kind. So "not yet" is never read as "no longer":
//
//     ready ? [child(Deployment, web)] : []                        an existing Deployment stays
//     ready ? [child(Deployment, web)] : [] with prune             an existing Deployment is DELETED
//     [after(ready, child(Deployment, web))] with prune            an existing Deployment stays
//     [on ? child(Service, metrics) : absent(Service, metrics)]    the Service comes and goes with the setting
//
// How a child is compared with the object on the server:
//
//     mode      created   our fields changed   our fields no longer declared   fields of others
//     merge     yes       repaired             removed                         stay
//     exact     yes       repaired             removed                         removed, within the parts that we declare
//     once      yes       stay                 stay                            stay
import type { Kind, KubernetesObject, ObjectMeta, ObjectRef } from "../objects/object.ts";

export interface ChildOptions {
  /**
   * "merge": declared fields are kept as declared, fields of others stay. "exact": what others add within the parts that are
   * declared is removed, too (see apply-exact.ts). "once": created if it does not exist, and then never changed, so it may have
   * generated values. Read those from the cache, never from the declaration: another instance may have created the child.
   * @default "merge"
   */
  readonly mode?: "merge" | "exact" | "once";
  /**
   * No owner reference, but a label with the UID of the owner. Neither the garbage collector nor `--cascade=foreground` removes
   * such a child, so a finalizer can still use it, and the finalizer must delete it. It may be in another namespace than its
   * owner. A view of its kind must keep labels and annotations. @default false
   */
  readonly tracked?: boolean;
  /**
   * Makes an existing object with the name of the child our child, if no controller owns it: after a restore from a backup, or
   * a move from Helm. @default false: it is reported as a conflict and not touched
   */
  readonly adopt?: boolean;
  /**
   * If an immutable field has to change, delete the child and create it again when it is gone. "background" also deletes what
   * the child owns: its data and its addresses are lost. "orphan" keeps that: the pods of a StatefulSet go on running, and the
   * new StatefulSet adopts them. @default the change is an error
   */
  readonly replace?: "background" | "orphan";
}

/** A child in its desired state. */
export interface DesiredChild extends ChildOptions {
  readonly intent: "apply";
  readonly kind: Kind;
  readonly object: KubernetesObject & { readonly metadata: ObjectMeta & { readonly name: string } };
}

/** A child that is only named: its content is not declared. */
export interface NamedChild {
  readonly intent: "keep" | "delete" | "release";
  readonly kind: Kind;
  readonly ref: ObjectRef;
  /** What a child with a condition waits for. */
  readonly waitsFor?: string;
}

export type Child = DesiredChild | NamedChild;

export interface ChildrenOptions {
  /** Kinds of which the list has every child: other children of these kinds are deleted. @default none */
  readonly prune?: readonly Kind[];
}

/**
 * Declares a child in its desired state. Its namespace defaults to that of the owner; the runtime adds the owner reference and a hash.
 *
 *     child(Pod, { metadata: { name: `${gordon.metadata.name}-0` }, spec: { containers: [gordonContainer] } })
 *     child(Secret, { metadata: { name }, stringData: { password: randomUUID() } }, { mode: "once" })
 */
export function child<T extends KubernetesObject>(
  kind: Kind<T>,
  object: T & { readonly metadata: { readonly name: string } },
  options: ChildOptions = {},
): DesiredChild {
  return { intent: "apply", kind, object, ...options };
}

/**
 * Declares a child that is not applied before a condition is met. Until then it stays as it is, whether it exists or not.
 *
 *     after(isComplete(migration), child(Deployment, web), "the migration Job")
 */
export function after(condition: boolean, then: DesiredChild, waitsFor = "its condition"): Child {
  return condition ? then : { intent: "keep", kind: then.kind, ref: then.object.metadata, waitsFor };
}

/** Declares a child that stays as it is, whether it exists or not. */
export function keep(kind: Kind, ref: ObjectRef): NamedChild {
  return { intent: "keep", kind, ref };
}

/** Declares that there is no such child: an existing one is deleted. An object of another owner is not touched. */
export function absent(kind: Kind, ref: ObjectRef): NamedChild {
  return { intent: "delete", kind, ref };
}

/** Declares that an object is no child any more: it stays, without the owner reference, and outlives its former owner. */
export function release(kind: Kind, ref: ObjectRef): NamedChild {
  return { intent: "release", kind, ref };
}

/** The annotation of a child with the hash of what was last applied, in the domain of its owner. */
export function hashAnnotation(owner: Kind): string {
  return owner.group === "" ? "applied-hash" : `${owner.group}/applied-hash`;
}
