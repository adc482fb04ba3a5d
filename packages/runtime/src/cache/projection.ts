// Views: which objects and which fields of a kind a cache stores. Cached objects are the largest part of an operator's memory: for
// 5,000 pods (39 MB of JSON), all fields took 70 MiB, and the fields an operator used took 8 MiB.
//
// A view is a kind with a projection, a selection, or both. Use it wherever you can use a kind:
//
//     const PodMemory = view(Pod, {
//       labelSelector: "app=web",
//       project: (pod) => ({ metadata: leanMetadata(pod), status: { containerStatuses: pod.status?.containerStatuses } }),
//     });
//     controller(AppMonitor, { watches: [{ kind: PodMemory, map: … }] }, (ref, ctx) => { ctx.list(PodMemory) … })
//
// The type of a view has only the fields that the projection returns. Never `update` a projected object: that removes the omitted
// fields from the server. Apply and patch change only the fields they contain.
import type { Kind, KubernetesObject, ObjectMeta, ObjectOf, Stored } from "../objects/object.ts";

/** Reduces an object, as received from the server, to the fields that a cache stores. */
export type Projection<T extends KubernetesObject, P extends KubernetesObject = T> = (object: Stored<T>) => Stored<P>;

/** Which objects of a kind a cache stores. */
export interface Selection {
  /** In kubectl's syntax: "app=web,tier in (a, b)". @default all */
  readonly labelSelector?: string;
  /** For example "spec.nodeName=node-1". @default all */
  readonly fieldSelector?: string;
}

/** A kind of which a cache stores only some objects, or some fields. */
export interface View<P extends KubernetesObject = KubernetesObject> extends Kind<P> {
  readonly selection?: Selection;
  readonly project?: (object: Stored<KubernetesObject>) => Stored<KubernetesObject>;
}

export interface ViewOptions<T extends KubernetesObject, P extends KubernetesObject> extends Selection {
  /** Returns the fields to store, including the metadata. It never receives managedFields. @default all but managedFields */
  readonly project?: Projection<T, P>;
}

/**
 * Defines a view: a kind of which a cache stores only some objects, or some fields. Define it once, at module level: two views share
 * a cache only if their `project` is the same function.
 */
export function view<K extends Kind, P extends KubernetesObject = ObjectOf<K>>(
  kind: K,
  options: ViewOptions<ObjectOf<K>, P>,
): ViewOf<K, P> {
  const { project, ...selection } = options;
  // TypeScript cannot infer that `project` turns objects of K into objects of P.
  return { ...kind, selection, ...(project && { project }) } as unknown as ViewOf<K, P>;
}

/** The kind K with objects of type P. */
export type ViewOf<K extends Kind, P extends KubernetesObject> = Omit<K, "objectType"> & View<P>;

/** The default projection: all fields but managedFields, which are often half of an object. */
export function withoutManagedFields<T extends KubernetesObject>(object: Stored<T>): Stored<T> {
  if (object.metadata.managedFields === undefined) return object;
  return { ...object, metadata: leanMetadata(object) };
}

/** All metadata but managedFields. */
export function leanMetadata<T extends KubernetesObject>(object: Stored<T>): Stored<T>["metadata"] {
  const { managedFields: _, ...metadata } = object.metadata;
  return metadata as Stored<T>["metadata"];
}

/** A projection that keeps only the metadata, without managedFields. */
export function metadataOnly<T extends KubernetesObject>(object: Stored<T>): Stored<KubernetesObject> {
  const metadata: ObjectMeta = leanMetadata(object);
  return { metadata } as Stored<KubernetesObject>;
}

/** A projection changed or removed metadata that every cached object must have. */
export class ProjectionError extends Error {
  readonly code = "CACHE_PROJECTION";
  override readonly name = "ProjectionError";

  constructor(kind: Kind, field: string) {
    super(
      `the projection of ${kind.kind}: expected metadata.${field} unchanged, found it changed or missing → return leanMetadata(object) as metadata`,
    );
  }
}

const kept = ["name", "namespace", "uid", "resourceVersion"] as const;

/**
 * The projection of a view, with errors handled per object. If it throws or changes an object's identity, the cache stores that
 * object whole, because an error here would end this watch and every following one.
 */
export function projectionOf<P extends KubernetesObject>(kind: View<P>, onError: (error: unknown) => void): Projection<P> {
  const { project } = kind;
  if (project === undefined) return withoutManagedFields;
  return (object) => {
    try {
      const projected = project(withoutManagedFields(object)); // as in a list (client/list-stream.ts)
      const lost = kept.find((field) => projected.metadata?.[field] !== object.metadata[field]);
      if (lost !== undefined) throw new ProjectionError(kind, lost);
      return projected as Stored<P>;
    } catch (error) {
      onError(error);
      return withoutManagedFields(object);
    }
  };
}
