// The shape every Kubernetes object has, and nothing more. Kinds with a spec of their own are in kinds/; kinds of an
// operator come from schema/ (`defineResource`). Objects travel through the runtime as the parsed JSON they arrived as:
// a field that these types do not know is still there, and is written back untouched.

/** What the API server keeps about every object. Field meanings: `kubectl explain pod.metadata`. */
export interface ObjectMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  /** Opaque: compare for equality only, except where the server itself promises order (see cache/). */
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly managedFields?: readonly unknown[];
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** Any object, on its way in or out. */
export interface KubernetesObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: ObjectMeta;
}

/** An object as the API server returned it: named, with an identity and a version. */
export type Stored<T extends KubernetesObject> = T & {
  readonly metadata: ObjectMeta & { readonly name: string; readonly uid: string; readonly resourceVersion: string };
};

/** Where an object is: the key of queues and caches. Cluster-scoped objects have no namespace. */
export interface ObjectRef {
  readonly namespace?: string;
  readonly name: string;
}

/**
 * A kind of object: how the API server spells it, and (for the compiler only) what its objects look like.
 * Built-in ones are in kinds/, an operator's own come from `defineResource`, unknown ones from `dynamicKind`.
 */
export interface Kind<T extends KubernetesObject = KubernetesObject> {
  /** "" for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Lower-case plural, as in URLs: "pods". */
  readonly plural: string;
  readonly namespaced: boolean;
  /** Never present at run time: it carries the type of the objects from a kind to what is done with it. */
  readonly objectType?: T;
}

/** The type of the objects of a kind: `ObjectOf<typeof Pod>`. */
export type ObjectOf<K> = K extends Kind<infer T> ? T : never;

/** "v1" or "apps/v1", as objects spell it. */
export function apiVersionOf(kind: Pick<Kind, "group" | "version">): string {
  return kind.group === "" ? kind.version : `${kind.group}/${kind.version}`;
}

/** The ref of an object that has a name. */
export function refOf(object: KubernetesObject): ObjectRef {
  const { name, namespace } = object.metadata ?? {};
  if (name === undefined || name === "")
    throw new TypeError(`expected an object with a name, found ${object.kind ?? "one"} without metadata.name`);
  return namespace === undefined ? { name } : { namespace, name };
}

/** "namespace/name", or "name" for cluster-scoped objects: for maps and for people. */
export function keyOf(ref: ObjectRef): string {
  return ref.namespace === undefined ? ref.name : `${ref.namespace}/${ref.name}`;
}
