import { expect, it } from "vitest";
import { applyMergePatch } from "./merge-patch.ts";

it.each([
  { name: "merges objects", patch: { a: { c: 2 } }, gives: { a: { b: 1, c: 2 }, list: [1] } },
  { name: "removes by null", patch: { a: null }, gives: { list: [1] } },
  { name: "removes nulls from what is new", patch: { d: { e: null, f: 1 } }, gives: { a: { b: 1 }, list: [1], d: { f: 1 } } },
  { name: "replaces lists", patch: { list: [{ x: null }] }, gives: { a: { b: 1 }, list: [{ x: null }] } },
])("a merge patch $name", ({ patch, gives }) => {
  expect(applyMergePatch({ a: { b: 1 }, list: [1] }, patch)).toEqual(gives);
});

it("must be an object", () => {
  expect(() => applyMergePatch({}, [])).toThrow("cannot unmarshal array into Go value of type map[string]interface {}");
  expect(() => applyMergePatch({}, null)).toThrow("Invalid JSON Patch");
});
