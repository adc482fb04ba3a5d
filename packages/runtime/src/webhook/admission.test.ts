import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type JsonPatchOperation, jsonPatch } from "./admission.ts";

/** Applies a patch independently of the code under test: the three operations of RFC 6902, in order. */
function applied(document: unknown, patch: readonly JsonPatchOperation[]): unknown {
  return patch.reduce((current: unknown, operation) => {
    if (operation.path === "") return "value" in operation ? operation.value : null;
    const copy = structuredClone(current);
    const names = operation.path
      .slice(1)
      .split("/")
      .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
    const last = names.pop() ?? "";
    const parent = names.reduce((at, name) => (at as Record<string, unknown>)[name], copy);
    if (Array.isArray(parent)) {
      const place = Number(last);
      if (operation.op === "add") parent.splice(place, 0, operation.value);
      else if (operation.op === "remove") parent.splice(place, 1);
      else parent[place] = operation.value;
    } else if (operation.op === "remove") delete (parent as Record<string, unknown>)[last];
    else Object.defineProperty(parent, last, { value: operation.value, enumerable: true, writable: true, configurable: true });
    return copy;
  }, document);
}

describe("a JSON patch", () => {
  it.each([
    { name: "is empty when nothing changed", from: { a: [1, { b: 2 }] }, to: { a: [1, { b: 2 }] }, patch: [] },
    { name: "adds a field", from: {}, to: { a: 1 }, patch: [{ op: "add", path: "/a", value: 1 }] },
    { name: "treats undefined as absent", from: { a: 1 }, to: { a: undefined }, patch: [{ op: "remove", path: "/a" }] },
    {
      name: "escapes annotation names as RFC 6901 requires",
      from: { annotations: { "x/y": "1" } },
      to: { annotations: { "x/y": "2", "a~b": "3" } },
      patch: [
        { op: "replace", path: "/annotations/x~1y", value: "2" },
        { op: "add", path: "/annotations/a~0b", value: "3" },
      ],
    },
    {
      name: "inserts a container at the start with one operation",
      from: { containers: [{ name: "app" }, { name: "log" }] },
      to: { containers: [{ name: "init" }, { name: "app" }, { name: "log" }] },
      patch: [{ op: "add", path: "/containers/0", value: { name: "init" } }],
    },
    {
      name: "changes one field deep in a list",
      from: { containers: [{ name: "app", resources: { limits: { memory: "1Mi" } } }] },
      to: { containers: [{ name: "app", resources: { limits: { memory: "2Mi" } } }] },
      patch: [{ op: "replace", path: "/containers/0/resources/limits/memory", value: "2Mi" }],
    },
    {
      name: "removes from the middle of a list",
      from: [1, 2, 3, 4],
      to: [1, 4],
      patch: [
        { op: "remove", path: "/1" },
        { op: "remove", path: "/1" },
      ],
    },
  ])("$name", ({ from, to, patch }) => expect(jsonPatch(from, to)).toEqual(patch));

  it("turns any value into any other value", () => {
    const json = fc.jsonValue({ maxDepth: 4 });
    const arrives = fc.property(json, json, (from, to) => {
      expect(applied(from, jsonPatch(from, to))).toEqual(JSON.parse(JSON.stringify(to)));
    });
    fc.assert(arrives);
  });

  it("turns any list into another list that shares items with it", () => {
    const list = fc.array(fc.record({ name: fc.constantFrom("a", "b", "c"), size: fc.nat(2) }), { maxLength: 6 });
    const arrives = fc.property(list, list, (from, to) => {
      expect(applied(from, jsonPatch(from, to))).toEqual(to);
    });
    fc.assert(arrives);
  });
});
