import { describe, expect, it } from "vitest";
import { objectsOf } from "./objects.ts";

const pod = (name: string) => ({ apiVersion: "v1", kind: "Pod", metadata: { name } });
const names = (...manifests: readonly (string | object)[]) => objectsOf(manifests).map(({ metadata }) => metadata.name);

describe("manifests", () => {
  it.each([
    { name: "an object", manifests: [pod("a")], expected: ["a"] },
    { name: "YAML", manifests: ["apiVersion: v1\nkind: Pod\nmetadata: { name: a }"], expected: ["a"] },
    { name: "JSON, which is YAML too", manifests: [JSON.stringify(pod("a"))], expected: ["a"] },
    {
      name: "several documents, empty ones among them",
      manifests: [
        "---\nkind: Pod\napiVersion: v1\nmetadata: {name: a}\n---\n# nothing\n---\nkind: Pod\napiVersion: v1\nmetadata: {name: b}\n---\n",
      ],
      expected: ["a", "b"],
    },
    {
      name: "a List, also of Lists",
      manifests: [{ apiVersion: "v1", kind: "List", items: [pod("a"), { apiVersion: "v1", kind: "List", items: [pod("b")] }] }],
      expected: ["a", "b"],
    },
    { name: "nothing", manifests: [""], expected: [] },
    {
      name: "all of it, in order",
      manifests: [pod("a"), "kind: Pod\napiVersion: v1\nmetadata: {name: b}", pod("c")],
      expected: ["a", "b", "c"],
    },
  ])("are read from $name", ({ manifests, expected }) => expect(names(...manifests)).toEqual(expected));

  it.each([
    { name: "YAML that is none", manifest: "a: [", says: /not YAML/ },
    {
      name: "a document that is no object",
      manifest: "just words",
      says: /expected an object with apiVersion and kind, found "just words"/,
    },
    { name: "an object without a kind", manifest: { apiVersion: "v1", metadata: { name: "a" } }, says: /apiVersion and kind/ },
    {
      name: "an object without a name",
      manifest: { apiVersion: "v1", kind: "Pod", metadata: {} },
      says: /found a Pod without either/,
    },
    { name: "an object without metadata", manifest: { apiVersion: "v1", kind: "Pod" }, says: /found a Pod without either/ },
  ])("$name is refused", ({ manifest, says }) => {
    expect(() => objectsOf([manifest])).toThrow(says);
    expect(() => objectsOf([manifest])).toThrow(expect.objectContaining({ code: "INVALID_MANIFEST" }));
  });

  it("a name may be left to the server", () => {
    expect(objectsOf([{ apiVersion: "v1", kind: "Pod", metadata: { generateName: "web-" } }])).toHaveLength(1);
  });
});
