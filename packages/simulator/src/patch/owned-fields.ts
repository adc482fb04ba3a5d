// Which paths an applied configuration lays claim to: every leaf it mentions, every element of a list with keys.
import { isObject } from "../json.ts";
import { fieldOf, isAtomicList, type MergeSchema, plain } from "./merge-schema.ts";
import { fieldElement, fieldName, itemElement } from "./path-element.ts";
import { emptySet, insert, type Path, type PathSet } from "./path-set.ts";

export function ownedFields(value: unknown, schema: MergeSchema): PathSet {
  const set = emptySet();
  visit(value, schema, [], set);
  return set;
}

function visit(value: unknown, schema: MergeSchema, path: Path, set: PathSet): void {
  if (Array.isArray(value)) visitList(value, schema, path, set);
  else if (isObject(value) && schema.atomic !== true) visitObject(value, schema, path, set);
  else if (path.length > 0) insert(set, path);
}

function visitObject(value: Readonly<Record<string, unknown>>, schema: MergeSchema, path: Path, set: PathSet): void {
  for (const [name, child] of Object.entries(value)) {
    const field = fieldOf(schema, name);
    const below = [...path, fieldElement(name)];
    visit(child, field?.schema ?? plain, below, set);
    const isEmpty = child === null || (isObject(child) && Object.keys(child).length === 0);
    // A named field follows from what is in it; the key of a map is somebody's choice and owned as such.
    if (isEmpty || field?.named !== true) insert(set, below);
  }
}

function visitList(list: readonly unknown[], schema: MergeSchema, path: Path, set: PathSet): void {
  if (isAtomicList(schema)) {
    insert(set, path);
    return;
  }
  const elements = list.map((item) => itemElement(item, schema));
  for (const [at, item] of list.entries()) {
    const element = elements[at] ?? "";
    insert(set, [...path, element]);
    const isTwice = elements.indexOf(element) !== elements.lastIndexOf(element);
    if (!isTwice) visit(item, schema.items ?? plain, [...path, element], set);
  }
}

/** The set with the named fields that lead to its members, too: a field goes when all that was in it goes. */
export function withNamedFields(set: PathSet, schema: MergeSchema): PathSet {
  const result = emptySet(set.member);
  for (const [element, node] of set.below) {
    const name = fieldName(element);
    const field = name === undefined ? undefined : fieldOf(schema, name);
    const below = withNamedFields(node, field?.schema ?? schema.items ?? plain);
    result.below.set(element, { member: below.member || field?.named === true, below: below.below });
  }
  return result;
}
