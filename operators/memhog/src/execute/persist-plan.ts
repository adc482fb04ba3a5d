// Stores a plan in the AppMemory of its app before anything is changed, so that a crash at any point finds it (C1, C3). The write is
// a compare-and-swap: of two leaders, one gets a ConflictError, changes nothing, and reads again (L1). A plan that changes nothing
// costs no write (E1).
//
// Garbage collection deletes the AppMemory with the last of its owners. An app with a template has one owner. A bare pod is replaced
// by its copies, so the AppMemory is owned by all of them. The owner references are neither controlling nor blocking: the app did
// not create the AppMemory, and the AppMemory must not delay a deletion.
import { AlreadyExistsError, apiVersionOf, ConflictError, type Kind, Pod, type Stored } from "@memhog/runtime";
import { equals, type OwnerReference } from "@memhog/runtime/objects";
import { AppMemory } from "../api/app-memory.ts";
import { statusOf } from "../api/stored-record.ts";
import type { ObservedApp } from "../model/observed-app.ts";
import type { Plan } from "../model/plan.ts";
import { appText } from "../observe/app-of.ts";
import type { Server } from "./outcome.ts";
import { templatedKind } from "./templates.ts";

interface PlanStore {
  readonly client: Server;
  /** Name of the AppMemory. */
  readonly name: string;
  /** The AppMemory that the plan is based on; undefined if there is none. */
  readonly stored: Stored<AppMemory> | undefined;
}

/**
 * Returns the AppMemory as stored; undefined if there is none because there is nothing to store.
 * @throws ConflictError if it changed since it was read
 */
export async function persistPlan(where: PlanStore, seen: ObservedApp, plan: Plan): Promise<Stored<AppMemory> | undefined> {
  const { client, stored } = where;
  if (isOver(seen, plan) || (stored === undefined && !isStorable(seen))) return stored;
  const memory = await withOwners(client, stored ?? (await create(where, seen)), seen);
  const status = statusOf(plan, memory.status, seen.nowMs);
  if (equals(status, memory.status)) return memory;
  const { namespace = seen.app.namespace, name, uid, resourceVersion } = memory.metadata;
  // Only the status is written: the cached object may have less metadata than the stored one (observe/kinds.ts).
  const update = { metadata: { namespace, name, uid, resourceVersion }, spec: memory.spec, status };
  return client.update(AppMemory, update, { subresource: "status" });
}

/** No pods and no intents: the app is gone or scaled to zero, and its record stays as it is. */
function isOver({ pods, record }: ObservedApp, plan: Plan): boolean {
  return pods.length === 0 && record.intents.length === 0 && plan.record.intents.length === 0;
}

/**
 * Whether a new AppMemory may be created: a pod is monitored, and there is an owner. The pods of a deleted app outlive it by their grace
 * period, and an AppMemory without an owner would stay forever.
 */
export const isStorable = (seen: ObservedApp): boolean =>
  seen.pods.some(({ monitored }) => monitored) && ownersOf(seen).length > 0;

async function create({ client, name }: PlanStore, seen: ObservedApp): Promise<Stored<AppMemory>> {
  const metadata = { namespace: seen.app.namespace, name, ownerReferences: ownersOf(seen) };
  try {
    return await client.create(AppMemory, { metadata, spec: { app: appText(seen.app) } });
  } catch (error) {
    if (!(error instanceof AlreadyExistsError)) throw error;
    // Another leader created it, or this process did and lost the answer. Either way the next reconcile reads it.
    const lost = {
      attempt: `create AppMemory ${name}`,
      status: 409,
      reason: "AlreadyExists",
      message: "it was created meanwhile",
    };
    throw new ConflictError(lost);
  }
}

/** Adds new owners and removes those that are gone. Writes nothing if all owners are there. */
async function withOwners(client: Server, memory: Stored<AppMemory>, seen: ObservedApp): Promise<Stored<AppMemory>> {
  const owners = ownersOf(seen);
  const { name, namespace = seen.app.namespace, uid, resourceVersion, ownerReferences = [] } = memory.metadata;
  const has = ({ uid: owner }: OwnerReference) => ownerReferences.some((reference) => reference.uid === owner);
  if (owners.every(has)) return memory;
  const body = { metadata: { uid, resourceVersion, ownerReferences: owners } };
  return client.patch(AppMemory, { namespace, name }, { type: "merge", body });
}

/** Enough for a pod and its copies. For a Job with a thousand pods the oldest suffice. */
const mostOwners = 5;

function ownersOf({ app, template, pods }: ObservedApp): readonly OwnerReference[] {
  const kind = templatedKind(app.kind);
  if (kind !== undefined) return template === undefined ? [] : [reference(kind, { name: app.name, uid: template.uid })];
  const oldest = pods.filter(({ deleting }) => !deleting).toSorted((a, b) => a.createdAtMs - b.createdAtMs);
  return oldest.slice(0, mostOwners).map((pod) => reference(Pod, pod));
}

function reference(kind: Kind, { name, uid }: { readonly name: string; readonly uid: string }): OwnerReference {
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, name, uid, controller: false, blockOwnerDeletion: false };
}
