// Carries out what a list of children declares (children.ts), safely:
//
// - A child is written by server-side apply, under the controller's name, so fields of others stay; and only if it differs
//   (settled.ts). A child in the mode "once" is created instead: of two creations, the server accepts one.
// - A child that the cache does not hold is looked up on the server first: it can belong to another owner and be so new that
//   our watch has not reported it. An apply would take it over.
// - An object with the name of a child that is not a child of the owner, by UID, is never touched (AlreadyOwnedError), unless no
//   controller owns it and the child may adopt it. The children of a deleted owner with the same name are about to be
//   garbage-collected: applyChildren waits for that.
// - A child that fails does not delay its siblings: its error is thrown after they are done. If it belongs to another owner,
//   ours is reconciled again when that object is removed or released.
// - A change of an immutable field (most of a Pod) is an error, unless the child allows its replacement: then it is deleted,
//   and created again when it is gone.
// - A child that is deleted is deleted with UID and resourceVersion: only if it is the object that was examined.
// - A child that is written again and again is slowed down and reported (UnstableChildError): its desired state has a random
//   part, or another writer reverts it.
import { AlreadyExistsError, ApiError, ForbiddenError, InvalidError, NotFoundError } from "../client/errors.ts";
import {
  controllerOf,
  isControlledBy,
  isReferenceTo,
  isTrackedBy,
  type Kind,
  type KubernetesObject,
  keyOf,
  type ObjectMeta,
  type ObjectRef,
  ownerReferenceTo,
  type Stored,
  trackingAnnotation,
  trackingLabel,
} from "../objects/object.ts";
import { removeForeignFields } from "./apply-exact.ts";
import { type Child, type ChildrenOptions, type DesiredChild, hashAnnotation, type NamedChild } from "./children.ts";
import { AggregateChildError, AlreadyOwnedError, TerminalError, UnstableChildError } from "./errors.ts";
import { isSameKind } from "./open-caches.ts";
import type { ReconcileScope } from "./reconcile.ts";
import { changedPaths, hashOf } from "./settled.ts";

type Owner = Stored<KubernetesObject>;
type Complete = KubernetesObject & { readonly metadata: ObjectMeta & { readonly name: string } };
/** A desired child with its namespace, its owner and its hash. */
export type CompleteChild = DesiredChild & { readonly object: Complete };

export async function applyChildren(
  scope: ReconcileScope,
  owner: Owner,
  children: readonly Child[],
  { prune = [] }: ChildrenOptions = {},
): Promise<void> {
  const all = children.map((each) => completed(scope, owner, each));
  rejectDuplicates(all);
  const errors: Error[] = [];
  for (const each of all) {
    await carryOut(scope, owner, each).catch((error: unknown) => {
      if (!concernsOneChild(error)) throw error;
      if (error instanceof AlreadyOwnedError) scope.deps.nameConflicts.wait(each.kind, refOfChild(each), owner.metadata);
      errors.push(error);
    });
  }
  for (const kind of prune) {
    const names = all.filter((other) => isSameKind(other.kind, kind)).map((each) => keyOf(refOfChild(each)));
    await pruneKind(scope, owner, kind, new Set(names));
  }
  throwErrors(scope, errors);
}

type AnyChild = CompleteChild | NamedChild;

const refOfChild = (each: AnyChild): ObjectRef => (each.intent === "apply" ? each.object.metadata : each.ref);

function carryOut(scope: ReconcileScope, owner: Owner, each: AnyChild): Promise<void> {
  if (each.intent === "apply") return applyChild(scope, owner, each);
  if (each.intent === "delete") return deleteChild(scope, owner, each);
  if (each.intent === "release") return releaseChild(scope, owner, each);
  if (each.waitsFor !== undefined)
    scope.note(`${each.kind.kind} ${keyOf(each.ref)} is not applied yet: waits for ${each.waitsFor}`);
  return Promise.resolve();
}

/** Throws one error for all: preferably one that a retry can fix. */
function throwErrors(scope: ReconcileScope, errors: readonly Error[]): void {
  for (const { message } of errors) scope.note(message);
  const retryable = errors.find((error) => !(error instanceof TerminalError));
  const [first, ...more] = errors;
  if (first !== undefined) throw retryable ?? (more.length === 0 ? first : new AggregateChildError(errors));
}

