// The end of objects. Deleting is asking: an object with finalizers is only marked, a pod gets time to end, and what the
// deletion means for what the object owns is written down as a finalizer for the garbage collector (controllers/).
import type { ApiObject, Draft, JsonObject } from "../json.ts";
import { draftOf, sameJson } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";
import { ChangedError } from "../storage/storage.ts";
import { formatTime, parseTime } from "../time.ts";
import { agree } from "./admit.ts";
import { oneAsServed, refOf, type ServerCore, storedKindOf, type Target } from "./core.ts";
import type { DeleteOptions } from "./delete-options.ts";
import { heldBySpec, isNamespace } from "./remains.ts";
import { conflict, notFound } from "./status-error.ts";

export interface Deletion {
  /** The last state, or the state it waits in. */
  readonly object: ApiObject;
  /** Whether it is gone for good. */
  readonly gone: boolean;
}

const maxAttempts = 5;

/** Deletes an object, or begins to. @throws StatusError */
export async function deleteObject(core: ServerCore, target: Target, options: DeleteOptions): Promise<Deletion> {
  const { kind, name = "" } = target;
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const before = core.storage.get(storedKindOf(kind), refOf(target, name));
    if (before === undefined) throw notFound(kind, name);
    try {
      return await deleteOnce(core, target, options, before);
    } catch (error) {
      if (!(error instanceof ChangedError)) throw error;
    }
  }
  throw conflict(kind, name);
}

async function deleteOnce(core: ServerCore, target: Target, options: DeleteOptions, before: ApiObject): Promise<Deletion> {
  const { kind, name = "" } = target;
  mustMeet(options, before, kind);
  const old = await oneAsServed(kind, before);
  await agree(core, { operation: "DELETE", target, old, dryRun: options.dryRun, options: options.asJson }, old);
  const { object: after, remains } = marked(core, kind, before, options);
  const change = { kind: storedKindOf(kind), ref: refOf(target, name) };
  if (options.dryRun) return { object: await oneAsServed(kind, after), gone: !remains };
  const noted = after === before ? before : core.storage.write({ ...change, before, after });
  if (!remains) core.storage.write({ ...change, before: noted, after: undefined });
  return { object: await oneAsServed(kind, noted), gone: !remains };
}

/** @throws StatusError if this is not the object that was meant */
export function mustMeet({ preconditions = {} }: DeleteOptions, { metadata }: ApiObject, kind: KindEntry): void {
  const { uid, resourceVersion } = preconditions;
  const name = metadata.name ?? "";
  // The real server names the kind here, where it names the plural everywhere else.
  const subject = { group: "", plural: kind.kind };
  if (uid !== undefined && uid !== metadata.uid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`;
    throw conflict(subject, name, why);
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`;
    throw conflict(subject, name, why);
  }
}

interface Marked {
  /** As it waits for its end; the very object if there is nothing to write down. */
  readonly object: ApiObject;
  /** Whether anything keeps it. */
  readonly remains: boolean;
}

function marked(core: ServerCore, kind: KindEntry, before: ApiObject, options: DeleteOptions): Marked {
  const draft = draftOf(before);
  draft.metadata.finalizers = finalizersOf(kind, before, options);
  const held = draft.metadata.finalizers.length > 0;
  if (!held) delete draft.metadata.finalizers;
  if (isNamespace(kind)) return markedNamespace(core, before, draft);
  if (kind.gracePeriod !== undefined) return markedGracefully(core, kind, before, draft, options);
  if (held) markAsDying(core, before, draft);
  return { object: held ? unlessSame(before, draft) : before, remains: held };
}

/** A second deletion of what is dying already changes nothing, and is no write. */
function unlessSame(before: ApiObject, draft: Draft): ApiObject {
  return sameJson(before, draft) ? before : { ...draft };
}

/** A namespace is emptied by its controller first; until then it says that it is going. */
function markedNamespace(core: ServerCore, before: ApiObject, draft: Draft): Marked {
  if (before.metadata.deletionTimestamp !== undefined) {
    return { object: before, remains: heldBySpec(before) || draft.metadata.finalizers !== undefined };
  }
  draft.metadata.deletionTimestamp = formatTime(core.environment.clock.now());
  draft.status = { ...(draft.status as JsonObject | undefined), phase: "Terminating" };
  return { object: { ...draft }, remains: true };
}

/**
 * Sets or shortens the time that a pod has. Even one that has none is marked before it is removed: watchers see it going.
 * Once it is dying its time can only get shorter.
 */
function markedGracefully(
  { environment }: ServerCore,
  kind: KindEntry,
  before: ApiObject,
  draft: Draft,
  { gracePeriodSeconds: asked }: DeleteOptions,
): Marked {
  const needed = kind.gracePeriod?.(before) ?? 0;
  // Less than nothing is one second: the real server's way of saying "as soon as possible, but gracefully".
  const seconds = needed === 0 ? 0 : asked !== undefined && asked < 0 ? 1 : (asked ?? needed);
  const { deletionTimestamp, deletionGracePeriodSeconds: left = 0 } = before.metadata;
  const { metadata } = draft;
  if (deletionTimestamp === undefined) {
    metadata.deletionTimestamp = formatTime(environment.clock.now() + seconds * 1000);
    metadata.deletionGracePeriodSeconds = seconds;
    bump(draft);
  } else if ((asked !== undefined || needed === 0) && seconds < left) {
    metadata.deletionTimestamp = formatTime((parseTime(deletionTimestamp) ?? 0) + (seconds - left) * 1000);
    metadata.deletionGracePeriodSeconds = seconds;
  }
  const remains = metadata.finalizers !== undefined || (metadata.deletionGracePeriodSeconds ?? 0) > 0;
  return { object: unlessSame(before, draft), remains };
}

function markAsDying({ environment }: ServerCore, before: ApiObject, draft: Draft): void {
  draft.metadata.deletionGracePeriodSeconds = 0;
  if (before.metadata.deletionTimestamp !== undefined) return;
  draft.metadata.deletionTimestamp = formatTime(environment.clock.now());
  bump(draft);
}

function bump(draft: Draft): void {
  if (draft.metadata.generation !== undefined) draft.metadata.generation += 1;
}

const collected = ["orphan", "foregroundDeletion"];

/** The finalizers that the propagation policy asks for, beside those of others. */
function finalizersOf(kind: KindEntry, { metadata }: ApiObject, { propagationPolicy }: DeleteOptions): string[] {
  const present = [...(metadata.finalizers ?? [])];
  const others = present.filter((each) => !collected.includes(each));
  const policy = propagationPolicy ?? (present.length === others.length ? kind.propagation : undefined);
  if (policy === undefined) return present;
  if (policy === "Orphan") return [...others, "orphan"];
  return policy === "Foreground" ? [...others, "foregroundDeletion"] : others;
}
