// Server-side apply: the applier owns exactly the fields in its configuration. Apply removes fields that the applier owned and now
// omits, unless another manager owns them. A field that another manager owns with a different value is a conflict, which `force`
// overrides.
//
// Managed fields are not converted between versions of a kind.
import { type ApiObject, isObject, type JsonObject, objectAt, sameJson } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";
import { StatusError } from "../server/status-error.ts";
import {
  decodeManaged,
  emptyObject,
  encodeManaged,
  identity,
  idOf,
  type Managed,
  type Manager,
  onlyWritable,
} from "./managed-fields.ts";
import type { MergeSchema } from "./merge-schema.ts";
import { mergeValues, ownedFields, removePaths, withNamedFields } from "./merge-values.ts";
import { difference, emptySet, intersection, isEmpty, type Path, type PathSet, pathsOf, shownPath, union } from "./path-set.ts";
import { bare, changesOf, compare, removeOwnership, trackChanges } from "./track-changes.ts";

export interface Apply {
  readonly kind: KindEntry;
  readonly schema: MergeSchema;
  readonly subresource: string | undefined;
  /** Undefined if the object does not exist yet. */
  readonly live: ApiObject | undefined;
  /** Already validated against kind and schema. */
  readonly config: JsonObject;
  readonly manager: Manager;
  readonly force: boolean;
  /** "2026-01-02T03:04:05Z" */
  readonly now: string;
}

/** Returns the merged object with its managedFields. @throws StatusError 409 */
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

/** Decodes the managers. If there are none, "before-first-apply" owns all existing fields. */
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
  /** The fields that the applier owned before. */
  readonly last: PathSet;
}

/** Removes fields that the applier no longer owns, except those that other managers own. */
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
  /** The ID of the applier. */
  readonly id: string;
  readonly before: unknown;
  readonly after: unknown;
}

function resolveConflicts(apply: Apply, { managed, id, before, after }: Outcome): void {
  const changes = changesOf({ ...apply, before, after });
  const conflicts = apply.force ? [] : conflictsOf(managed, id, union(changes.added, changes.modified));
  const standing = conflicts.length === 0 ? [] : unlessMigrating(apply, conflicts);
  if (standing.length > 0) throw applyConflict(standing);
  removeOwnership(changes, managed, id);
}

function conflictsOf(managed: Managed, id: string, changed: PathSet): readonly Conflict[] {
  const others = [...managed].filter(([each]) => each !== id).sort(([a], [b]) => (a < b ? -1 : 1));
  return others.flatMap(([, { fields, ...manager }]) =>
    pathsOf(intersection(fields, changed)).map((path) => ({ manager, path })),
  );
}

/** kubectl can take over fields of client-side apply that have not changed since. */
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

// The conflict error.

export interface Conflict {
  /** The owner of the path. */
  readonly manager: Manager;
  readonly path: Path;
}

/** Returns a 409 with a cause for every path. */
function applyConflict(conflicts: readonly Conflict[]): StatusError {
  const causes = conflicts.map(({ manager, path }) => ({
    reason: "FieldManagerConflict",
    message: `conflict with ${shownManager(manager)}`,
    field: shownPath(path),
  }));
  return new StatusError({ code: 409, reason: "Conflict", message: messageOf(conflicts), details: { causes } });
}

function messageOf(conflicts: readonly Conflict[]): string {
  const [only, ...others] = conflicts;
  if (only !== undefined && others.length === 0)
    return `Apply failed with 1 conflict: conflict with ${shownManager(only.manager)}: ${shownPath(only.path)}`;
  const managers = new Map<string, string[]>();
  for (const { manager, path } of conflicts) {
    const name = shownManager(manager);
    managers.set(name, [...(managers.get(name) ?? []), `- ${shownPath(path)}`]);
  }
  const lines = [...managers].flatMap(([name, paths]) => [`conflicts with ${name}:`, ...paths]);
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join("\n")}`;
}

function shownManager({ manager, operation, apiVersion, subresource }: Manager): string {
  const through = subresource === undefined ? "" : ` with subresource ${JSON.stringify(subresource)}`;
  return `${JSON.stringify(manager)}${through}${operation === "Update" ? ` using ${apiVersion}` : ""}`;
}

// Migration from client-side `kubectl apply`: its last-applied annotation lists the fields that server-side apply can take over
// without a conflict. Apply keeps the annotation up to date.

const annotation = "kubectl.kubernetes.io/last-applied-configuration";

/** Returns paths (as JSON) that still have the value of client-side apply. Undefined without the annotation. */
function allowedByLastApplied(live: ApiObject, schema: MergeSchema): ReadonlySet<string> | undefined {
  const applied = lastApplied(live);
  if (applied === undefined || applied.apiVersion !== live.apiVersion) return undefined;
  const { added, modified, removed } = compare(applied, bare(live), schema);
  const unchanged = difference(ownedFields(applied, schema), union(union(added, modified), removed));
  return new Set(pathsOf(unchanged).map((path) => JSON.stringify(path)));
}

function lastApplied({ metadata }: ApiObject): JsonObject | undefined {
  try {
    const parsed: unknown = JSON.parse(metadata.annotations?.[annotation] ?? "");
    return isObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Updates the annotation if it exists and the applier is kubectl. */
export function updateLastApplied(object: JsonObject, config: JsonObject, manager: string): void {
  const annotations = objectAt(object, "metadata", "annotations");
  if (manager !== "kubectl" || !annotations[annotation]) return;
  const { [annotation]: _, ...others } = objectAt(config, "metadata", "annotations");
  const metadata = { ...objectAt(config, "metadata"), annotations: others };
  annotations[annotation] = `${JSON.stringify(sorted({ ...config, metadata }))}\n`;
}

/** Sorts keys, as Go does when it writes maps. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]));
}