/** Errors of one child only, unlike those of a server that is down or busy. Not found: its namespace or its kind. */
function concernsOneChild(error: unknown): error is Error {
  const kinds = [TerminalError, UnstableChildError, InvalidError, ForbiddenError, NotFoundError];
  return kinds.some((kind) => error instanceof kind);
}

function completed(scope: ReconcileScope, owner: Owner, each: Child): AnyChild {
  if (each.intent === "apply") return { ...each, object: complete(scope, owner, each) };
  const namespace = each.ref.namespace ?? owner.metadata.namespace;
  const { name } = each.ref;
  return { ...each, ref: each.kind.namespaced && namespace !== undefined ? { namespace, name } : { name } };
}

/** Adds the namespace, the owner and the hash. */
function complete(scope: ReconcileScope, owner: Owner, { kind, object, ...options }: DesiredChild): Complete {
  const where = placeOf(owner, kind, object.metadata, options.tracked);
  const mine = options.tracked ? trackedBy(scope, owner, object.metadata) : ownedBy(scope, owner);
  const metadata = { ...object.metadata, ...where, ...mine };
  const annotations = { ...metadata.annotations, [hashAnnotation(scope.kind)]: hashOf({ ...object, metadata }) };
  return { ...object, metadata: { ...metadata, annotations } };
}

const ownedBy = (scope: ReconcileScope, owner: Owner): ObjectMeta => ({ ownerReferences: [ownerReferenceTo(owner, scope.kind)] });

function trackedBy({ kind }: ReconcileScope, owner: Owner, { labels, annotations }: ObjectMeta = {}): ObjectMeta {
  return {
    labels: { ...labels, [trackingLabel(kind)]: owner.metadata.uid },
    annotations: { ...annotations, [trackingAnnotation(kind)]: keyOf(owner.metadata) },
  };
}

/** @throws TerminalError for a child that the garbage collector would delete, or that has no place */
function placeOf(owner: Owner, kind: Kind, { name, namespace: declared }: ObjectMeta, tracked = false): ObjectMeta {
  const ownerNamespace = owner.metadata.namespace;
  const namespace = kind.namespaced ? (declared ?? ownerNamespace) : undefined;
  if (!tracked && ownerNamespace !== undefined && namespace !== ownerNamespace) {
    throw new TerminalError(
      `${kind.kind} ${name}: expected the namespace of its owner, ${ownerNamespace}, found ${namespace === undefined ? "a cluster-scoped kind" : namespace} → use a child in ${ownerNamespace}, because the garbage collector deletes any other, or a tracked child`,
    );
  }
  if (kind.namespaced && namespace === undefined) {
    throw new TerminalError(
      `${kind.kind} ${name}: expected a namespace, because its owner ${owner.metadata.name} is cluster-scoped, found none → set metadata.namespace`,
    );
  }
  return namespace === undefined ? {} : { namespace };
}

/** Two different children with one name would overwrite each other, and every write would trigger the next reconcile. */
function rejectDuplicates(all: readonly AnyChild[]): void {
  const seen = new Map<string, string>();
  for (const each of all) {
    const name = `${each.kind.kind} ${keyOf(refOfChild(each))}`;
    const key = `${each.kind.group} ${name}`;
    const content = each.intent === "apply" ? hashOf(each.object) : each.intent;
    if ((seen.get(key) ?? content) !== content)
      throw new TerminalError(`${name}: expected one child with this name, found two that differ → rename one of them`);
    seen.set(key, content);
  }
}

async function applyChild(scope: ReconcileScope, owner: Owner, child: CompleteChild): Promise<void> {
  const { kind, object: wanted } = child;
  const cached = scope.cacheOf(kind).get(wanted.metadata);
  if (child.mode === "once") return createOnce(scope, owner, child, cached);
  const found = cached ?? (await scope.client.find(kind, wanted.metadata));
  if (found === undefined) return void (await apply(scope, owner, child, {}));
  const relation = relationOf(scope, owner, child, found);
  if (relation === "wait") return;
  const limitRate = (actual: Owner) => checkRate(scope, owner, child, actual);
  const isExact = child.mode === "exact" && relation === "ours";
  const actual = isExact ? await removeForeignFields(scope, child, found, limitRate) : found;
  if (relation === "ours" && scope.deps.appliedChildren.isApplied(actual.metadata.uid, wanted, actual)) return;
  limitRate(actual);
  await change(scope, owner, child, actual, relation);
}

