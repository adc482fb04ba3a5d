// Which children belong to a parent: those that it controls and that its selector selects. A child without a controller that the
// selector selects is adopted; a child that it no longer selects is released. The rules are those of the built-in controllers.
import type { CacheReader } from "../controller/context.ts";
import type { AnyWatch } from "../controller/controller.ts";
import type { ReconcileScope } from "../controller/reconcile.ts";
import {
  controllerOf,
  isControlledBy,
  type Kind,
  type KubernetesObject,
  ownerReferenceTo,
  refOf,
  type Stored,
} from "../objects/object.ts";
import { matches } from "../objects/selectors.ts";
import { selectorOf } from "./objects.ts";
import { isSelected, type ParentObject, type ParentSelector } from "./parent.ts";

type AnyObject = Stored<KubernetesObject>;

/** Objects by kind. */
export type Groups = readonly (readonly [Kind, readonly AnyObject[]])[];

export interface ClaimOptions {
  readonly parent: ParentSelector & { readonly kind: Kind };
  /** The kinds of children. */
  readonly kinds: readonly Kind[];
  readonly generateSelector?: boolean;
}

/** The children of a parent, by kind. Adopts orphans that its selector selects, and releases children that it no longer selects. */
export async function claimChildren(
  { kinds, generateSelector = false }: ClaimOptions,
  scope: ReconcileScope,
  parent: ParentObject,
): Promise<Groups> {
  const selector = selectorOf(parent, generateSelector);
  const selected = ({ metadata }: AnyObject) => matches(selector, metadata.labels);
  const deleting = parent.metadata.deletionTimestamp !== undefined;
  const groups: (readonly [Kind, readonly AnyObject[]])[] = [];
  for (const kind of kinds) {
    const owned = scope.list(kind, { ownedBy: parent }).filter((child) => isControlledBy(child, parent.metadata.uid));
    for (const child of owned) if (!selected(child)) await setOwners(scope, kind, child, parent, false);
    const orphans = generateSelector || deleting ? [] : scope.list(kind, { namespace: parent.metadata.namespace }).filter((child) => isOrphan(child) && selected(child)); // biome-ignore format: one condition
    const adopted = orphans.length > 0 && (await isAlive(scope, parent)) ? orphans : [];
    const children = owned.filter(selected);
    for (const child of adopted) children.push(await setOwners(scope, kind, child, parent, true));
    groups.push([kind, children]);
  }
  return groups;
}

const isOrphan = (object: AnyObject) => controllerOf(object) === undefined && object.metadata.deletionTimestamp === undefined;

/** Read live: an adoption by a parent that is being deleted would delete the child. */
async function isAlive(scope: ReconcileScope, { metadata }: ParentObject): Promise<boolean> {
  const live = await scope.client.find(scope.kind, metadata);
  return live !== undefined && live.metadata.uid === metadata.uid && live.metadata.deletionTimestamp === undefined;
}

async function setOwners(
  scope: ReconcileScope,
  kind: Kind,
  child: AnyObject,
  parent: ParentObject,
  owned: boolean,
): Promise<AnyObject> {
  const { uid, resourceVersion, ownerReferences = [] } = child.metadata;
  const others = ownerReferences.filter((reference) => reference.uid !== parent.metadata.uid);
  const metadata = { uid, resourceVersion, ownerReferences: owned ? [...others, ownerReferenceTo(parent, scope.kind)] : others };
  const answer = await scope.client.patch(
    kind,
    child.metadata,
    { type: "merge", body: { metadata } },
    { fieldManager: scope.fieldManager },
  );
  return scope.cacheOf(kind).project(answer as AnyObject);
}

/** An object without a controller triggers the parents that would adopt it. */
export function orphanWatches({ kinds, parent, generateSelector }: ClaimOptions): readonly AnyWatch[] {
  if (generateSelector === true) return [];
  const adopts = (candidate: ParentObject, { metadata }: AnyObject) => {
    try {
      return isSelected(parent, candidate) && matches(selectorOf(candidate, false), metadata.labels);
    } catch {
      return false; // its own reconcile reports the missing selector
    }
  };
  const map = (object: AnyObject, cached: CacheReader) =>
    isOrphan(object) ? cached.list(parent.kind, { namespace: object.metadata.namespace }).filter((candidate) => adopts(candidate, object)).map(refOf) : []; // biome-ignore format: one expression
  return kinds.map((kind) => ({ kind, map }));
}
