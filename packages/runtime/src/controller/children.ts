// The objects that exist for another one. A reconciler says what they should be; here is what it takes to get there without
// hurting anybody:
//
// - A child is written by server-side apply, under the controller's name, so fields of others are left alone; and only if
//   it is not already so (settled.ts).
// - A child that the cache does not have is looked for on the server first: it may be somebody else's and just so new that
//   our watch has not told us. An apply would quietly take it over.
// - An object of the right name that is not controlled by our owner, by UID, is never touched (ChildNotOursError). What a
//   deleted namesake of the owner left behind is about to be collected: we wait for that.
// - What is no longer wanted is deleted with UID and resourceVersion: only if it is the very object that was judged.
import type { Cache } from "../cache/cache.ts";
import { InvalidError, NotFoundError } from "../client/errors.ts";
import { type Kind, type KubernetesObject, keyOf, type ObjectMeta, type ObjectRef, type Stored } from "../objects/object.ts";
import { controllerOf, isControlledBy, ownerReferenceTo } from "../objects/owner.ts";
import { ChildNotOursError, PermanentError } from "./errors.ts";
import { hashOf } from "./settled.ts";
import { isSameKind, type Work } from "./work.ts";

/** A child as it should be. */
export interface DesiredChild {
  readonly kind: Kind;
  readonly object: KubernetesObject & { readonly metadata: ObjectMeta & { readonly name: string } };
}

export interface ChildrenOptions {
  /** Kinds of which children that are not wanted are removed. @default every kind the controller owns */
  readonly prune?: readonly Kind[];
}

/**
 * A child as it should be. Its namespace is that of the owner unless it has one; owner reference and hash are added.
 *
 *     child(Pod, { metadata: { name: `${gordon.metadata.name}-0` }, spec: { containers: [gordonContainer] } })
 */
export function child<T extends KubernetesObject>(
  kind: Kind<T>,
  object: T & { readonly metadata: { readonly name: string } },
): DesiredChild {
  return { kind, object };
}

/** Where a child carries the hash of what was last wanted of it: in the domain of its owner. */
export function hashAnnotation(owner: Kind): string {
  return owner.group === "" ? "applied-hash" : `${owner.group}/applied-hash`;
}

export async function applyChildren(
  work: Work,
  owner: Stored<KubernetesObject>,
  children: readonly DesiredChild[],
  { prune = work.owns }: ChildrenOptions = {},
): Promise<void> {
  const wanted = children.map(({ kind, object }) => ({ kind, object: complete(work, owner, kind, object) }));
  for (const { kind, object } of wanted) await applyChild(work, owner, kind, object);
  for (const kind of prune) {
    const names = wanted.filter((other) => isSameKind(other.kind, kind)).map(({ object }) => keyOf(object.metadata));
    await pruneKind(work, owner, kind, new Set(names));
  }
}

type Complete = KubernetesObject & { readonly metadata: ObjectMeta & { readonly name: string } };

/** The child with everything it has to have, as it will be applied. */
function complete(work: Work, owner: Stored<KubernetesObject>, kind: Kind, object: DesiredChild["object"]): Complete {
  const home = owner.metadata.namespace;
  const namespace = kind.namespaced ? (object.metadata.namespace ?? home) : undefined;
  if (home !== undefined && namespace !== home) {
    throw new PermanentError(
      `${kind.kind} ${object.metadata.name}: expected it in ${home}, where its owner is, found it ${namespace === undefined ? "outside of namespaces" : `in ${namespace}`}; Kubernetes would collect it at once`,
    );
  }
  const where = namespace === undefined ? {} : { namespace };
  const metadata = { ...object.metadata, ...where, ownerReferences: [ownerReferenceTo(owner, work.kind)] };
  const annotations = { ...metadata.annotations, [hashAnnotation(work.kind)]: hashOf({ ...object, metadata }) };
  return { ...object, metadata: { ...metadata, annotations } };
}

async function applyChild(work: Work, owner: Stored<KubernetesObject>, kind: Kind, wanted: Complete): Promise<void> {
  const cache = work.cacheOf(kind);
  const ref = wanted.metadata;
  const actual = cache.get(ref) ?? (await work.client.find(kind, ref));
  if (actual !== undefined && !isReady(work, owner, kind, actual)) return;
  if (actual !== undefined && work.settled.isSo(actual.metadata.uid, wanted, actual)) return;
  // With the UID, it is this very object that changes, or none.
  const uid = actual === undefined ? {} : { uid: actual.metadata.uid };
  const object = { ...wanted, metadata: { ...wanted.metadata, ...uid } };
  const answer = await apply(work, owner, kind, object);
  work.settled.remember(answer.metadata.uid, wanted, cache.project(answer));
}

async function apply(
  work: Work,
  owner: Stored<KubernetesObject>,
  kind: Kind,
  object: Complete,
): Promise<Stored<KubernetesObject>> {
  try {
    return await work.client.apply(kind, object, { fieldManager: work.fieldManager, force: true });
  } catch (error) {
    // "Only one reference can have Controller set to true": it appeared between our look and our write.
    const found = error instanceof InvalidError ? await work.client.find(kind, object.metadata) : undefined;
    if (found !== undefined && !isControlledBy(found, owner.metadata.uid)) throw new ChildNotOursError(kind, found, owner);
    throw error;
  }
}

/** Ours and alive. @throws ChildNotOursError */
function isReady(work: Work, owner: Stored<KubernetesObject>, kind: Kind, actual: Stored<KubernetesObject>): boolean {
  const name = `${kind.kind} ${keyOf(actual.metadata)}`;
  if (isControlledBy(actual, owner.metadata.uid)) {
    if (actual.metadata.deletionTimestamp === undefined) return true;
    work.note(`${name} is being deleted; it is made again when it is gone`);
    return false;
  }
  if (!isLeftBehind(work, owner, actual)) throw new ChildNotOursError(kind, actual, owner);
  work.note(`${name} belongs to a deleted namesake of its owner; waiting until it is collected`);
  return false;
}

function isLeftBehind(work: Work, owner: Stored<KubernetesObject>, actual: Stored<KubernetesObject>): boolean {
  const theirs = controllerOf(actual);
  return theirs?.kind === work.kind.kind && theirs.name === owner.metadata.name;
}

async function pruneKind(work: Work, owner: Stored<KubernetesObject>, kind: Kind, wanted: ReadonlySet<string>): Promise<void> {
  const cache: Cache = work.cacheOf(kind);
  for (const object of cache.ownedBy(owner.metadata.uid)) {
    const { uid, resourceVersion, deletionTimestamp } = object.metadata;
    const unwanted = !wanted.has(keyOf(object.metadata)) && isControlledBy(object, owner.metadata.uid);
    if (unwanted && deletionTimestamp === undefined) await remove(work, kind, object.metadata, { uid, resourceVersion });
  }
}

async function remove(work: Work, kind: Kind, ref: ObjectRef, only: { uid: string; resourceVersion: string }): Promise<void> {
  try {
    await work.client.delete(kind, ref, { ...only, propagationPolicy: "Background" });
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error; // gone: that is what was wanted
  }
}