/** Applies a child that exists. */
async function change(scope: ReconcileScope, owner: Owner, child: CompleteChild, actual: Owner, relation: "ours" | "adoptable") {
  const { uid, resourceVersion } = actual.metadata;
  try {
    // With the UID, the server changes this object or none. Nobody else may adopt it between our read and our write.
    await apply(scope, owner, child, relation === "adoptable" ? { uid, resourceVersion } : { uid });
  } catch (error) {
    if (child.replace === undefined || !(error instanceof InvalidError)) throw error;
    if (!(await isValidByItself(scope, child))) throw error;
    await replace(scope, child, actual);
  }
}

async function apply(scope: ReconcileScope, owner: Owner, child: CompleteChild, only: ObjectMeta): Promise<void> {
  const { kind, object: wanted } = child;
  const object = { ...wanted, metadata: { ...wanted.metadata, ...only } };
  try {
    const answer = await scope.client.apply(kind, object, { fieldManager: scope.fieldManager, force: true });
    scope.deps.appliedChildren.remember(answer.metadata.uid, wanted, scope.cacheOf(kind).project(answer));
  } catch (error) {
    // "Only one reference can have Controller set to true": it was created after our read.
    const found = error instanceof InvalidError ? await scope.client.find(kind, wanted.metadata) : undefined;
    if (found !== undefined && !isChild(scope, owner, found)) throw new AlreadyOwnedError(kind, found, owner);
    throw error;
  }
}

/** Never changes an existing child. Neither a stale cache nor a second leader can create it twice, so no read comes first. */
async function createOnce(
  scope: ReconcileScope,
  owner: Owner,
  child: CompleteChild,
  cached: Stored<KubernetesObject> | undefined,
): Promise<void> {
  const { kind, object } = child;
  const found = cached ?? (await create(scope, kind, object));
  if (found === undefined || relationOf(scope, owner, child, found) !== "adoptable") return;
  const { name, namespace, uid, resourceVersion } = found.metadata;
  const mine = child.tracked ? trackedBy(scope, owner) : ownedBy(scope, owner);
  const metadata = { name, ...(namespace !== undefined && { namespace }), uid, resourceVersion, ...mine };
  await scope.client.apply(kind, { metadata }, { fieldManager: scope.fieldManager, force: true });
}

/** Returns the object that is in the way, if any. */
async function create(scope: ReconcileScope, kind: Kind, object: Complete): Promise<Stored<KubernetesObject> | undefined> {
  try {
    await scope.client.create(kind, object, { fieldManager: scope.fieldManager });
    return undefined;
  } catch (error) {
    if (!(error instanceof AlreadyExistsError)) throw error;
    return scope.client.find(kind, object.metadata);
  }
}

/** Whether to change an existing object with the name of a child. @throws AlreadyOwnedError */
function relationOf(scope: ReconcileScope, owner: Owner, child: CompleteChild, found: Owner): "ours" | "adoptable" | "wait" {
  const name = `${child.kind.kind} ${keyOf(found.metadata)}`;
  const ours = isChild(scope, owner, found);
  if (ours && found.metadata.deletionTimestamp === undefined) return "ours";
  if (ours) scope.note(`${name} is being deleted; creating it again when it is gone`);
  else if (isOrphanOfSameName(scope, owner, found))
    scope.note(`${name} belongs to a deleted owner with the same name; waiting until it is garbage-collected`);
  else if (child.adopt && isAdoptable(scope, owner, found)) return "adoptable";
  else throw new AlreadyOwnedError(child.kind, found, owner);
  return "wait";
}

function isChild(scope: ReconcileScope, owner: Owner, object: KubernetesObject): boolean {
  return isControlledBy(object, owner.metadata.uid) || isTrackedBy(object, scope.kind, owner.metadata.uid);
}

/** No controller, and not tracked for another owner. A former owner with the key of ours is gone: two cannot exist. */
function isAdoptable({ kind }: ReconcileScope, owner: Owner, { metadata, ...found }: Owner): boolean {
  const tracked = metadata.labels?.[trackingLabel(kind)] !== undefined;
  const sameKey = metadata.annotations?.[trackingAnnotation(kind)] === keyOf(owner.metadata);
  return controllerOf({ ...found, metadata }) === undefined && metadata.deletionTimestamp === undefined && (!tracked || sameKey);
}

