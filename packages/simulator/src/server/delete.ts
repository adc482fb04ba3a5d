// The end of objects. Deleting is asking: an object with finalizers is only marked, a pod gets time to end, and what the
// deletion means for what the object owns is written down as a finalizer for the garbage collector (controllers/).
import type { ApiObject, Draft, JsonObject } from "../json.ts";
import { draftOf } from "../json.ts";
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
  const after = marked(core, kind, before, options);
  const change = { kind: storedKindOf(kind), ref: refOf(target, name), before };
  if (after !== undefined) {
    const stored = after === before || options.dryRun ? after : core.storage.write({ ...change, after });
    return { object: await oneAsServed(kind, stored), gone: false };
  }
  const last = options.dryRun ? before : core.storage.write({ ...change, after: undefined });
  return { object: await oneAsServed(kind, last), gone: true };
}

/** @throws StatusError if this is not the object that was meant */
function mustMeet({ preconditions = {} }: DeleteOptions, { metadata }: ApiObject, kind: KindEntry): void {
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

/** The object as it waits for its end; undefined if nothing keeps it. */
function marked(core: ServerCore, kind: KindEntry, before: ApiObject, options: DeleteOptions): ApiObject | undefined {
  const draft = draftOf(before);
  draft.metadata.finalizers = finalizersOf(kind, before, options);
  if (draft.metadata.finalizers.length === 0) delete draft.metadata.finalizers;
  if (isNamespace(kind)) return markedNamespace(core, before, draft);
  const graceful = giveTime(core, kind, before, draft, options);
  const held = draft.metadata.finalizers !== undefined;
  if (graceful === "pending" && !changedFinalizers(before, draft)) return before;
  if (graceful === "none" && !held) return undefined;
  if (graceful === "none") markAsDying(core, before, draft);
  return { ...draft };
}

/** A namespace is emptied by its controller first; until then it says that it is going. */
function markedNamespace(core: ServerCore, before: ApiObject, draft: Draft): ApiObject | undefined {
  if (before.metadata.deletionTimestamp !== undefined) {
    return heldBySpec(before) || draft.metadata.finalizers !== undefined ? before : undefined;
  }
  draft.metadata.deletionTimestamp = formatTime(core.environment.clock.now());
  draft.status = { ...(draft.status as JsonObject | undefined), phase: "Terminating" };
  return { ...draft };
}

function changedFinalizers(before: ApiObject, draft: Draft): boolean {
  return (before.metadata.finalizers ?? []).join() !== (draft.metadata.finalizers ?? []).join();
}

/** Sets or shortens the time a pod has. "none": its kind has no grace, or there is no time left. */
function giveTime(
  { environment }: ServerCore,
  kind: KindEntry,
  before: ApiObject,
  draft: Draft,
  options: DeleteOptions,
): "given" | "pending" | "none" {
  if (kind.gracePeriod === undefined) return "none";
  const needed = kind.gracePeriod(before);
  const asked = options.gracePeriodSeconds ?? needed;
  const seconds = needed === 0 ? 0 : Math.max(0, asked);
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = before.metadata;
  if (deletionTimestamp !== undefined && seconds > 0) {
    if (options.gracePeriodSeconds === undefined || seconds >= deletionGracePeriodSeconds) return "pending";
    const began = (parseTime(deletionTimestamp) ?? 0) - deletionGracePeriodSeconds * 1000;
    draft.metadata.deletionTimestamp = formatTime(began + seconds * 1000);
    draft.metadata.deletionGracePeriodSeconds = seconds;
    return "given";
  }
  if (seconds === 0) return "none";
  draft.metadata.deletionTimestamp = formatTime(environment.clock.now() + seconds * 1000);
  draft.metadata.deletionGracePeriodSeconds = seconds;
  bump(draft);
  return "given";
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
