// Takes paths out of a value. A list or object that loses its last part goes with it.
import { isObject, type JsonObject } from "../json.ts";
import { fieldOf, isAtomicList, type MergeSchema, plain } from "./merge-schema.ts";
import { fieldElement, itemElement } from "./path-element.ts";
import type { PathSet } from "./path-set.ts";

/** The value without these paths; undefined if nothing is left. */
export function removePaths(value: unknown, paths: PathSet, schema: MergeSchema): unknown {
  if (Array.isArray(value)) return isAtomicList(schema) ? undefined : removeItems(value, paths, schema);
  if (isObject(value)) return schema.atomic === true ? undefined : removeFields(value, paths, schema);
  return value;
}

function removeFields(value: JsonObject, paths: PathSet, schema: MergeSchema): JsonObject | undefined {
  const left: JsonObject = {};
  for (const [name, child] of Object.entries(value)) {
    const node = paths.below.get(fieldElement(name));
    if (node?.member === true) continue;
    const kept =
      node === undefined || node.below.size === 0 ? child : removePaths(child, node, fieldOf(schema, name)?.schema ?? plain);
    // Go writes null where nothing is left.
    left[name] = kept === undefined ? null : kept;
  }
  return Object.keys(left).length > 0 ? left : undefined;
}

function removeItems(list: readonly unknown[], paths: PathSet, schema: MergeSchema): readonly unknown[] | undefined {
  const left = list.flatMap((item) => {
    const node = paths.below.get(itemElement(item, schema));
    if (node?.member === true) return [];
    return [node === undefined || node.below.size === 0 ? item : removePaths(item, node, schema.items ?? plain)];
  });
  return left.length > 0 ? left : undefined;
}