function isOrphanOfSameName(scope: ReconcileScope, owner: Owner, actual: Owner): boolean {
  const theirs = controllerOf(actual);
  return theirs !== undefined && isReferenceTo(scope.kind, theirs) && theirs.name === owner.metadata.name;
}

/** @throws UnstableChildError if the child was written too often */
function checkRate(scope: ReconcileScope, owner: Owner, { kind, object }: CompleteChild, actual: Owner): void {
  const name = `${kind.kind} ${keyOf(actual.metadata)}`;
  const waitMs = scope.deps.appliedChildren.rates.take(`${kind.group} ${name}`, scope.clock.monotonic());
  if (waitMs === 0) return;
  const hash = hashAnnotation(scope.kind);
  const isOurChange = actual.metadata.annotations?.[hash] !== object.metadata.annotations?.[hash];
  const paths = changedPaths(object, actual).filter((path) => !path.includes("applied-hash"));
  const error = new UnstableChildError(name, { isOurChange, paths, waitMs });
  scope.event(owner, { type: "Warning", reason: "UnstableChild", message: error.message });
  throw error;
}

/**
 * Distinguishes an invalid object from a change that is not allowed. No field of the server's response does, and its message
 * differs from kind to kind. A dry-run create does: the server validates the object before it finds that the name is taken.
 */
async function isValidByItself(scope: ReconcileScope, { kind, object }: CompleteChild): Promise<boolean> {
  try {
    await scope.client.create(kind, object, { dryRun: true });
    return false; // the object is gone: the next reconcile creates it
  } catch (error) {
    if (error instanceof AlreadyExistsError) return true;
    if (error instanceof ApiError) return false; // rejected as a new object, too: deleting the existing one would leave none
    throw error;
  }
}

async function replace(scope: ReconcileScope, { kind, replace }: CompleteChild, { metadata }: Owner): Promise<void> {
  scope.note(
    `${kind.kind} ${keyOf(metadata)} has an immutable field that must change; deleting it, and creating it again when it is gone`,
  );
  await remove(scope, kind, metadata, replace === "orphan" ? "Orphan" : "Background");
}

async function deleteChild(scope: ReconcileScope, owner: Owner, { kind, ref }: NamedChild): Promise<void> {
  const found = scope.cacheOf(kind).get(ref);
  if (found !== undefined && isChild(scope, owner, found) && found.metadata.deletionTimestamp === undefined)
    await remove(scope, kind, found.metadata);
}

async function releaseChild(scope: ReconcileScope, owner: Owner, { kind, ref }: NamedChild): Promise<void> {
  const found = scope.cacheOf(kind).get(ref);
  if (found === undefined || !isChild(scope, owner, found)) return;
  const { resourceVersion, uid, ownerReferences = [] } = found.metadata;
  const annotations = { [hashAnnotation(scope.kind)]: null, [trackingAnnotation(scope.kind)]: null };
  const others = ownerReferences.filter((reference) => reference.uid !== owner.metadata.uid);
  const labels = { [trackingLabel(scope.kind)]: null };
  const body = { metadata: { resourceVersion, uid, ownerReferences: others, labels, annotations } };
  await scope.client.patch(kind, ref, { type: "merge", body }, { fieldManager: scope.fieldManager });
}

async function pruneKind(scope: ReconcileScope, owner: Owner, kind: Kind, wanted: ReadonlySet<string>): Promise<void> {
  for (const object of scope.cacheOf(kind).ownedBy(owner.metadata.uid)) {
    const unwanted = !wanted.has(keyOf(object.metadata)) && isChild(scope, owner, object);
    if (unwanted && object.metadata.deletionTimestamp === undefined) await remove(scope, kind, object.metadata);
  }
}

async function remove(
  scope: ReconcileScope,
  kind: Kind,
  { namespace, name, uid, resourceVersion }: Stored<KubernetesObject>["metadata"],
  propagationPolicy: "Background" | "Orphan" = "Background",
): Promise<void> {
  const ref = namespace === undefined ? { name } : { namespace, name };
  await scope.client.delete(kind, ref, { uid, resourceVersion, propagationPolicy, ignoreNotFound: true });
}
