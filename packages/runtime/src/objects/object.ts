// The types that all Kubernetes objects share. kinds/ has the built-in kinds; `defineResource` (schema/) makes an
// operator's own. The runtime handles objects as the parsed JSON: fields that these types do not declare are kept and
// written back unchanged.

/** See `kubectl explain pod.metadata`. */
export interface ObjectMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  /** Opaque: compare for equality only, except where the server guarantees an order (see cache/). */
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

/** Any object, sent or received. */
export interface KubernetesObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: ObjectMeta;
}

/** An object that the API server returned: it has a name, a UID and a resource version. */
export type Stored<T extends KubernetesObject> = T & {
  readonly metadata: ObjectMeta & { readonly name: string; readonly uid: string; readonly resourceVersion: string };
};

/** Namespace and name: the key of queues and caches. Cluster-scoped objects have no namespace. */
export interface ObjectRef {
  readonly namespace?: string;
  readonly name: string;
}

/**
 * A kind: its group, version and resource name, and the static type of its objects. kinds/ has the built-in ones; use
 * `defineResource` for your own and `dynamicKind` for kinds without a static type.
 */
export interface Kind<T extends KubernetesObject = KubernetesObject> {
  /** "" for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Lowercase plural, as in URLs: "pods". */
  readonly plural: string;
  readonly namespaced: boolean;
  /** Never set at run time; it carries the static type of the objects. */
  readonly objectType?: T;
}

/** The type of the objects of a kind: `ObjectOf<typeof Pod>`. */
export type ObjectOf<K> = K extends Kind<infer T> ? T : never;

/** The apiVersion of objects, "v1" or "apps/v1". */
export function apiVersionOf(kind: Pick<Kind, "group" | "version">): string {
  return kind.group === "" ? kind.version : `${kind.group}/${kind.version}`;
}

export function refOf(object: KubernetesObject): ObjectRef {
  const { name, namespace } = object.metadata ?? {};
  if (name === undefined || name === "")
    throw new TypeError(`expected an object with a name, found ${object.kind ?? "one"} without metadata.name`);
  return namespace === undefined ? { name } : { namespace, name };
}

/** "namespace/name", or "name" for cluster-scoped objects. */
export function keyOf(ref: ObjectRef): string {
  return ref.namespace === undefined ? ref.name : `${ref.namespace}/${ref.name}`;
}

/**
 * An owner that the API server has stored. Ownership uses the UID, as the garbage collector does: an object that was
 * deleted and created again under the same name does not own the children of the first one.
 */
export interface Owner {
  readonly metadata: { readonly name: string; readonly uid: string };
}

export interface OwnerReferenceOptions {
  /** Whether the owner is the controller; an object has at most one. @default true */
  readonly controller?: boolean;
  /** Whether a foreground deletion of the owner waits for the deletion of this object. @default true */
  readonly blockOwnerDeletion?: boolean;
}

/** An entry for `metadata.ownerReferences` of a child. */
export function ownerReferenceTo(
  owner: Owner,
  kind: Pick<Kind, "group" | "version" | "kind">,
  options: OwnerReferenceOptions = {},
): OwnerReference {
  const { controller = true, blockOwnerDeletion = true } = options;
  const { name, uid } = owner.metadata;
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, name, uid, controller, blockOwnerDeletion };
}

/** Whether the reference is to an object of this kind, in any version of the group. */
export function isReferenceTo(
  kind: Pick<Kind, "group" | "kind">,
  { apiVersion, kind: found }: Pick<OwnerReference, "apiVersion" | "kind">,
): boolean {
  const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
  return found === kind.kind && group === kind.group;
}

/** The reference with `controller: true`, if any. */
export function controllerOf(object: KubernetesObject): OwnerReference | undefined {
  return object.metadata?.ownerReferences?.find((reference) => reference.controller === true);
}

/** Whether the object with this UID is one of the owners. */
export function isOwnedBy(object: KubernetesObject, uid: string): boolean {
  return object.metadata?.ownerReferences?.some((reference) => reference.uid === uid) ?? false;
}

/** Whether the object with this UID is the controller. */
export function isControlledBy(object: KubernetesObject, uid: string): boolean {
  return controllerOf(object)?.uid === uid;
}

// Children without an owner reference. The garbage collector does not know them, so neither a deletion of the owner with
// `--cascade=foreground` nor a lost owner can remove them: their controller does, in its finalizer. A label has the UID of the
// owner; an annotation has its key, which can be longer than a label value may be.

const trackingSuffix = "/owner-uid";

/** The label of a tracked child with the UID of its owner: "databases.example.com/owner-uid". */
export function trackingLabel(owner: Pick<Kind, "group" | "plural">): string {
  return `${resourceOf(owner)}${trackingSuffix}`;
}

/** The annotation of a tracked child with the key of its owner: "databases.example.com/owner". */
export function trackingAnnotation(owner: Pick<Kind, "group" | "plural">): string {
  return `${resourceOf(owner)}/owner`;
}

/** "databases.example.com", the name of the CRD. */
function resourceOf({ group, plural }: Pick<Kind, "group" | "plural">): string {
  return group === "" ? plural : `${plural}.${group}`;
}

/** Whether the object is a tracked child of the owner of this kind with this UID. */
export function isTrackedBy(object: KubernetesObject, kind: Pick<Kind, "group" | "plural">, uid: string): boolean {
  return object.metadata?.labels?.[trackingLabel(kind)] === uid;
}

/** The UIDs of all owners, by owner reference or by label. */
export function ownerUids({ metadata }: KubernetesObject): readonly string[] {
  const uids = metadata?.ownerReferences?.map((owner) => owner.uid) ?? [];
  for (const label in metadata?.labels) if (label.endsWith(trackingSuffix)) uids.push(metadata?.labels?.[label] ?? "");
  return uids;
}
