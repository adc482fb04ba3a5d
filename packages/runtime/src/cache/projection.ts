// What of an object is worth keeping. A cache holds every object of its kind for as long as the process lives, so what
// is kept of one is the largest part of an operator's memory: of 5,000 pods (39 MB of JSON), all fields took 70 MiB and
// the fields an operator used took 8.
//
// A view is a kind with such a choice, and perhaps a selection. It can stand wherever a kind can:
//
//     const PodMemory = view(Pod, {
//       labelSelector: "app=web",
//       project: (pod) => ({ metadata: leanMetadata(pod), status: { containerStatuses: pod.status?.containerStatuses } }),
//     });
//     controller(AppMonitor, { watches: [{ kind: PodMemory, map: … }] }, (ref, ctx) => { ctx.list(PodMemory) … })
//
// The compiler then knows which fields there are. Never `update` from a projected object: what was left out would be
// taken away. Apply and patch change only what they name.
import type { Kind, KubernetesObject, ObjectMeta, ObjectOf, Stored } from "../objects/object.ts";

/**
 * From an object as it came, fresh and nobody else's, to what is kept of it. What it does not look at may never be read, so
 * it looks at once. Parts are kept as they are, in objects and lists, frozen or not: `structuredClone` refuses what is unread,
 * and in a Map or a Set nobody would read it in time.
 */
export type Projection<T extends KubernetesObject, P extends KubernetesObject = T> = (object: Stored<T>) => Stored<P>;

/** Which objects of a kind a cache holds. */
export interface Selection {
  /** As kubectl writes it: "app=web,tier in (a, b)". @default all */
  readonly labelSelector?: string;
  /** Like "spec.nodeName=node-1". @default all */
  readonly fieldSelector?: string;
}

/** A kind of which only some objects, or some fields, are kept. */
export interface View<P extends KubernetesObject = KubernetesObject> extends Kind<P> {
  readonly selection?: Selection;
  readonly project?: (object: Stored<KubernetesObject>) => Stored<KubernetesObject>;
}

export interface ViewOptions<T extends KubernetesObject, P extends KubernetesObject> extends Selection {
  /** What to keep. It must keep the metadata (see `leanMetadata`). @default all but managedFields */
  readonly project?: Projection<T, P>;
}

/** A kind of which only some objects, or some fields, are kept. Make it once: views with projections are never the same cache. */
export function view<K extends Kind, P extends KubernetesObject = ObjectOf<K>>(
  kind: K,
  options: ViewOptions<ObjectOf<K>, P>,
): ViewOf<K, P> {
  const { project, ...selection } = options;
  return { ...kind, selection, ...(project && { project }) } as unknown as ViewOf<K, P>;
}

/** The kind, with objects of another shape. */
export type ViewOf<K extends Kind, P extends KubernetesObject> = Omit<K, "objectType"> & View<P>;

/** The default: everything but the book-keeping of server-side apply, which is often the larger half of an object. */
export function withoutManagedFields<T extends KubernetesObject>(object: Stored<T>): Stored<T> {
  if (object.metadata.managedFields === undefined) return object;
  return { ...object, metadata: leanMetadata(object) };
}

/** All metadata but managedFields. */
export function leanMetadata<T extends KubernetesObject>(object: Stored<T>): Stored<T>["metadata"] {
  const all: object = object.metadata;
  const metadata: Record<string, unknown> = {};
  // Not by `{ managedFields, ...rest }`: it would read them, for nothing (client/scan/unread.ts).
  for (const name in all) if (name !== "managedFields") metadata[name] = (all as typeof metadata)[name];
  return metadata as unknown as Stored<T>["metadata"];
}

/** Only what identity, ownership and deletion need: for kinds of which an operator merely wants to know that they exist. */
export function metadataOnly<T extends KubernetesObject>(object: Stored<T>): Stored<KubernetesObject> {
  const metadata: ObjectMeta = leanMetadata(object);
  return { metadata } as Stored<KubernetesObject>;
}

/** A projection lost what every object in a cache must have. */
export class ProjectionError extends Error {
  readonly code = "CACHE_PROJECTION";
  override readonly name = "ProjectionError";

  constructor(kind: Kind, field: string) {
    super(
      `the projection of ${kind.kind}: expected metadata.${field} to be kept, found it changed or missing → keep leanMetadata(object)`,
    );
  }
}

const kept = ["name", "namespace", "uid", "resourceVersion"] as const;

/**
 * The projection of a view, made safe: one that throws on an object, or loses its identity, would end the watch, and the
 * next one, and so one odd object would take the others away from everyone. That object is kept whole instead.
 */
export function projectionOf<P extends KubernetesObject>(kind: View<P>, onError: (error: unknown) => void): Projection<P> {
  const { project } = kind;
  if (project === undefined) return withoutManagedFields;
  return (object) => {
    try {
      const projected = project(object);
      const lost = kept.find((field) => projected.metadata?.[field] !== object.metadata[field]);
      if (lost !== undefined) throw new ProjectionError(kind, lost);
      return projected as Stored<P>;
    } catch (error) {
      onError(error);
      return withoutManagedFields(object);
    }
  };
}
