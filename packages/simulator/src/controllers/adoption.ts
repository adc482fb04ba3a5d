// Adoption: which objects a workload controller counts as its own. As in Kubernetes, the label selector decides and the
// controller reference records it. An object without a controller that matches the selector is adopted; one that no longer
// matches is released.
import {
  type CacheReader,
  ConflictError,
  indexBy,
  type Kind,
  type KubernetesObject,
  NotFoundError,
  type ObjectRef,
  ownerReferenceTo,
  Pod,
  refOf,
  type Stored,
} from "@memhog/runtime";
import type { Index } from "@memhog/runtime/cache";
import { type LabelSelector, ReplicaSet } from "@memhog/runtime/kinds";
import { controllerOf, matches } from "@memhog/runtime/objects";

type Any = Stored<KubernetesObject>;

/** Objects in a namespace that no controller owns, by namespace. */
const orphansIn = (object: Any) => (controllerOf(object) === undefined ? (object.metadata.namespace ?? "") : undefined);
export const orphanPods: Index<typeof Pod> = indexBy(Pod, orphansIn);
export const orphanReplicaSets: Index<typeof ReplicaSet> = indexBy(ReplicaSet, orphansIn);

interface Owner extends KubernetesObject {
  readonly spec: { readonly selector?: LabelSelector };
}

/** Whether the selector of an owner matches. An empty selector matches nothing here: it would adopt a whole namespace. */
export function isSelectedBy(owner: Stored<Owner>, { metadata }: Any): boolean {
  const { selector } = owner.spec;
  const isEmpty = (selector?.matchExpressions ?? []).length === 0 && Object.keys(selector?.matchLabels ?? {}).length === 0;
  return selector !== undefined && !isEmpty && matches(selector, metadata.labels ?? {});
}

/** The owners to reconcile when an object without a controller appears or changes: those whose selector matches it. */
export function adoptersOf<T extends Owner>(kind: Kind<T>, object: Any, cached: CacheReader): readonly ObjectRef[] {
  if (controllerOf(object) !== undefined) return [];
  return cached
    .list(kind, { namespace: object.metadata.namespace })
    .filter((owner) => isSelectedBy(owner, object))
    .map(({ metadata }) => metadata);
}

export interface Candidates<T extends KubernetesObject> {
  /** The objects with a controller reference to the owner. */
  readonly owned: readonly Stored<T>[];
  /** The objects without a controller in the owner's namespace. */
  readonly orphans: readonly Stored<T>[];
  /** `(ref, patch) => ctx.client.patch(Pod, ref, patch)` of the adopting controller. */
  readonly patch: PatchReferences<T>;
  /** The owner as the server has it. */
  readonly readOwner: () => Promise<Stored<KubernetesObject> | undefined>;
}

type PatchReferences<T extends KubernetesObject> = (ref: ObjectRef, patch: MergePatch) => Promise<Stored<T>>;

export interface MergePatch {
  readonly type: "merge";
  readonly body: object;
}

/**
 * The objects that belong to an owner, after it has adopted and released. An owner that is being deleted does neither.
 * `isMember`: a condition beside the selector, such as the name of a StatefulSet's pod.
 */
export async function claimOwned<T extends KubernetesObject>(
  owner: Stored<Owner>,
  ownerKind: Kind,
  { owned, orphans, patch, readOwner }: Candidates<T>,
  isMember: (object: Stored<T>) => boolean = () => true,
): Promise<readonly Stored<T>[]> {
  if (owner.metadata.deletionTimestamp !== undefined) return owned;
  const belongs = (object: Stored<T>) => isSelectedBy(owner, object) && isMember(object);
  const isBeingDeleted = ({ metadata }: Stored<T>) => metadata.deletionTimestamp !== undefined;
  const kept: Stored<T>[] = [];
  for (const object of owned) {
    if (belongs(object) || isBeingDeleted(object)) kept.push(object);
    else {
      const others = referencesOf(object).filter(({ uid }) => uid !== owner.metadata.uid);
      await setReferences(object, others, patch);
    }
  }
  const adoptable = orphans.filter((object) => belongs(object) && !isBeingDeleted(object));
  // The cache may not show yet that the owner is being deleted. Objects that were orphaned must not be adopted again.
  if (adoptable.length === 0 || !isSameAlive(await readOwner(), owner)) return kept;
  for (const object of adoptable) {
    const adopted = await setReferences(object, [...referencesOf(object), ownerReferenceTo(owner, ownerKind)], patch);
    if (adopted !== undefined) kept.push(adopted);
  }
  return kept;
}

function isSameAlive(found: Any | undefined, { metadata }: Any): boolean {
  return found?.metadata.uid === metadata.uid && found.metadata.deletionTimestamp === undefined;
}

const referencesOf = ({ metadata }: Any) => metadata.ownerReferences ?? [];

/** Undefined if the object was changed or deleted meanwhile: the change causes another reconcile. */
async function setReferences<T extends KubernetesObject>(
  object: Stored<T>,
  ownerReferences: readonly object[],
  patch: PatchReferences<T>,
): Promise<Stored<T> | undefined> {
  const { uid, resourceVersion } = object.metadata;
  const body = { metadata: { uid, resourceVersion, ownerReferences: ownerReferences.length > 0 ? ownerReferences : null } };
  try {
    return await patch(refOf(object), { type: "merge", body });
  } catch (error) {
    if (error instanceof ConflictError || error instanceof NotFoundError) return undefined;
    throw error;
  }
}
