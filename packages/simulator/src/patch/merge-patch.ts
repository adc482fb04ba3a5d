// JSON merge patch (RFC 7396): objects are merged, null removes, everything else replaces, lists as a whole.
import { draftOf, isObject, type JsonObject } from "../json.ts";
import { badRequest } from "../server/status-error.ts";
import { goTypeOf } from "./json-patch.ts";

/** The target with the patch merged in; the target itself stays as it is. @throws StatusError 400 */
export function applyMergePatch(target: JsonObject, patch: unknown): JsonObject {
  if (patch === null) throw badRequest("Invalid JSON Patch");
  if (!isObject(patch))
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${goTypeOf(patch)} into Go value of type map[string]interface {}`,
    );
  return merged(target, patch);
}

function merged(target: JsonObject, patch: JsonObject): JsonObject {
  const result = { ...target };
  for (const [key, value] of Object.entries(patch)) {
    const before = Object.hasOwn(result, key) ? result[key] : undefined;
    if (value === null) delete result[key];
    else if (isObject(value)) result[key] = merged(isObject(before) ? before : {}, value);
    else result[key] = draftOf(value);
  }
  return result;
}
