// Server-side apply: an applier says which fields it wants and how, and owns exactly those. What it applied before and does
// not apply now is removed, unless somebody else owns it too. What somebody else owns and has another value is a conflict,
// which `force` resolves in the applier's favour.
//
// Versions of a kind are taken for the same: a manager that wrote through another version owns the paths it names there. For
// kinds that are not converted, which are all of ours, that is also what the real one finds out.
import { type ApiObject, isObject, type JsonObject, sameJson } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";
import { applyConflict, type Conflict } from "./apply-conflict.ts";
import { emptyObject } from "./empty-objects.ts";
import { allowedByLastApplied } from "./last-applied.ts";
import { decodeManaged, encodeManaged, idOf, type Managed, type Manager } from "./managed-fields.ts";
import type { MergeSchema } from "./merge-schema.ts";
import { mergeValues } from "./merge-values.ts";
import { ownedFields, withNamedFields } from "./owned-fields.ts";
import { difference, emptySet, intersection, isEmpty, type PathSet, pathsOf, union } from "./path-set.ts";
import { removePaths } from "./remove-paths.ts";
import { bare, changesOf, loseTo, trackChanges } from "./track-changes.ts";
import { identity, onlyWritable } from "./untracked.ts";

export interface Apply {
  readonly kind: KindEntry;
  readonly schema: MergeSchema;
  readonly subresource: string | undefined;
  /** Undefined: it does not exist yet. */
  readonly live: ApiObject | undefined;
  /** Checked to be of this kind and to fit the schema. */
  readonly config: JsonObject;
  readonly manager: Manager;
  readonly force: boolean;
  /** "2026-01-02T03:04:05Z" */
  readonly now: string;
}

/** The merged object with its managedFields. @throws StatusError 409 */
export function applyServerSide(apply: Apply): JsonObject {
  const { kind, schema, live, config, manager, now } = apply;
  const id = idOf(manager);
  const before = bare(live ?? emptyObject(kind));
  const managed = managersOf(apply);
  const last = managed.get(id);
  const fields = onlyWritable(ownedFields(config, schema), kind, apply.subresource);
  managed.set(id, { ...manager, fields, time: last?.time });

  const merged = mergeValues(before, config, schema);
  const after = last === undefined ? merged : pruned(merged, { schema, managed, last: last.fields });
  resolveConflicts(apply, { managed, id, before, after });

  const owned = difference(fields, identity);
  if (isEmpty(owned)) managed.delete(id);
  else managed.set(id, { ...manager, fields: owned, time: sameJson(before, after) ? last?.time : now });
  return withManaged(after as JsonObject, managed);
}

/** Objects without managers are taken for somebody's before the first apply: "before-first-apply" owns all they have. */
function managersOf({ kind, schema, live, now }: Apply): Managed {
  const managed = decodeManaged(live?.metadata.managedFields) ?? new Map();
  if (live === undefined || managed.size > 0) return managed;
  const apiVersion = live.apiVersion;
  const manager: Manager = { manager: "before-first-apply", operation: "Update", apiVersion };
  const subresource = undefined;
  return trackChanges({ kind, schema, subresource, before: undefined, after: live, manager, now });
}

interface Pruning {
  readonly schema: MergeSchema;
  readonly managed: Managed;
  /** What the applier owned so far. */
  readonly last: PathSet;
}

/** Removes what the applier owned and does not own any more, except what others own. */
function pruned(merged: unknown, { schema, managed, last }: Pruning): unknown {
  const named = (set: PathSet) => withNamedFields(set, schema);
  const fieldsOf = (value: unknown) => named(ownedFields(value ?? {}, schema));
  const all = fieldsOf(merged);
  const owned = named([...managed.values()].reduce((sum, { fields }) => union(sum, fields), emptySet()));
  const removed = removePaths(merged, named(last), schema);
  const withOthers = removePaths(merged, difference(all, union(fieldsOf(removed), owned)), schema);
  return removePaths(merged, intersection(difference(all, fieldsOf(withOthers)), named(last)), schema);
}

interface Outcome {
  readonly managed: Managed;
  /** Of the applier. */
  readonly id: string;
  readonly before: unknown;
  readonly after: unknown;
}

function resolveConflicts(apply: Apply, { managed, id, before, after }: Outcome): void {
  const changes = changesOf({ ...apply, before, after });
  const conflicts = apply.force ? [] : conflictsOf(managed, id, union(changes.added, changes.modified));
  const standing = conflicts.length === 0 ? [] : unlessMigrating(apply, conflicts);
  if (standing.length > 0) throw applyConflict(standing);
  loseTo(changes, managed, id);
}

function conflictsOf(managed: Managed, id: string, changed: PathSet): readonly Conflict[] {
  const others = [...managed].filter(([each]) => each !== id).sort(([a], [b]) => (a < b ? -1 : 1));
  return others.flatMap(([, { fields, ...manager }]) =>
    pathsOf(intersection(fields, changed)).map((path) => ({ manager, path })),
  );
}

/** kubectl may take over what kubectl applied on the client's side, as long as nobody has changed it since. */
function unlessMigrating({ schema, live, manager }: Apply, conflicts: readonly Conflict[]): readonly Conflict[] {
  if (manager.manager !== "kubectl" || live === undefined) return conflicts;
  const allowed = allowedByLastApplied(live, schema);
  return allowed === undefined ? conflicts : conflicts.filter(({ path }) => !allowed.has(JSON.stringify(path)));
}

function withManaged(object: JsonObject, managed: Managed): JsonObject {
  const managedFields = encodeManaged(managed);
  const metadata = isObject(object.metadata) ? object.metadata : {};
  return { ...object, metadata: { ...metadata, ...(managedFields && { managedFields }) } };
}
