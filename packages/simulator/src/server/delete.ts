// Deletion. The server only marks an object with finalizers, and gives a pod a grace period. The propagation policy becomes a
// finalizer for the garbage collector.
import {
  type ApiObject,
  type Draft,
  draftOf,
  formatTime,
  isObject,
  type JsonObject,
  listAt,
  parseTime,
  sameJson,
  valueAt,
} from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";
import { ChangedError } from "../storage/storage.ts";
import { runValidating } from "./admission.ts";
import { type ApiRequest, oneAsServed, refOf, type ServerCore, storedKindOf, type Target } from "./core.ts";
import { type FieldError, invalid, notSupported } from "./field-error.ts";
import { dryRunIn, invalidOptions, listIn, numberIn, type Query, textIn } from "./query.ts";
import { badRequest, conflict, notFound } from "./status-error.ts";

export interface Deletion {
  /** The last state if removed, otherwise the state in which the object awaits removal. */
  readonly object: ApiObject;
  /** Whether the object was removed. */
  readonly gone: boolean;
}

const maxAttempts = 5;

/** Deletes an object or marks it for deletion. @throws StatusError */
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
  checkPreconditions(options, before, kind);
  const old = await oneAsServed(kind, before);
  await runValidating(core, { operation: "DELETE", target, old, dryRun: options.dryRun, options: options.asJson }, old);
  const { object: after, remains } = marked(core, kind, before, options);
  const change = { kind: storedKindOf(kind), ref: refOf(target, name) };
  if (options.dryRun) return { object: await oneAsServed(kind, after), gone: !remains };
  const noted = after === before ? before : core.storage.write({ ...change, before, after });
  if (!remains) core.storage.write({ ...change, before: noted, after: undefined });
  return { object: await oneAsServed(kind, noted), gone: !remains };
}

/** @throws StatusError if the object does not meet the preconditions */
export function checkPreconditions({ preconditions = {} }: DeleteOptions, { metadata }: ApiObject, kind: KindEntry): void {
  const { uid, resourceVersion } = preconditions;
  const name = metadata.name ?? "";
  // The real server uses the kind in this message, and the plural everywhere else.
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
  /** The marked object; the unchanged object if there is nothing to write. */
  readonly object: ApiObject;
  /** Whether finalizers or a grace period keep the object. */
  readonly remains: boolean;
}

function marked(core: ServerCore, kind: KindEntry, before: ApiObject, options: DeleteOptions): Marked {
  const draft = draftOf(before);
  draft.metadata.finalizers = finalizersOf(kind, before, options);
  const held = draft.metadata.finalizers.length > 0;
  if (!held) delete draft.metadata.finalizers;
  if (isNamespace(kind)) return markedNamespace(core, before, draft);
  if (kind.gracePeriod !== undefined) return markedGracefully(core, kind, before, draft, options);
  if (held) markForDeletion(core, before, draft);
  return { object: held ? storedIfUnchanged(before, draft) : before, remains: held };
}

/** Returns the stored object if nothing changed, so that a second deletion causes no write. */
function storedIfUnchanged(before: ApiObject, draft: Draft): ApiObject {
  return sameJson(before, draft) ? before : { ...draft };
}

/** Sets the phase Terminating. The namespace controller deletes the contents first. */
function markedNamespace(core: ServerCore, before: ApiObject, draft: Draft): Marked {
  if (before.metadata.deletionTimestamp !== undefined) {
    return { object: before, remains: hasSpecFinalizers(before) || draft.metadata.finalizers !== undefined };
  }
  draft.metadata.deletionTimestamp = formatTime(core.environment.clock.now());
  draft.status = { ...(draft.status as JsonObject | undefined), phase: "Terminating" };
  return { object: { ...draft }, remains: true };
}

/**
 * Sets or shortens the grace period of a pod. A pod with a grace period of zero is also marked before removal, so that
 * watchers see the deletionTimestamp. A later deletion can only shorten the grace period.
 */
function markedGracefully(
  { environment }: ServerCore,
  kind: KindEntry,
  before: ApiObject,
  draft: Draft,
  { gracePeriodSeconds: asked }: DeleteOptions,
): Marked {
  const needed = kind.gracePeriod?.(before) ?? 0;
  // The real server treats a negative grace period as one second.
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
  return { object: storedIfUnchanged(before, draft), remains };
}

