// Stores objects: the single path for create, update, patch, and every subresource that changes an object.
//
//   create   namespace → defaults → ownership → mutating admission → identity → prepare → validate → validating admission → store
//   update   read → change → defaults → ownership → mutating admission → keep identity → prepare → generation → validate → validating admission → store
//
// Admission can take time (webhooks), so another client can write between read and store. A request with a resourceVersion then
// gets 409. Without one, the server retries from a new read, as the real one does.
import { type ApiObject, type Draft, sameJson } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";
import { metadataErrors, unqualifiedFinalizerErrors } from "../kinds/names.ts";
import { readMetadataAsGo, ShapeError } from "../kinds/shape.ts";
import { ChangedError } from "../storage/storage.ts";
import { type AdmissionContext, runMutating, runValidating } from "./admission.ts";
import { nowText, oneAsServed, refOf, type ServerCore, storedKindOf, type Target } from "./core.ts";
import { cannotBeHandled } from "./decode.ts";
import { mayRemainStored } from "./delete.ts";
import type { FieldError } from "./field-error.ts";
import {
  countGeneration,
  identityErrors,
  keepIdentity,
  keepOtherPart,
  newFinalizerErrors,
  openWritablePart,
  setIdentity,
} from "./metadata.ts";
import type { WriteCall } from "./query.ts";
import { alreadyExists, conflict, internalError, invalid, invalidPatch, notFound, StatusError } from "./status-error.ts";

/** The maximum number of attempts for a write without a resourceVersion. */
const maxAttempts = 5;

/** Stores a new object. @throws StatusError */
export async function createObject(core: ServerCore, call: WriteCall, draft: Draft): Promise<ApiObject> {
  const { target, dryRun } = call;
  const { kind } = target;
  const now = nowText(core);
  if (draft.metadata.resourceVersion !== undefined && draft.metadata.resourceVersion !== "") {
    throw new StatusError({ code: 500, reason: "", message: "resourceVersion should not be set on objects to be created" });
  }
  const context: AdmissionContext = { ...call, operation: "CREATE", old: undefined };
  complete(draft, call);
  updateManagedFields(core, call, draft, undefined, now);
  if (await runMutating(core, context, draft)) complete(draft, { ...call, fieldValidation: "Ignore" });
  setIdentity(draft, kind, core.environment, now);
  if (kind.subresources?.status !== undefined && kind.createsStatus !== true) clearStatus(draft, kind);
  kind.prepare?.(draft, { old: undefined, subresource: undefined, now });
  mustBeValid(draft, undefined, target);
  const object: ApiObject = draft;
  await runValidating(core, context, object);
  const ref = refOf(target, draft.metadata.name ?? "");
  const taken = core.storage.get(storedKindOf(kind), ref);
  if (taken !== undefined) throw alreadyExists(kind, ref.name, taken.metadata.deletionTimestamp !== undefined);
  if (dryRun) return object;
  const after = await asStored(kind, object);
  try {
    return oneAsServed(kind, core.storage.write({ kind: storedKindOf(kind), ref, before: undefined, after }));
  } catch (error) {
    // Another client created the name during conversion.
    throw error instanceof ChangedError ? alreadyExists(kind, ref.name, false) : error;
  }
}

/** Changes a stored object. `transform` returns the new draft for the current object. @throws StatusError */
export async function updateObject(
  core: ServerCore,
  call: WriteCall,
  transform: (old: ApiObject) => Draft | Promise<Draft>,
): Promise<ApiObject> {
  const { kind, name = "" } = call.target;
  const ref = refOf(call.target, name);
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const before = core.storage.get(storedKindOf(kind), ref);
    if (before === undefined) throw notFound(kind, name);
    try {
      return await updateOnce(core, call, before, transform);
    } catch (error) {
      if (!(error instanceof ChangedError)) throw error;
    }
  }
  throw conflict(kind, name);
}

async function updateOnce(
  core: ServerCore,
  call: WriteCall,
  before: ApiObject,
  transform: (old: ApiObject) => Draft | Promise<Draft>,
): Promise<ApiObject> {
  const { kind, name = "", subresource } = call.target;
  const old = await oneAsServed(kind, before);
  const draft = await transform(old);
  const now = nowText(core);
  mustBeSameVersion(draft, old, kind, subresource);
  openWritablePart(draft, old, call.target);
  const context: AdmissionContext = { ...call, operation: "UPDATE", old };
  complete(draft, call);
  updateManagedFields(core, call, draft, old, now);
  if (await runMutating(core, context, draft)) complete(draft, { ...call, fieldValidation: "Ignore" });
  const wrong = identityErrors(draft, old);
  keepIdentity(draft, old);
  keepOtherPart(draft, old, call.target);
  kind.prepare?.(draft, { old, subresource, now });
  if (subresource !== "binding" && subresource !== "status") countGeneration(draft, old, kind.generation);
  mustBeValid(draft, old, call.target, wrong);
  draft.metadata.resourceVersion = old.metadata.resourceVersion ?? "";
  const object: ApiObject = draft;
  await runValidating(core, context, object);
  if (call.dryRun) return object;
  if (sameJson(withoutVersion(object), withoutVersion(old))) return old;
  const after = await asStored(kind, object);
  const written = { kind: storedKindOf(kind), ref: refOf(call.target, name), before };
  if (mayRemainStored(kind, after)) return oneAsServed(kind, core.storage.write({ ...written, after }));
  // No finalizer is left, so the object is removed. The writer receives what it wrote; watchers see the last stored state.
  core.storage.write({ ...written, after: undefined });
  return object;
}

