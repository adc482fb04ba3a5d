// The part of metadata that belongs to the server: identity, times, generation. Clients may send it; it is not believed.
import type { Environment } from "@memhog/runtime";
import { type ApiObject, type Draft, sameJson } from "../json.ts";
import type { GenerationRule, KindEntry } from "../kinds/kind-entry.ts";
import { type FieldError, forbiddenField, invalid } from "./field-error.ts";

const nameAlphabet = "bcdfghjklmnpqrstvwxz2456789";

/** Five characters as the API server appends them to a generateName: no vowels, so no words. */
export function randomSuffix({ random }: Pick<Environment, "random">): string {
  return Array.from({ length: 5 }, () => nameAlphabet.charAt(Math.floor(random() * nameAlphabet.length))).join("");
}

/** Room for the suffix: names made from a longer prefix would not be valid. */
const longestPrefix = 58;

/** Gives a new object its identity. */
export function identify(draft: Draft, kind: KindEntry, environment: Environment, now: string): void {
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

/** Keeps what an update may not touch. */
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

/** What an update says about identity and gets wrong. Looked at before `keepIdentity` puts it right. */
export function identityErrors(draft: Draft, old: ApiObject): readonly FieldError[] {
  const fixed = ["uid", "deletionTimestamp", "deletionGracePeriodSeconds"] as const;
  return fixed.flatMap((field) => {
    const value = draft.metadata[field];
    const same = value === undefined || value === old.metadata[field];
    return same ? [] : [invalid(`metadata.${field}`, value, "field is immutable")];
  });
}

/** Nothing may be added to what keeps a dying object: it could live for ever. */
export function newFinalizerErrors(object: ApiObject, old: ApiObject): readonly FieldError[] {
  if (old.metadata.deletionTimestamp === undefined) return [];
  const added = (object.metadata.finalizers ?? []).filter((each) => !old.metadata.finalizers?.includes(each));
  if (added.length === 0) return [];
  const names = `[]string{${added.map((each) => JSON.stringify(each)).join(", ")}}`;
  const why = `no new finalizers can be added if the object is being deleted, found new finalizers ${names}`;
  return [forbiddenField("metadata.finalizers", why)];
}

/** Counts a change of what the object shall be. */
export function countGeneration(draft: Draft, old: ApiObject, rule: GenerationRule | undefined): void {
  if (rule === undefined || sameDesire(draft, old, rule)) return;
  draft.metadata.generation = (old.metadata.generation ?? 0) + 1;
}

function sameDesire(draft: Draft, old: ApiObject, rule: GenerationRule): boolean {
  const annotated = rule === "spec" || sameJson(draft.metadata.annotations ?? {}, old.metadata.annotations ?? {});
  return annotated && sameJson(desireOf(draft), desireOf(old));
}

/** Everything but what the server and the controllers write. */
function desireOf(object: ApiObject | Draft): object {
  const { metadata: _m, status: _s, apiVersion: _a, kind: _k, ...desire } = object;
  return desire;
}
