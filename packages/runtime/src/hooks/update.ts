// Brings the children of a parent to the state that a hook wants. What to do with a child that exists and differs depends on the
// update method of its kind:
//
//     OnDelete                     nothing: it is made anew when somebody deletes it
//     InPlace, RollingInPlace      server-side apply
//     Recreate, RollingRecreate    deleted, and made again when it is gone
//
// Whether a child differs is decided by the server: a dry run of server-side apply must change it. So fields that the hook does not
// set (defaults, injected sidecars, the work of other controllers) never cause an update, let alone a recreation. The result of a dry
// run is remembered until the child or the desired state changes, so that a steady state costs no requests.
import { AlreadyExistsError, ApiError, InvalidError } from "../client/errors.ts";
import { AggregateChildError, AlreadyOwnedError, TerminalError } from "../controller/errors.ts";
import type { ReconcileScope } from "../controller/reconcile.ts";
import { hashOf } from "../controller/settled.ts";
import { equals } from "../objects/diff.ts";
import { isControlledBy, type Kind, type KubernetesObject, keyOf, ownerReferenceTo, type Stored } from "../objects/object.ts";
import type { Desired, DesiredObject } from "./objects.ts";

export const updateMethods = ["OnDelete", "Recreate", "InPlace", "RollingRecreate", "RollingInPlace"] as const;
export type UpdateMethod = (typeof updateMethods)[number];

/** A condition that a child must have before the next one is updated. */
export interface ConditionCheck {
  readonly type: string;
  /** @default any */
  readonly status?: string;
  /** @default any */
  readonly reason?: string;
}

export interface UpdateStrategy {
  /** @default "OnDelete" */
  readonly method?: UpdateMethod;
  /** For rolling updates. */
  readonly statusChecks?: { readonly conditions?: readonly ConditionCheck[] };
}

/** A kind of children, and how they are updated. */
export interface ChildRule {
  readonly kind: Kind;
  readonly updateStrategy?: UpdateStrategy;
}

type AnyObject = Stored<KubernetesObject>;

/** Which children were found to be as desired, by the key of the parent and the UID of the child. */
export class KnownChildren {
  readonly #hashes = new Map<string, Map<string, string>>();

  isKnown(parent: string, desired: DesiredObject, actual: AnyObject): boolean {
    return this.#hashes.get(parent)?.get(actual.metadata.uid) === fingerprint(desired, actual);
  }

  remember(parent: string, desired: DesiredObject, actual: AnyObject): void {
    const known = this.#hashes.get(parent) ?? new Map<string, string>();
    this.#hashes.set(parent, known.set(actual.metadata.uid, fingerprint(desired, actual)));
  }

  /** Forgets all children but these. */
  keep(parent: string, children: readonly AnyObject[]): void {
    const known = this.#hashes.get(parent);
    if (known === undefined) return;
    const left = new Set(children.map(({ metadata }) => metadata.uid));
    for (const uid of known.keys()) if (!left.has(uid)) known.delete(uid);
    if (known.size === 0) this.#hashes.delete(parent);
  }

  forget(parent: string): void {
    this.#hashes.delete(parent);
  }
}

const fingerprint = (desired: DesiredObject, actual: AnyObject) => hashOf([desired, stable(actual)]);

