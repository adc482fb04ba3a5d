import fc from "fast-check";
import { expect, it } from "vitest";
import {
  decodeSet,
  difference,
  emptySet,
  encodeSet,
  insert,
  intersection,
  type PathSet,
  pathsOf,
  shownPath,
  union,
  without,
} from "./path-set.ts";

const element = fc.constantFrom("f:spec", "f:a", 'k:{"name":"x"}', 'v:"x"');
const sets = fc.array(fc.array(element, { minLength: 1, maxLength: 4 }), { maxLength: 8 }).map((paths) => {
  const set = emptySet();
  for (const path of paths) insert(set, path);
  return set;
});
const listed = (set: PathSet) => pathsOf(set).map(shownPath).sort();

it("encodes to FieldsV1 and decodes to the same set", () => {
  fc.assert(
    fc.property(sets, (set) => {
      expect(listed(decodeSet(encodeSet(set)) ?? emptySet())).toEqual(listed(set));
    }),
  );
});

it("obeys the laws of set algebra", () => {
  fc.assert(
    fc.property(sets, sets, (a, b) => {
      const inA = new Set(listed(a));
      const inB = new Set(listed(b));
      expect(listed(union(a, b))).toEqual([...new Set([...inA, ...inB])].sort());
      expect(listed(intersection(a, b))).toEqual([...inA].filter((path) => inB.has(path)).sort());
      expect(listed(difference(a, b))).toEqual([...inA].filter((path) => !inB.has(path)).sort());
    }),
  );
});

it("drops the paths below a removed root", () => {
  const set = decodeSet({ "f:a": { ".": {}, "f:spec": {} }, "f:spec": { "f:a": {} } }) ?? emptySet();
  expect(encodeSet(without(set, decodeSet({ "f:a": {} }) ?? emptySet()))).toEqual({ "f:spec": { "f:a": {} } });
});

it("formats paths for messages", () => {
  expect(shownPath(["f:spec", "f:containers", 'k:{"name":"app"}', "f:args", 'v:"-v"'])).toBe(
    '.spec.containers[name="app"].args[="-v"]',
  );
});

it.each([undefined, 5, { odd: {} }, { "f:a": 1 }])("rejects %j as FieldsV1", (fields) => {
  expect(decodeSet(fields)).toBeUndefined();
});
