// JSON patch (RFC 6902) as the API server applies it, which is more lenient than the RFC: `replace` adds a missing member, `test`
// of a missing member against null succeeds, and a negative index counts from the end. As on the real server, all failures have
// the same message.
import { draftOf, isObject, type JsonObject, sameJson } from "../json.ts";
import { badRequest, StatusError } from "../server/status-error.ts";

interface Operation {
  readonly op?: unknown;
  readonly path?: unknown;
  readonly from?: unknown;
  readonly value?: unknown;
}

const maxOperations = 10_000;

/** Applies the operations in order. Does not change the target. @throws StatusError 400, 413, 422 */
export function applyJsonPatch(target: JsonObject, patch: unknown): JsonObject {
  let root: unknown = draftOf(target);
  for (const operation of operationsOf(patch)) root = applied(root, operation);
  if (!isObject(root)) throw doesNotApply();
  return root;
}

function operationsOf(patch: unknown): readonly Operation[] {
  if (patch === null) return [];
  const decoding = "error decoding patch: json: cannot unmarshal";
  if (!Array.isArray(patch)) throw badRequest(`${decoding} ${goTypeOf(patch)} into Go value of type []handlers.jsonPatchOp`);
  const odd = patch.find((each) => !isObject(each));
  if (odd !== undefined) throw badRequest(`${decoding} ${goTypeOf(odd)} into Go value of type handlers.jsonPatchOp`);
  if (patch.length > maxOperations) {
    const message = `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${patch.length}`;
    throw new StatusError({ code: 413, reason: "RequestEntityTooLarge", message });
  }
  return patch;
}

/** Returns the Go name of the type of a JSON value. */
export function goTypeOf(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

function doesNotApply(): StatusError {
  const message = "the server rejected our request due to an error in our request";
  return new StatusError({ code: 422, reason: "Invalid", message, details: {} });
}

function applied(root: unknown, { op, path, from, value = null }: Operation): unknown {
  if (path === "" && op === "replace") return draftOf(value);
  if (path === "" && op === "test") return sameJson(root, value) ? root : fail();
  const target = () => placeIn(root, path);
  if (op === "add") target().insert(draftOf(value));
  else if (op === "remove") target().remove();
  else if (op === "replace") target().replace(draftOf(value));
  else if (op === "test") sameJson(target().read() ?? null, value) || fail();
  else if (op === "copy") {
    const copied = draftOf(placeIn(root, from).read() ?? null);
    target().insert(copied);
  } else if (op === "move") {
    const moved = placeIn(root, from).remove();
    target().insert(moved);
  } else fail();
  return root;
}

function fail(): never {
  throw doesNotApply();
}

interface Place {
  read(): unknown;
  insert(value: unknown): void;
  replace(value: unknown): void;
  remove(): unknown;
}

/** Resolves a JSON pointer. All of its steps except the last must exist. */
function placeIn(root: unknown, pointer: unknown): Place {
  if (typeof pointer !== "string") return fail();
  const [, ...steps] = pointer.split("/").map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  const last = steps.pop();
  if (last === undefined) return fail();
  let container = root;
  for (const step of steps) container = placeAt(container, step).read();
  return placeAt(container, last);
}

function placeAt(container: unknown, step: string): Place {
  if (Array.isArray(container)) return placeInList(container, step);
  return isObject(container) ? placeInObject(container, step) : fail();
}

function placeInObject(container: JsonObject, step: string): Place {
  const put = (value: unknown) => {
    container[step] = value;
  };
  return {
    read: () => (Object.hasOwn(container, step) ? container[step] : undefined),
    insert: put,
    replace: put,
    remove: () => {
      if (!Object.hasOwn(container, step)) return fail();
      const removed = container[step];
      delete container[step];
      return removed;
    },
  };
}

function placeInList(list: unknown[], step: string): Place {
  const index = (length: number) => {
    const counted = /^[+-]?\d+$/.test(step) ? Number(step) : Number.NaN;
    const found = counted < 0 ? counted + length : counted;
    return found >= 0 && found < length ? found : fail();
  };
  return {
    read: () => list[index(list.length)],
    insert: (value) => {
      list.splice(step === "-" ? list.length : index(list.length + 1), 0, value);
    },
    replace: (value) => {
      list[index(list.length)] = value;
    },
    remove: () => list.splice(index(list.length), 1)[0],
  };
}

// JSON merge patch (RFC 7396): merges objects, null removes, everything else replaces.

/** Merges the patch. Does not change the target. @throws StatusError 400 */
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
