// A configuration laid over a live object: nothing goes, its leaves win, its list elements are merged by their keys. In the
// order of elements the configuration wins where the two disagree; what only the live object has stays where it was.
import { isObject, type JsonObject } from "../json.ts";
import { fieldOf, isAtomicList, type MergeSchema, plain } from "./merge-schema.ts";
import { itemElement, type PathElement } from "./path-element.ts";

export function mergeValues(live: unknown, config: unknown, schema: MergeSchema): unknown {
  if (config === undefined) return live;
  // Null stands for an empty list or object here, and nothing is what it adds.
  if (config === null && typeof live === "object" && live !== null && !isOneValue(live, schema)) return live;
  if (isObject(live) && isObject(config) && schema.atomic !== true) return mergeObjects(live, config, schema);
  if (Array.isArray(live) && Array.isArray(config) && !isAtomicList(schema)) return mergeLists(live, config, schema);
  return config;
}

function isOneValue(value: object, schema: MergeSchema): boolean {
  return Array.isArray(value) ? isAtomicList(schema) : schema.atomic === true;
}

function mergeObjects(live: JsonObject, config: JsonObject, schema: MergeSchema): JsonObject {
  const merged: JsonObject = { ...live };
  for (const [name, value] of Object.entries(config))
    merged[name] = mergeValues(live[name], value, fieldOf(schema, name)?.schema ?? plain);
  return merged;
}

interface Item {
  readonly element: PathElement;
  readonly value: unknown;
}

function mergeLists(live: readonly unknown[], config: readonly unknown[], schema: MergeSchema): readonly unknown[] {
  const itemsOf = (list: readonly unknown[]): readonly Item[] =>
    list.map((value) => ({ element: itemElement(value, schema), value }));
  const [left, right] = [itemsOf(live), itemsOf(config)];
  const wanted = new Set(right.map(({ element }) => element));
  const merge = ({ element, value }: Item) => {
    const same = left.filter((item) => item.element === element);
    // Of duplicates nobody knows which is meant: they are replaced.
    return same.length === 1 ? mergeValues(same[0]?.value, value, schema.items ?? plain) : value;
  };
  const shared = right.filter(({ element }) => left.some((item) => item.element === element));
  return interleave(left, right, { wanted, merge, shared: shared.map(({ element }) => element) });
}

interface Interleaving {
  readonly wanted: ReadonlySet<PathElement>;
  readonly merge: (item: Item) => unknown;
  /** Elements of both lists, in the order of the configuration. */
  readonly shared: readonly PathElement[];
}

/** Walks both lists; elements that both have come in the order of the configuration. */
function interleave(left: readonly Item[], right: readonly Item[], { wanted, merge, shared }: Interleaving): readonly unknown[] {
  const result: unknown[] = [];
  const done = new Set<PathElement>();
  const expected = [...shared];
  let [l, r] = [0, 0];
  while (l < left.length || r < right.length) {
    const [mine, theirs] = [left[l], right[r]];
    if (mine !== undefined && theirs !== undefined) {
      if (mine.element === theirs.element) {
        result.push(merge(theirs));
        done.add(theirs.element);
        expected.shift();
        l += 1;
        r += 1;
        continue;
      }
      if (wanted.has(mine.element) && expected.length > 0 && expected[0] !== mine.element) {
        l += 1; // its turn has passed or is yet to come: the configuration's order decides
        continue;
      }
    }
    if (mine !== undefined) {
      if (!wanted.has(mine.element)) {
        result.push(mine.value);
        l += 1;
        continue;
      }
      if (done.has(mine.element)) l += 1;
    }
    if (theirs !== undefined) {
      result.push(merge(theirs));
      done.add(theirs.element);
      if (expected[0] === theirs.element) expected.shift();
      r += 1;
    }
  }
  return result;
}
