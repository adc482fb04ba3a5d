// Intent before action: what a plan decided is stored in the AppMemory of its app before anything is done, so that a crash at any
// moment finds it (promises C1, C3). The write is a compare-and-swap: of two leaders one gets a ConflictError, does nothing, and reads
// again (promise L1). Nothing new costs no write (promise E1).
//
// The AppMemory goes with its app: the garbage collector removes it when the last of its owners is gone. An app with a template has
// one owner. A bare pod is replaced by its copies, so its memory belongs to all of them that are there. Never as controller, never
// blocking: it must not look as if the app had made it, nor hold up anybody's deletion.
import {
  AlreadyExistsError,
  apiVersionOf,
  ConflictError,
  equals,
  type Kind,
  type OwnerReference,
  Pod,
  type Stored,
} from "@memhog/runtime";
import { AppMemory } from "../api/app-memory.ts";
import { statusOf } from "../api/status.ts";
import type { Plan } from "../model/plan.ts";
import type { AppSeen } from "../model/seen.ts";
import { appText } from "../observe/app-of.ts";
import type { Server } from "./outcome.ts";
import { templatedKind } from "./template-kinds.ts";

export interface Remembering {
  readonly client: Server;
  /** Of the AppMemory. */
  readonly name: string;
  /** As it was read for this plan; undefined if there was none. */
  readonly stored: Stored<AppMemory> | undefined;
}

/**
 * The AppMemory as it is now; undefined if there is none because there is nothing to remember.
 * @throws ConflictError if somebody else was faster
 */
export async function remember(where: Remembering, seen: AppSeen, plan: Plan): Promise<Stored<AppMemory> | undefined> {
  const { client, stored } = where;
  if (isOver(seen, plan) || (stored === undefined && isNobodys(seen))) return stored;
  const memory = await withOwners(client, stored ?? (await create(where, seen)), seen);
  const status = statusOf(plan, memory.status, seen.nowMs);
  if (equals(status, memory.status)) return memory;
  return client.update(AppMemory, { ...memory, status }, { subresource: "status" });
}

/** No pods, nothing open: the app is gone or asleep, and what is known about it stays as it is. */
function isOver({ pods, record }: AppSeen, plan: Plan): boolean {
  return pods.length === 0 && record.intents.length === 0 && plan.record.intents.length === 0;
}

/** Somebody wrote "false" before anything was known: there is nothing to know. */
const isNobodys = ({ pods }: AppSeen) => !pods.some(({ monitored }) => monitored);

async function create({ client, name }: Remembering, seen: AppSeen): Promise<Stored<AppMemory>> {
  const metadata = { namespace: seen.app.namespace, name, ownerReferences: ownersOf(seen) };
  try {
    return await client.create(AppMemory, { metadata, spec: { app: appText(seen.app) } });
  } catch (error) {
    if (!(error instanceof AlreadyExistsError)) throw error;
    // Another leader, or we ourselves before an answer was lost: for the loop the same as any other lost race.
    const lost = { attempt: `create AppMemory ${name}`, status: 409, reason: "AlreadyExists", message: "somebody was faster" };
    throw new ConflictError(lost);
  }
}

/** Adds owners that are new and drops those that are gone; nothing if all that should be there are. */
async function withOwners(client: Server, memory: Stored<AppMemory>, seen: AppSeen): Promise<Stored<AppMemory>> {
  const owners = ownersOf(seen);
  const { name, namespace = seen.app.namespace, uid, resourceVersion, ownerReferences = [] } = memory.metadata;
  const has = ({ uid: owner }: OwnerReference) => ownerReferences.some((reference) => reference.uid === owner);
  if (owners.every(has)) return memory;
  const body = { metadata: { uid, resourceVersion, ownerReferences: owners } };
  return client.patch(AppMemory, { namespace, name }, { type: "merge", body });
}

/** More than enough for a pod and its copies; of a Job with a thousand pods the oldest will do. */
const mostOwners = 5;

function ownersOf({ app, template, pods }: AppSeen): readonly OwnerReference[] {
  const kind = templatedKind(app.kind);
  if (kind !== undefined) return template === undefined ? [] : [reference(kind, { name: app.name, uid: template.uid })];
  const oldest = pods.filter(({ deleting }) => !deleting).toSorted((a, b) => a.createdAtMs - b.createdAtMs);
  return oldest.slice(0, mostOwners).map((pod) => reference(Pod, pod));
}

function reference(kind: Kind, { name, uid }: { readonly name: string; readonly uid: string }): OwnerReference {
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, name, uid, controller: false, blockOwnerDeletion: false };
}
