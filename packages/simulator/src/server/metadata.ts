// Metadata that the server sets: identity, timestamps, generation. The server ignores values from clients.
import type { Environment } from "@memhog/runtime";
import { type ApiObject, type Draft, draftOf, sameJson } from "../json.ts";
import type { GenerationRule, KindEntry } from "../kinds/kind-entry.ts";
import type { Target } from "./core.ts";
import { type FieldError, forbiddenField, invalid } from "./field-error.ts";

const nameAlphabet = "bcdfghjklmnpqrstvwxz2456789";

/** The five characters that the API server appends to a generateName. Without vowels, so they form no words. */
export function randomSuffix({ random }: Pick<Environment, "random">): string {
  return Array.from({ length: 5 }, () => nameAlphabet.charAt(Math.floor(random() * nameAlphabet.length))).join("");
}

/** A longer prefix plus the suffix would exceed 63 characters. */
const longestPrefix = 58;

/** Sets name, UID, and creation time of a new object. */
export function setIdentity(draft: Draft, kind: KindEntry, environment: Environment, now: string): void {
  const { metadata } = draft;
  if (metadata.name === undefined && metadata.generateName !== undefined) {
    metadata.name = `${metadata.generateName.slice(0, longestPrefix)}${randomSuffix(environment)}`;
  }
  for (const field of ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "resourceVersion", "generation"]) {
    delete metadata[field];
  }
  metadata.uid = environment.uuid();
  metadata.creationTimestamp = now;
  if (kind.generation !== undefined) metadata.generation = 1;
}

/** Restores the metadata that an update cannot change. */
export function keepIdentity(draft: Draft, old: ApiObject): void {
  const { metadata } = draft;
  for (const field of ["uid", "creationTimestamp", "generation", "generateName", "deletionTimestamp"] as const) {
    const kept = old.metadata[field];
    if (kept === undefined) delete metadata[field];
    else Object.assign(metadata, { [field]: kept });
  }
  delete metadata.selfLink;
  const { deletionGracePeriodSeconds: grace } = old.metadata;
  if (grace === undefined) delete metadata.deletionGracePeriodSeconds;
  else metadata.deletionGracePeriodSeconds = grace;
}

/** Validates the identity in an update. Call before `keepIdentity`, which overwrites it. */
export function identityErrors(draft: Draft, old: ApiObject): readonly FieldError[] {
  const fixed = ["uid", "deletionTimestamp", "deletionGracePeriodSeconds"] as const;
  return fixed.flatMap((field) => {
    const value = draft.metadata[field];
    const same = value === undefined || value === old.metadata[field];
    return same ? [] : [invalid(`metadata.${field}`, value, "field is immutable")];
  });
}

/** An object that is being deleted cannot get new finalizers: they could block its deletion forever. */
export function newFinalizerErrors(object: ApiObject, old: ApiObject): readonly FieldError[] {
  if (old.metadata.deletionTimestamp === undefined) return [];
  const added = (object.metadata.finalizers ?? []).filter((each) => !old.metadata.finalizers?.includes(each));
  if (added.length === 0) return [];
  const names = `[]string{${added.map((each) => JSON.stringify(each)).join(", ")}}`;
  const why = `no new finalizers can be added if the object is being deleted, found new finalizers ${names}`;
  return [forbiddenField("metadata.finalizers", why)];
}

/** Increments the generation if the desired state changed. */
export function countGeneration(draft: Draft, old: ApiObject, rule: GenerationRule | undefined): void {
  if (rule === undefined || sameDesiredState(draft, old, rule)) return;
  draft.metadata.generation = (old.metadata.generation ?? 0) + 1;
}

function sameDesiredState(draft: Draft, old: ApiObject, rule: GenerationRule): boolean {
  const annotated = rule === "spec" || sameJson(draft.metadata.annotations ?? {}, old.metadata.annotations ?? {});
  return annotated && sameJson(desiredStateOf(draft), desiredStateOf(old));
}

/** Everything except metadata and status. */
function desiredStateOf(object: ApiObject | Draft): object {
  const { metadata: _m, status: _s, apiVersion: _a, kind: _k, ...desired } = object;
  return desired;
}

// Clients write spec and status through separate endpoints. A write through one takes the other part over unchanged and frozen.
// Defaulting and validation skip frozen parts, so a status update does not repeat the work for the spec.

/** Prepares a draft that can share parts with the stored object: makes the part that this endpoint writes mutable. */
export function openWritablePart(draft: Draft, old: ApiObject, { kind, subresource }: Target): void {
  // The schema of a custom resource can change after an object is stored, so the server checks all parts again.
  const known = kind.customResource === undefined;
  if (known && (subresource === "status" || subresource === "binding")) {
    share(draft, old, "status");
    draft.metadata = { ...draft.metadata };
    share(draft.metadata, { ...old.metadata }, "managedFields");
    if (typeof draft.status === "object" && Object.isFrozen(draft.status)) draft.status = { ...draft.status };
    return;
  }
  if (known && subresource === undefined && kind.subresources?.status !== undefined) share(draft, old, "spec");
  for (const field of Object.keys(draft))
    if (draft[field] !== old[field] || field !== "status") draft[field] = thawed(draft[field]);
}

/** Replaces fields equal to the stored ones by the stored values. */
function share(draft: { [field: string]: unknown }, old: { readonly [field: string]: unknown }, except: string): void {
  for (const field of Object.keys(draft)) {
    if (field !== except && draft[field] !== old[field] && sameJson(draft[field], old[field])) draft[field] = old[field];
  }
}

/** Returns the same value with its frozen parts copied. */
function thawed(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Object.isFrozen(value)) return draftOf(value);
  const parts = value as { [field: string]: unknown };
  for (const field of Object.keys(parts)) {
    const part = thawed(parts[field]);
    if (part !== parts[field]) parts[field] = part;
  }
  return value;
}

/** Reverts changes to the part that another endpoint writes. */
export function keepOtherPart(draft: Draft, old: ApiObject, { kind, subresource }: Target): void {
  if (kind.subresources?.status === undefined || subresource === "binding") return;
  if (subresource === "status") keepAllButStatus(draft, old, kind);
  else if (old.status === undefined) delete draft.status;
  else draft.status = old.status;
}

function keepAllButStatus(draft: Draft, old: ApiObject, { statusWrites = "metadata" }: KindEntry): void {
  for (const field of new Set([...Object.keys(draft), ...Object.keys(old)])) {
    if (field === "status" || field === "metadata") continue;
    if (old[field] === undefined) delete draft[field];
    else draft[field] = old[field];
  }
  const { managedFields } = draft.metadata;
  if (statusWrites === "status only") draft.metadata = { ...old.metadata, ...(managedFields && { managedFields }) };
  if (statusWrites !== "annotations") return;
  if (old.metadata.labels === undefined) delete draft.metadata.labels;
  else draft.metadata.labels = old.metadata.labels;
}
