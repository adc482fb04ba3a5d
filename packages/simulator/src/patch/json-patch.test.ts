import { describe, expect, it } from "vitest";
import { applyJsonPatch, applyMergePatch } from "./json-patch.ts";

const target = { data: { a: "1" }, list: ["x", "y"] };

describe("a JSON patch", () => {
  it.each([
    { name: "adds a member", patch: [{ op: "add", path: "/data/b", value: "2" }], gives: { data: { a: "1", b: "2" } } },
    {
      name: "replaces a missing member by adding it",
      patch: [{ op: "replace", path: "/data/b", value: "2" }],
      gives: { data: { a: "1", b: "2" } },
    },
    { name: "removes a member", patch: [{ op: "remove", path: "/data/a" }], gives: { data: {} } },
    { name: "appends to a list", patch: [{ op: "add", path: "/list/-", value: "z" }], gives: { list: ["x", "y", "z"] } },
    { name: "inserts into a list", patch: [{ op: "add", path: "/list/1", value: "z" }], gives: { list: ["x", "z", "y"] } },
    { name: "counts a negative index from the end", patch: [{ op: "remove", path: "/list/-1" }], gives: { list: ["x"] } },
    { name: "moves a member", patch: [{ op: "move", from: "/data/a", path: "/a" }], gives: { data: {}, a: "1" } },
    { name: "copies a missing member as null", patch: [{ op: "copy", from: "/data/q", path: "/q" }], gives: { q: null } },
    {
      name: "unescapes names",
      patch: [{ op: "add", path: "/data/x~1y~0z", value: "2" }],
      gives: { data: { a: "1", "x/y~z": "2" } },
    },
    {
      name: "treats a missing member as null in a test operation",
      patch: [{ op: "test", path: "/data/q", value: null }],
      gives: {},
    },
    { name: "changes nothing if it is null", patch: null, gives: {} },
  ])("$name", ({ patch, gives }) => {
    expect(applyJsonPatch(target, patch)).toEqual({ ...target, ...gives });
  });

  it("does not change its target", () => {
    applyJsonPatch(target, [{ op: "remove", path: "/list/0" }]);
    expect(target.list).toEqual(["x", "y"]);
  });

  it.each([
    { name: "a missing member", patch: [{ op: "remove", path: "/data/q" }] },
    { name: "a path through a missing member", patch: [{ op: "add", path: "/q/r/s", value: 1 }] },
    { name: "a test that fails", patch: [{ op: "test", path: "/data/a", value: "2" }] },
    { name: "an index beyond the list", patch: [{ op: "add", path: "/list/7", value: 1 }] },
    { name: "an index that is not a number", patch: [{ op: "replace", path: "/list/x", value: 1 }] },
    { name: "an unknown operation", patch: [{ op: "frobnicate", path: "/data" }] },
    { name: "no path", patch: [{ op: "add", value: 1 }] },
  ])("that does not apply is refused without a reason: $name", ({ patch }) => {
    expect(() => applyJsonPatch(target, patch)).toThrow("the server rejected our request due to an error in our request");
  });

  it.each([
    { patch: {}, says: "cannot unmarshal object into Go value of type []handlers.jsonPatchOp" },
    { patch: [1], says: "cannot unmarshal number into Go value of type handlers.jsonPatchOp" },
    { patch: "x", says: "cannot unmarshal string into Go value of type []handlers.jsonPatchOp" },
  ])("must be a list of operations, not $patch", ({ patch, says }) => {
    expect(() => applyJsonPatch(target, patch)).toThrow(says);
  });
});

describe("a merge patch", () => {
  it.each([
    { name: "merges objects", patch: { a: { c: 2 } }, gives: { a: { b: 1, c: 2 }, list: [1] } },
    { name: "removes fields set to null", patch: { a: null }, gives: { list: [1] } },
    { name: "drops nulls from new objects", patch: { d: { e: null, f: 1 } }, gives: { a: { b: 1 }, list: [1], d: { f: 1 } } },
    { name: "replaces lists", patch: { list: [{ x: null }] }, gives: { a: { b: 1 }, list: [{ x: null }] } },
  ])("a merge patch $name", ({ patch, gives }) => {
    expect(applyMergePatch({ a: { b: 1 }, list: [1] }, patch)).toEqual(gives);
  });

  it("must be a JSON object", () => {
    expect(() => applyMergePatch({}, [])).toThrow("cannot unmarshal array into Go value of type map[string]interface {}");
    expect(() => applyMergePatch({}, null)).toThrow("Invalid JSON Patch");
  });
});
