// Applies the desired children of an object, safely:
//
// - A child is written by server-side apply, under the controller's name, so fields of others stay; and only if it differs
//   (settled.ts).
// - A child that the cache does not hold is looked up on the server first: it can belong to another owner and be so new that
//   our watch has not reported it. An apply would take it over.
// - An object with the name of a child that the owner does not control, by UID, is never touched (AlreadyOwnedError). The children of a deleted
//   owner with the same name are about to be garbage-collected: applyChildren waits for that.
// - A child that fails does not delay its siblings: its error is thrown after they are done. If it belongs to another owner,
//   ours is reconciled again when that object is removed.
// - A change of an immutable field (most of a Pod) is an error, unless the child allows its replacement: then it is deleted,
//   and created again when it is gone.
// - A child that is no longer desired is deleted with UID and resourceVersion: only if it is the object that was examined.
import type { Cache } from "../cache/cache.ts";
import { AlreadyExistsError, ApiError, ForbiddenError, InvalidError, NotFoundError } from "../client/errors.ts";
import {
  controllerOf,
  isControlledBy,
  isReferenceTo,
  type Kind,
  type KubernetesObject,
  keyOf,
  type ObjectMeta,
  type ObjectRef,
  ownerReferenceTo,
  type Stored,
} from "../objects/object.ts";
import { AggregateChildError, AlreadyOwnedError, TerminalError } from "./errors.ts";
import { isSameKind } from "./open-caches.ts";
import type { ReconcileScope } from "./reconcile.ts";
import { hashOf } from "./settled.ts";

/** A child in its desired state. */
export interface DesiredChild extends ChildOptions {
  readonly kind: Kind;
  readonly object: KubernetesObject & { readonly metadata: ObjectMeta & { readonly name: string } };
}

export interface ChildOptions {
  /**
   * What to do if an immutable field has to change. "replace" deletes the child, gracefully, and creates it again when it is
   * gone: its data and its address are lost. "fail" reports a terminal error. @default "fail"
   */
  readonly whenImmutable?: "replace" | "fail";
}

export interface ChildrenOptions {
  /** Kinds whose children are deleted if they are not desired. @default every kind that the controller owns */
  readonly prune?: readonly Kind[];
}

/**
 * Declares a child in its desired state. Its namespace defaults to that of the owner; the runtime adds the owner reference and a hash.
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

/** The annotation of a child with the hash of what was last applied, in the domain of its owner. */
export function hashAnnotation(owner: Kind): string {
  return owner.group === "" ? "applied-hash" : `${owner.group}/applied-hash`;
}

export async function applyChildren(
  scope: ReconcileScope,
  owner: Stored<KubernetesObject>,
  children: readonly DesiredChild[],
  { prune = ownedKinds(scope) }: ChildrenOptions = {},
): Promise<void> {
  const wanted = children.map((each) => ({ ...each, object: complete(scope, owner, each.kind, each.object) }));
  rejectDuplicates(wanted);
  const errors: Error[] = [];
  for (const each of wanted) {
    await applyChild(scope, owner, each).catch((error: unknown) => {
      if (!concernsOneChild(error)) throw error;
      if (error instanceof AlreadyOwnedError) scope.deps.nameConflicts.wait(each.kind, each.object.metadata, owner.metadata);
      errors.push(error);
    });
  }
  for (const kind of prune) {
    const names = wanted.filter((other) => isSameKind(other.kind, kind)).map(({ object }) => keyOf(object.metadata));
    await pruneKind(scope, owner, kind, new Set(names));
  }
  throwErrors(scope, errors);
}

const ownedKinds = (scope: ReconcileScope): readonly Kind[] => scope.deps.controller.plan.owns.map(({ kind }) => kind);

/** Throws one error for all: preferably one that a retry can fix. */
function throwErrors(scope: ReconcileScope, errors: readonly Error[]): void {
  for (const { message } of errors) scope.note(message);
  const retryable = errors.find((error) => !(error instanceof TerminalError));
  const [first, ...more] = errors;
  if (first !== undefined) throw retryable ?? (more.length === 0 ? first : new AggregateChildError(errors));
}

/** Errors of one child only, unlike those of a server that is down or busy. Not found: its namespace or its kind. */
function concernsOneChild(error: unknown): error is Error {
  return [TerminalError, InvalidError, ForbiddenError, NotFoundError].some((kind) => error instanceof kind);
}

type Complete = KubernetesObject & { readonly metadata: ObjectMeta & { readonly name: string } };

/** Adds the namespace, the owner reference and the hash. */
function complete(scope: ReconcileScope, owner: Stored<KubernetesObject>, kind: Kind, object: DesiredChild["object"]): Complete {
  const ownerNamespace = owner.metadata.namespace;
  const namespace = kind.namespaced ? (object.metadata.namespace ?? ownerNamespace) : undefined;
  if (ownerNamespace !== undefined && namespace !== ownerNamespace) {
    throw new TerminalError(
      `${kind.kind} ${object.metadata.name}: expected the namespace of its owner, ${ownerNamespace}, found ${namespace === undefined ? "a cluster-scoped kind" : namespace} → use a child in ${ownerNamespace}; the garbage collector deletes any other`,
    );
  }
  if (kind.namespaced && namespace === undefined) {
    throw new TerminalError(
      `${kind.kind} ${object.metadata.name}: expected a namespace, because its owner ${owner.metadata.name} is cluster-scoped, found none → set metadata.namespace`,
    );
  }
  const where = namespace === undefined ? {} : { namespace };
  const metadata = { ...object.metadata, ...where, ownerReferences: [ownerReferenceTo(owner, scope.kind)] };
  const annotations = { ...metadata.annotations, [hashAnnotation(scope.kind)]: hashOf({ ...object, metadata }) };
  return { ...object, metadata: { ...metadata, annotations } };
}

