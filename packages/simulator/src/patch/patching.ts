// Patches and ownership. A PATCH comes in four dialects, told apart by its content type; every write, of whatever kind, also
// says who owns which fields from then on (metadata.managedFields).
//
//   json-patch.ts         a list of operations, RFC 6902
//   merge-patch.ts        an object laid over another, RFC 7396
//   strategic-merge.ts    the same, merging lists by key; only for built-in kinds
//   server-side-apply.ts  what somebody wants, and owns
//   track-changes.ts      ownership after everything but an apply
//   merge-keys.ts         which lists are merged by what: the table behind the last three
//   path-set.ts           sets of paths, which is what ownership is made of
//
// Everything here is a pure function of its arguments.
import { draftOf, draftOver, isObject, type JsonObject } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";
import type { PatchCall, Patching, UpdateCall } from "../server/patching.ts";
import { badRequest, unsupportedMediaType } from "../server/status-error.ts";
import { checkConfig } from "./check-config.ts";
import { customMergeSchema } from "./custom-merge-schema.ts";
import { nameOf } from "./empty-objects.ts";
import { applyJsonPatch, goTypeOf } from "./json-patch.ts";
import { updateLastApplied } from "./last-applied.ts";
import { encodeManaged, type Manager } from "./managed-fields.ts";
import { anyKind, mergeKeys } from "./merge-keys.ts";
import { applyMergePatch } from "./merge-patch.ts";
import type { MergeSchema } from "./merge-schema.ts";
import { MisfitError } from "./path-element.ts";
import { applyServerSide } from "./server-side-apply.ts";
import { applyStrategicMerge } from "./strategic-merge.ts";
import { trackChanges } from "./track-changes.ts";

export function makePatching(): Patching {
  const schemaOf = rememberSchemas();
  return {
    patch: (call) => draftAfter(patched(call, schemaOf(call.kind))) as ReturnType<Patching["patch"]>,
    track: (call) => tracked(call, schemaOf(call.kind)),
  };
}

/** Writable at the top and in its metadata; what is frozen below that was not patched, and is shared with the live object. */
function draftAfter(object: JsonObject): JsonObject {
  const draft = draftOver({ ...object });
  return isObject(draft.metadata) ? { ...draft, metadata: { ...draft.metadata } } : draft;
}

/** An object whose lists cannot be told apart is about to be refused; until then everything stays with whom it was. */
function tracked(call: UpdateCall, schema: MergeSchema): readonly unknown[] | undefined {
  try {
    return encodeManaged(trackChanges({ ...call, schema, manager: managerOf(call, "Update") }));
  } catch (error) {
    if (error instanceof MisfitError) return call.before?.metadata.managedFields;
    throw error;
  }
}

/** How objects of a kind are merged; for custom resources derived once from each definition, and gone with it. */
function rememberSchemas(): (kind: KindEntry) => MergeSchema {
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

/** What custom resources take. */
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