async function asStored(kind: KindEntry, object: ApiObject): Promise<ApiObject> {
  return kind.conversion === undefined ? object : kind.conversion.toStored(object);
}

/** Drops unknown fields and sets defaults. @throws StatusError */
function complete(draft: Draft, call: WriteCall): void {
  const { target, fieldValidation, warn } = call;
  const unknown = prunedFrom(draft, call).map((field) => `unknown field "${field}"`);
  if (unknown.length > 0 && fieldValidation === "Strict")
    throw decodingError(draft, call, `strict decoding error: ${unknown.join(", ")}`);
  if (fieldValidation === "Warn") for (const text of unknown) warn(text);
  target.kind.defaults?.(draft);
  target.kind.finish?.(draft);
}

function prunedFrom(draft: Draft, call: WriteCall): readonly string[] {
  try {
    const { prune, customResource } = call.target.kind;
    return [...(customResource === undefined ? [] : readMetadataAsGo(draft)), ...(prune?.(draft) ?? [])];
  } catch (error) {
    if (error instanceof ShapeError) throw decodingError(draft, call, error.message);
    throw error;
  }
}

function decodingError(draft: Draft, { target: { kind }, patched }: WriteCall, why: string): StatusError {
  return patched === true ? invalidPatch(draft, why) : cannotBeHandled(kind.kind, kind.version, kind.kind, why);
}

/** Clients cannot set the status when they create an object. */
function clearStatus(draft: Draft, { defaults, finish }: KindEntry): void {
  delete draft.status;
  defaults?.(draft);
  finish?.(draft);
}

function mustBeSameVersion(draft: Draft, old: ApiObject, kind: KindEntry, subresource: string | undefined): void {
  const { resourceVersion, name = "" } = draft.metadata;
  if (resourceVersion === undefined || resourceVersion === "") {
    if (kind.versionedUpdate !== true || subresource === "scale") return;
    const why = {
      reason: "FieldValueInvalid",
      field: "metadata.resourceVersion",
      message: "Invalid value: 0: must be specified for an update",
    };
    throw invalid({ group: kind.group, kind: kind.plural }, name, [why]);
  }
  if (!/^\d+$/.test(resourceVersion)) {
    const message = `strconv.ParseUint: parsing ${JSON.stringify(resourceVersion)}: invalid syntax`;
    throw new StatusError({ code: 500, reason: "", message });
  }
  if (resourceVersion !== old.metadata.resourceVersion) throw conflict(kind, name);
}

function mustBeValid(
  draft: Draft,
  old: ApiObject | undefined,
  { kind, subresource }: Target,
  wrong: readonly FieldError[] = [],
): void {
  let errors: readonly FieldError[];
  try {
    errors = [
      ...metadataErrors(draft, kind.names ?? "subdomain"),
      ...(kind.customResource === undefined ? unqualifiedFinalizerErrors(draft) : []),
      ...wrong,
      ...(old === undefined ? [] : newFinalizerErrors(draft, old)),
      ...(kind.validate?.(draft, old, { subresource }) ?? []),
    ];
  } catch (error) {
    // The object has a shape that no validation expected. The real server would already have failed to decode it.
    if (error instanceof StatusError) throw error;
    throw internalError(`${kind.kind} has an unexpected shape: ${error instanceof Error ? error.message : error}`);
  }
  const { group } = storedKindOf(kind);
  if (errors.length > 0) throw invalid({ group, kind: kind.kind }, draft.metadata.name ?? "", errors);
}

/** Updates managedFields. Runs before admission, because fields that admission or the server add have no manager. */
function updateManagedFields(core: ServerCore, call: WriteCall, draft: Draft, old: ApiObject | undefined, now: string): void {
  const { target, manager, applied } = call;
  if (applied === true) return;
  const { kind, subresource } = target;
  const managedFields = core.patching.track({ kind, subresource, before: old, after: draft, manager, now });
  if (managedFields === undefined || managedFields.length === 0) delete draft.metadata.managedFields;
  else Object.assign(draft.metadata, { managedFields });
}

function withoutVersion(object: ApiObject): ApiObject {
  const { resourceVersion: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
