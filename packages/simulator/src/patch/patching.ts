// Patches and field ownership. The content type of a PATCH selects one of four formats. Every write also updates the owners of the
// changed fields (metadata.managedFields).
//
//   json-patch.ts         JSON patch (RFC 6902) and JSON merge patch (RFC 7396)
//   strategic-merge.ts    merge patch that merges lists by key; built-in kinds only
//   server-side-apply.ts  apply; merge-values.ts merges a configuration into the live object
//   track-changes.ts      ownership after every other write
//   managed-fields.ts     metadata.managedFields
//   merge-schema.ts       which lists are merged by which keys; merge-keys.ts has the built-in kinds
//   path-set.ts           sets of field paths
//
// All functions here are pure.
import { draftOf, draftOver, isObject, type JsonObject } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";
import type { PatchCall, Patching, UpdateCall } from "../server/core.ts";
import { badRequest, unsupportedMediaType } from "../server/status-error.ts";
import { applyJsonPatch, applyMergePatch, goTypeOf } from "./json-patch.ts";
import { encodeManaged, type Manager, nameOf } from "./managed-fields.ts";
import { anyKind, mergeKeys } from "./merge-keys.ts";
import { customMergeSchema, type MergeSchema } from "./merge-schema.ts";
import { checkConfig } from "./merge-values.ts";
import { SchemaMismatchError } from "./path-set.ts";
import { applyServerSide, updateLastApplied } from "./server-side-apply.ts";
import { applyStrategicMerge } from "./strategic-merge.ts";
import { trackChanges } from "./track-changes.ts";

export function makePatching(): Patching {
  const schemaOf = cachedSchemas();
  return {
    patch: (call) => draftAfter(patched(call, schemaOf(call.kind))) as ReturnType<Patching["patch"]>,
    track: (call) => tracked(call, schemaOf(call.kind)),
  };
}

/** Returns a draft with a mutable top level and metadata. Frozen values below were not patched and are shared with the live object. */
function draftAfter(object: JsonObject): JsonObject {
  const draft = draftOver({ ...object });
  return isObject(draft.metadata) ? { ...draft, metadata: { ...draft.metadata } } : draft;
}

/** Keeps managedFields if list elements are ambiguous; validation rejects such an object later. */
function tracked(call: UpdateCall, schema: MergeSchema): readonly unknown[] | undefined {
  try {
    return encodeManaged(trackChanges({ ...call, schema, manager: managerOf(call, "Update") }));
  } catch (error) {
    if (error instanceof SchemaMismatchError) return call.before?.metadata.managedFields;
    throw error;
  }
}

/** Returns the merge schema of a kind. Caches those of custom resources per definition. */
function cachedSchemas(): (kind: KindEntry) => MergeSchema {
  const known = new WeakMap<JsonObject, MergeSchema>();
  return (kind) => {
    const { customResource } = kind;
    if (customResource === undefined) return mergeKeys[nameOf(kind)] ?? anyKind;
    const schema = known.get(customResource.schema) ?? customMergeSchema(customResource.schema);
    known.set(customResource.schema, schema);
    return schema;
  };
}

function patched(call: PatchCall, schema: MergeSchema): JsonObject {
  const { type, patch, kind, live } = call;
  if (type === "apply") return applied(call, schema);
  const target = (live ?? {}) as JsonObject;
  if (type === "json") return applyJsonPatch(target, patch);
  if (type === "merge") return applyMergePatch(target, patch);
  if (kind.customResource !== undefined) throw unsupportedMediaType(withoutStrategic);
  return applyStrategicMerge(target, patch, schema);
}

/** The patch types of custom resources. */
const withoutStrategic = ["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"];

function applied(call: PatchCall, schema: MergeSchema): JsonObject {
  const { patch, kind, live, force, now, subresource } = call;
  const config = configOf(patch, kind);
  checkConfig(config, schema);
  const manager = managerOf(call, "Apply");
  const object = draftOf(applyServerSide({ kind, schema, subresource, live, config, manager, force, now }));
  updateLastApplied(object, config, call.manager);
  return object;
}

function configOf(patch: unknown, { group, version, kind }: KindEntry): JsonObject {
  if (!isObject(patch)) {
    const decoding = "error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal";
    throw badRequest(`${decoding} ${goTypeOf(patch)} into Go value of type map[string]interface {}`);
  }
  const expected = group === "" ? version : `${group}/${version}`;
  if (patch.kind !== kind || patch.apiVersion !== expected) throw badRequest(`invalid object type: ${spelled(patch)}`);
  if (isObject(patch.metadata) && patch.metadata.managedFields !== undefined)
    throw badRequest("metadata.managedFields must be nil");
  return patch;
}

function spelled({ apiVersion = "", kind = "" }: JsonObject): string {
  const text = String(apiVersion);
  return `${text.includes("/") ? text : `/${text}`}, Kind=${kind}`;
}

function managerOf({ kind, subresource, manager }: PatchCall | UpdateCall, operation: Manager["operation"]): Manager {
  const apiVersion = kind.group === "" ? kind.version : `${kind.group}/${kind.version}`;
  return { manager: manager || "unknown", operation, apiVersion, ...(subresource !== undefined && { subresource }) };
}