/** Without the fields that the server changes by itself. */
function stable(object: KubernetesObject & { readonly status?: unknown }): object {
  const { metadata = {}, status: _s, apiVersion: _a, kind: _k, ...rest } = object;
  const { managedFields: _m, resourceVersion: _r, generation: _g, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

export interface Parent {
  readonly scope: ReconcileScope;
  readonly object: AnyObject;
  readonly known: KnownChildren;
}

/** What is applied: with the owner reference, and without the fields that only the server sets. */
export function applicable({ scope, object: parent }: Parent, { object }: Desired): DesiredObject {
  const { status: _s, ...rest } = object as DesiredObject & { readonly status?: unknown };
  const { uid: _u, resourceVersion: _r, generation: _g, creationTimestamp: _c, managedFields: _m, ...metadata } = rest.metadata;
  const own = ownerReferenceTo(parent, scope.kind);
  const others = metadata.ownerReferences?.filter(({ uid }) => uid !== own.uid) ?? [];
  return { ...rest, metadata: { ...metadata, ownerReferences: [...others, own] } };
}

/** Whether an apply would change the child. */
export async function differs(parent: Parent, desired: Desired, actual: AnyObject): Promise<boolean> {
  const { scope, known } = parent;
  const key = keyOf(parent.object.metadata);
  const wanted = applicable(parent, desired);
  if (known.isKnown(key, wanted, actual)) return false;
  try {
    const after = await apply(parent, desired.kind, wanted, { uid: actual.metadata.uid, dryRun: true });
    if (!equals(stable(scope.cacheOf(desired.kind).project(after)), stable(actual))) return true;
  } catch (error) {
    if (error instanceof InvalidError) return true; // an immutable field would have to change
    throw error;
  }
  known.remember(key, wanted, actual);
  return false;
}

interface ApplyChildOptions {
  /** With the UID, the server changes this object or none. */
  readonly uid?: string;
  readonly dryRun?: boolean;
}

function apply({ scope }: Parent, kind: Kind, wanted: DesiredObject, { uid, dryRun = false }: ApplyChildOptions = {}) {
  const object = uid === undefined ? wanted : { ...wanted, metadata: { ...wanted.metadata, uid } };
  return scope.client.apply(kind, object, { fieldManager: scope.fieldManager, force: true, dryRun });
}

/** Deletes observed children that are not desired; creates and updates the desired ones. One that fails does not delay the others. */
export async function updateChildren(
  parent: Parent,
  observed: readonly (readonly [Kind, readonly AnyObject[]])[],
  desired: readonly Desired[],
  methodOf: (kind: Kind) => UpdateMethod,
): Promise<void> {
  const errors: Error[] = [];
  const attempt = (work: Promise<void>) =>
    work.catch((error: unknown) => {
      if (!(error instanceof TerminalError || error instanceof ApiError)) throw error;
      errors.push(error);
    });
  for (const [kind, objects] of observed) {
    const wanted = new Set(desired.filter((one) => one.kind === kind).map(({ object }) => keyOf(object.metadata)));
    for (const object of objects) if (!wanted.has(keyOf(object.metadata))) await attempt(remove(parent, kind, object));
  }
  for (const child of desired) await attempt(updateChild(parent, child, methodOf(child.kind)));
  parent.known.keep(
    keyOf(parent.object.metadata),
    observed.flatMap(([, objects]) => objects),
  );
  const [first, ...more] = errors.toSorted((a, b) => Number(a instanceof TerminalError) - Number(b instanceof TerminalError));
  if (first !== undefined) throw first instanceof TerminalError && more.length > 0 ? new AggregateChildError(errors) : first;
}

async function remove({ scope }: Parent, kind: Kind, { metadata }: AnyObject): Promise<void> {
  const { uid, resourceVersion, deletionTimestamp } = metadata;
  if (deletionTimestamp !== undefined) return;
  await scope.client.delete(kind, metadata, { uid, resourceVersion, propagationPolicy: "Background", ignoreNotFound: true });
}

async function updateChild(parent: Parent, desired: Desired, method: UpdateMethod): Promise<void> {
  const { scope, object: owner } = parent;
  const { kind } = desired;
  const wanted = applicable(parent, desired);
  // A child that the cache does not hold can be new, and belong to somebody else. An apply would take it over.
  const actual = scope.cacheOf(kind).get(wanted.metadata) ?? (await scope.client.find(kind, wanted.metadata));
  if (actual === undefined) return void (await apply(parent, kind, wanted));
  if (!isControlledBy(actual, owner.metadata.uid)) throw new AlreadyOwnedError(kind, actual, owner);
  if (actual.metadata.deletionTimestamp !== undefined || method === "OnDelete") return;
  if (!(await differs(parent, desired, actual))) return;
  if (method === "InPlace" || method === "RollingInPlace")
    return void (await apply(parent, kind, wanted, { uid: actual.metadata.uid }));
  await expectValid(parent, kind, wanted);
  scope.note(`${kind.kind} ${keyOf(actual.metadata)} differs; deleting it, and creating it again when it is gone`);
  await remove(parent, kind, actual);
}

/** Throws the server's error if it would reject the object: deleting the existing one would leave none. */
async function expectValid({ scope }: Parent, kind: Kind, wanted: DesiredObject): Promise<void> {
  try {
    await scope.client.create(kind, wanted, { dryRun: true });
  } catch (error) {
    if (!(error instanceof AlreadyExistsError)) throw error; // the server validates before it finds that the name is taken
  }
}
