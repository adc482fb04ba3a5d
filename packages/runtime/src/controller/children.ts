// The objects that exist for another one. A reconciler says what they should be; here is what it takes to get there without
// hurting anybody:
//
// - A child is written by server-side apply, under the controller's name, so fields of others are left alone; and only if
//   it is not already so (settled.ts).
// - A child that the cache does not have is looked for on the server first: it may be somebody else's and just so new that
//   our watch has not told us. An apply would quietly take it over.
// - An object of the right name that is not controlled by our owner, by UID, is never touched (ChildNotOursError). What a
//   deleted namesake of the owner left behind is about to be collected: we wait for that.
// - A child that cannot be had does not keep its siblings waiting: what is wrong with it is said when they are done. If it
//   is somebody else's, the owner is looked at again when that object has gone.
// - A field that cannot be changed any more (most of a Pod) is a refusal, unless the child says that it may be replaced:
//   then it is deleted, and made again when it is gone.
// - What is no longer wanted is deleted with UID and resourceVersion: only if it is the very object that was judged.
import type { Cache } from "../cache/cache.ts";
import { ForbiddenError, InvalidError, NotFoundError } from "../client/errors.ts";
import { type Kind, type KubernetesObject, keyOf, type ObjectMeta, type ObjectRef, type Stored } from "../objects/object.ts";
import { controllerOf, isControlledBy, isReferenceTo, ownerReferenceTo } from "../objects/owner.ts";
import { ChildNotOursError, PermanentError, SeveralChildrenError } from "./errors.ts";
import { hashOf } from "./settled.ts";
import { isSameKind, type Work } from "./work.ts";

/** A child as it should be. */
export interface DesiredChild extends ChildOptions {
  readonly kind: Kind;
  readonly object: KubernetesObject & { readonly metadata: ObjectMeta & { readonly name: string } };
}

export interface ChildOptions {
  /**
   * What to do if a field is wanted differently that can no longer be changed. "replace" deletes the child, gracefully, and
   * makes it again when it is gone: its data and its address are lost. @default "fail": the object is stuck, and says so
   */
  readonly whenImmutable?: "replace" | "fail";
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
  options: ChildOptions = {},
): DesiredChild {
  return { kind, object, ...options };
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
  const wanted = children.map((each) => ({ ...each, object: complete(work, owner, each.kind, each.object) }));
  refuseNamesakes(wanted);
  const refused: Error[] = [];
  for (const each of wanted) {
    await applyChild(work, owner, each).catch((error: unknown) => {
      if (!concernsOnlyIt(error)) throw error;
      if (error instanceof ChildNotOursError) work.whenGone(each.kind, each.object.metadata, owner.metadata);
      refused.push(error);
    });
  }
  for (const kind of prune) {
    const names = wanted.filter((other) => isSameKind(other.kind, kind)).map(({ object }) => keyOf(object.metadata));
    await pruneKind(work, owner, kind, new Set(names));
  }
  complain(work, refused);
}

/** One error for all: one that is worth another try, if there is such a one. */
function complain(work: Work, refused: readonly Error[]): void {
  for (const { message } of refused) work.note(message);
  const passing = refused.find((error) => !(error instanceof PermanentError));
  const [first, ...more] = refused;
  if (first !== undefined) throw passing ?? (more.length === 0 ? first : new SeveralChildrenError(refused));
}

/**
 * What is wrong with one child need not be wrong with the next; a server that is down or busy is. Not found is its namespace, which
 * may come yet, or its kind.
 */
function concernsOnlyIt(error: unknown): error is Error {
  return [PermanentError, InvalidError, ForbiddenError, NotFoundError].some((kind) => error instanceof kind);
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
  if (kind.namespaced && namespace === undefined) {
    throw new PermanentError(
      `${kind.kind} ${object.metadata.name}: expected a namespace, since its owner ${owner.metadata.name} is in none, found none → say which in metadata.namespace`,
    );
  }
  const where = namespace === undefined ? {} : { namespace };
  const metadata = { ...object.metadata, ...where, ownerReferences: [ownerReferenceTo(owner, work.kind)] };
  const annotations = { ...metadata.annotations, [hashAnnotation(work.kind)]: hashOf({ ...object, metadata }) };
  return { ...object, metadata: { ...metadata, annotations } };
}

type CompleteChild = DesiredChild & { readonly object: Complete };

/** Two that are wanted under one name would be written over each other, and each write would set off the next pass: for ever. */
function refuseNamesakes(wanted: readonly CompleteChild[]): void {
  const seen = new Map<string, Complete>();
  for (const { kind, object } of wanted) {
    const name = `${kind.kind} ${keyOf(object.metadata)}`;
    const key = `${kind.group} ${name}`;
    const before = seen.get(key);
    if (before !== undefined && hashOf(before) !== hashOf(object))
      throw new PermanentError(`${name}: expected to be wanted once, found twice, and differently → give one another name`);
    seen.set(key, object);
  }
}

async function applyChild(work: Work, owner: Stored<KubernetesObject>, child: CompleteChild): Promise<void> {
  const { kind, object: wanted } = child;
  const cache = work.cacheOf(kind);
  const ref = wanted.metadata;
  const actual = cache.get(ref) ?? (await work.client.find(kind, ref));
  if (actual !== undefined && !isReady(work, owner, kind, actual)) return;
  if (actual !== undefined && work.settled.isSo(actual.metadata.uid, wanted, actual)) return;
  // With the UID, it is this very object that changes, or none.
  const uid = actual === undefined ? {} : { uid: actual.metadata.uid };
  const object = { ...wanted, metadata: { ...wanted.metadata, ...uid } };
  const answer = await apply(work, owner, kind, object).catch((error: unknown) => {
    if (actual === undefined || child.whenImmutable !== "replace" || !isImmutable(error)) throw error;
    return undefined;
  });
  if (answer === undefined) return actual && replace(work, kind, actual);
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

/** The words differ from kind to kind; these are those of pods, jobs, claims, services, selectors and template fields. */
const immutable = /immutable|(may not|cannot) (change|be changed)|updates to .* are forbidden/i;

function isImmutable(error: unknown): boolean {
  if (!(error instanceof InvalidError)) return false;
  return error.causes.length === 0
    ? immutable.test(error.message)
    : error.causes.every(({ message = "" }) => immutable.test(message));
}

async function replace(work: Work, kind: Kind, { metadata }: Stored<KubernetesObject>): Promise<void> {
  work.note(`${kind.kind} ${keyOf(metadata)} cannot be changed as wanted; it is deleted, and made again when it is gone`);
  await remove(work, kind, metadata, { uid: metadata.uid, resourceVersion: metadata.resourceVersion });
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
  return theirs !== undefined && isReferenceTo(work.kind, theirs) && theirs.name === owner.metadata.name;
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
