import { describe, expect, it } from "vitest";
import { applyJsonPatch } from "./json-patch.ts";

const target = { data: { a: "1" }, list: ["x", "y"] };

describe("a JSON patch", () => {
  it.each([
    { name: "adds a member", patch: [{ op: "add", path: "/data/b", value: "2" }], gives: { data: { a: "1", b: "2" } } },
    {
      name: "replaces what is not there",
      patch: [{ op: "replace", path: "/data/b", value: "2" }],
      gives: { data: { a: "1", b: "2" } },
    },
    { name: "removes a member", patch: [{ op: "remove", path: "/data/a" }], gives: { data: {} } },
    { name: "appends to a list", patch: [{ op: "add", path: "/list/-", value: "z" }], gives: { list: ["x", "y", "z"] } },
    { name: "inserts into a list", patch: [{ op: "add", path: "/list/1", value: "z" }], gives: { list: ["x", "z", "y"] } },
    { name: "counts from the end", patch: [{ op: "remove", path: "/list/-1" }], gives: { list: ["x"] } },
    { name: "moves", patch: [{ op: "move", from: "/data/a", path: "/a" }], gives: { data: {}, a: "1" } },
    { name: "copies nothing as null", patch: [{ op: "copy", from: "/data/q", path: "/q" }], gives: { q: null } },
    {
      name: "reads escaped names",
      patch: [{ op: "add", path: "/data/x~1y~0z", value: "2" }],
      gives: { data: { a: "1", "x/y~z": "2" } },
    },
    { name: "holds a test of what is missing against null", patch: [{ op: "test", path: "/data/q", value: null }], gives: {} },
    { name: "is nothing if null", patch: null, gives: {} },
  ])("$name", ({ patch, gives }) => {
    expect(applyJsonPatch(target, patch)).toEqual({ ...target, ...gives });
  });

  it("leaves its target alone", () => {
    applyJsonPatch(target, [{ op: "remove", path: "/list/0" }]);
    expect(target.list).toEqual(["x", "y"]);
  });

  it.each([
    { name: "a member that is not there", patch: [{ op: "remove", path: "/data/q" }] },
    { name: "a way that ends early", patch: [{ op: "add", path: "/q/r/s", value: 1 }] },
    { name: "a test that fails", patch: [{ op: "test", path: "/data/a", value: "2" }] },
    { name: "an index beyond the list", patch: [{ op: "add", path: "/list/7", value: 1 }] },
    { name: "an index that is none", patch: [{ op: "replace", path: "/list/x", value: 1 }] },
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