type CompleteChild = DesiredChild & { readonly object: Complete };

/** Two different children with one name would overwrite each other, and every write would trigger the next reconcile. */
function rejectDuplicates(wanted: readonly CompleteChild[]): void {
  const seen = new Map<string, Complete>();
  for (const { kind, object } of wanted) {
    const name = `${kind.kind} ${keyOf(object.metadata)}`;
    const key = `${kind.group} ${name}`;
    const before = seen.get(key);
    if (before !== undefined && hashOf(before) !== hashOf(object))
      throw new TerminalError(`${name}: expected one child with this name, found two that differ → rename one of them`);
    seen.set(key, object);
  }
}

async function applyChild(scope: ReconcileScope, owner: Stored<KubernetesObject>, child: CompleteChild): Promise<void> {
  const { kind, object: wanted } = child;
  const cache = scope.cacheOf(kind);
  const ref = wanted.metadata;
  const actual = cache.get(ref) ?? (await scope.client.find(kind, ref));
  if (actual !== undefined && !isApplicable(scope, owner, kind, actual)) return;
  if (actual !== undefined && scope.deps.appliedChildren.isApplied(actual.metadata.uid, wanted, actual)) return;
  // With the UID, the server changes this object or none.
  const uid = actual === undefined ? {} : { uid: actual.metadata.uid };
  const object = { ...wanted, metadata: { ...wanted.metadata, ...uid } };
  const answer = await apply(scope, owner, kind, object).catch(async (error: unknown) => {
    if (actual === undefined || child.whenImmutable !== "replace" || !(error instanceof InvalidError)) throw error;
    if (!(await isValidByItself(scope, kind, wanted))) throw error;
    return undefined;
  });
  if (answer === undefined) return actual && replace(scope, kind, actual);
  scope.deps.appliedChildren.remember(answer.metadata.uid, wanted, cache.project(answer));
}

async function apply(
  scope: ReconcileScope,
  owner: Stored<KubernetesObject>,
  kind: Kind,
  object: Complete,
): Promise<Stored<KubernetesObject>> {
  try {
    return await scope.client.apply(kind, object, { fieldManager: scope.fieldManager, force: true });
  } catch (error) {
    // "Only one reference can have Controller set to true": it was created after our read.
    const found = error instanceof InvalidError ? await scope.client.find(kind, object.metadata) : undefined;
    if (found !== undefined && !isControlledBy(found, owner.metadata.uid)) throw new AlreadyOwnedError(kind, found, owner);
    throw error;
  }
}

/**
 * Distinguishes an invalid object from a change that is not allowed. No field of the server's response does, and its message
 * differs from kind to kind. A dry-run create does: the server validates the object before it finds that the name is taken.
 */
async function isValidByItself(scope: ReconcileScope, kind: Kind, wanted: Complete): Promise<boolean> {
  try {
    await scope.client.create(kind, wanted, { dryRun: true });
    return false; // the object is gone: the next reconcile creates it
  } catch (error) {
    if (error instanceof AlreadyExistsError) return true;
    if (error instanceof ApiError) return false; // rejected as a new object, too: deleting the existing one would leave none
    throw error;
  }
}

async function replace(scope: ReconcileScope, kind: Kind, { metadata }: Stored<KubernetesObject>): Promise<void> {
  scope.note(
    `${kind.kind} ${keyOf(metadata)} has an immutable field that must change; deleting it, and creating it again when it is gone`,
  );
  await remove(scope, kind, metadata, { uid: metadata.uid, resourceVersion: metadata.resourceVersion });
}

/** Whether the owner controls the object and it is not being deleted. @throws AlreadyOwnedError */
function isApplicable(
  scope: ReconcileScope,
  owner: Stored<KubernetesObject>,
  kind: Kind,
  actual: Stored<KubernetesObject>,
): boolean {
  const name = `${kind.kind} ${keyOf(actual.metadata)}`;
  if (isControlledBy(actual, owner.metadata.uid)) {
    if (actual.metadata.deletionTimestamp === undefined) return true;
    scope.note(`${name} is being deleted; creating it again when it is gone`);
    return false;
  }
  if (!isOrphanOfSameName(scope, owner, actual)) throw new AlreadyOwnedError(kind, actual, owner);
  scope.note(`${name} belongs to a deleted owner with the same name; waiting until it is garbage-collected`);
  return false;
}

function isOrphanOfSameName(scope: ReconcileScope, owner: Stored<KubernetesObject>, actual: Stored<KubernetesObject>): boolean {
  const theirs = controllerOf(actual);
  return theirs !== undefined && isReferenceTo(scope.kind, theirs) && theirs.name === owner.metadata.name;
}

async function pruneKind(
  scope: ReconcileScope,
  owner: Stored<KubernetesObject>,
  kind: Kind,
  wanted: ReadonlySet<string>,
): Promise<void> {
  const cache: Cache = scope.cacheOf(kind);
  for (const object of cache.ownedBy(owner.metadata.uid)) {
    const { uid, resourceVersion, deletionTimestamp } = object.metadata;
    const unwanted = !wanted.has(keyOf(object.metadata)) && isControlledBy(object, owner.metadata.uid);
    if (unwanted && deletionTimestamp === undefined) await remove(scope, kind, object.metadata, { uid, resourceVersion });
  }
}

async function remove(
  scope: ReconcileScope,
  kind: Kind,
  ref: ObjectRef,
  only: { uid: string; resourceVersion: string },
): Promise<void> {
  try {
    await scope.client.delete(kind, ref, { ...only, propagationPolicy: "Background" });
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error; // already deleted
  }
}