function markForDeletion({ environment }: ServerCore, before: ApiObject, draft: Draft): void {
  draft.metadata.deletionGracePeriodSeconds = 0;
  if (before.metadata.deletionTimestamp !== undefined) return;
  draft.metadata.deletionTimestamp = formatTime(environment.clock.now());
  bump(draft);
}

function bump(draft: Draft): void {
  if (draft.metadata.generation !== undefined) draft.metadata.generation += 1;
}

const collected = ["orphan", "foregroundDeletion"];

/** Adds the finalizers of the propagation policy to those of other clients. */
function finalizersOf(kind: KindEntry, { metadata }: ApiObject, { propagationPolicy }: DeleteOptions): string[] {
  const present = [...(metadata.finalizers ?? [])];
  const others = present.filter((each) => !collected.includes(each));
  const policy = propagationPolicy ?? (present.length === others.length ? kind.propagation : undefined);
  if (policy === undefined) return present;
  if (policy === "Orphan") return [...others, "orphan"];
  return policy === "Foreground" ? [...others, "foregroundDeletion"] : others;
}

// DeleteOptions from the body or the query.

export interface DeleteOptions {
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly propagationPolicy?: "Foreground" | "Background" | "Orphan";
  readonly gracePeriodSeconds?: number;
  readonly dryRun: boolean;
  /** As admission receives it. */
  readonly asJson: JsonObject;
}

/** @throws StatusError */
export function deleteOptionsOf({ body, query = {} }: ApiRequest): DeleteOptions {
  // The body takes precedence over the query.
  return readOptions(body === undefined || body === "" ? fromQuery(query) : parsed(body));
}

/** Also parses the options of an Eviction. @throws StatusError */
export function readOptions(given: JsonObject): DeleteOptions {
  const errors = problemsOf(given);
  if (errors.length > 0) throw invalidOptions("DeleteOptions", errors);
  const { preconditions, gracePeriodSeconds, orphanDependents } = given;
  const legacy = typeof orphanDependents === "boolean" ? (orphanDependents ? "Orphan" : "Background") : undefined;
  const propagationPolicy = (given.propagationPolicy ?? legacy) as DeleteOptions["propagationPolicy"];
  const dryRun = dryRunIn(Array.isArray(given.dryRun) ? given.dryRun : [], "DeleteOptions");
  return {
    dryRun,
    asJson: { kind: "DeleteOptions", apiVersion: "meta.k8s.io/v1", ...given },
    ...(isObject(preconditions) && { preconditions }),
    ...(propagationPolicy && { propagationPolicy }),
    ...(typeof gracePeriodSeconds === "number" && { gracePeriodSeconds }),
  };
}

function fromQuery(query: Query): JsonObject {
  const propagationPolicy = textIn(query, "propagationPolicy");
  const gracePeriodSeconds = numberIn(query, "gracePeriodSeconds");
  const dryRun = listIn(query, "dryRun");
  return {
    ...(propagationPolicy && { propagationPolicy }),
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(dryRun.length > 0 && { dryRun }),
  };
}

function parsed(body: string): JsonObject {
  try {
    const value: unknown = JSON.parse(body);
    if (isObject(value)) return value;
  } catch {
    // reported below
  }
  throw badRequest(
    "the object provided is unrecognized (must be of type DeleteOptions): couldn't get version/kind; json parse error",
  );
}

const policies = ["Foreground", "Background", "Orphan"];

function problemsOf({ propagationPolicy, orphanDependents }: JsonObject): readonly FieldError[] {
  if (propagationPolicy === undefined) return [];
  if (orphanDependents !== undefined) {
    const why = "orphanDependents and deletionPropagation cannot be both set";
    return [invalid("propagationPolicy", propagationPolicy, why)];
  }
  const known = policies.includes(String(propagationPolicy));
  return known ? [] : [notSupported("propagationPolicy", propagationPolicy, [...policies, "nil"])];
}

// A deleted object is removed when it has no finalizers and its grace period is over.

/** Whether the server keeps the object when it stores this state. */
export function mayRemainStored(kind: KindEntry, object: ApiObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata;
  if (deletionTimestamp === undefined || finalizers.length > 0 || deletionGracePeriodSeconds > 0) return true;
  return isNamespace(kind) && hasSpecFinalizers(object);
}

export function isNamespace({ group, plural }: KindEntry): boolean {
  return group === "" && plural === "namespaces";
}

/** A namespace also has finalizers in its spec. */
function hasSpecFinalizers(object: ApiObject): boolean {
  return valueAt(object, "spec", "finalizers") !== undefined && listAt(object, "spec", "finalizers").length > 0;
}
