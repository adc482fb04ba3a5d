import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { draftOf, frozen, listAt, objectAt, sameJson, valueAt } from "./json.ts";

describe("reading fields that may be missing", () => {
  const pod = { spec: { containers: [{ name: "a" }], nodeName: "n" } };

  it("returns the value of an existing field", () => {
    expect(valueAt(pod, "spec", "nodeName")).toBe("n");
    expect(listAt(pod, "spec", "containers")).toEqual([{ name: "a" }]);
    expect(objectAt(pod, "spec")).toBe(pod.spec);
  });

  it("returns undefined, an empty list or an empty object for a missing field", () => {
    expect(valueAt(pod, "status", "phase")).toBeUndefined();
    expect(listAt(pod, "spec", "nodeName")).toEqual([]);
    expect(objectAt(undefined, "spec")).toEqual({});
  });

  it("ignores properties inherited from Object.prototype", () => {
    expect(valueAt({}, "constructor")).toBeUndefined();
  });
});

describe("drafts and frozen values", () => {
  it("a draft of a frozen value is equal to it and writable at every depth", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const draft = draftOf(frozen(structuredClone(value)));
        expect(draft).toEqual(value);
        expect(typeof draft === "object" && draft !== null && Object.isFrozen(draft)).toBe(false);
      }),
    );
  });

  it("a field named __proto__ is copied like any other field", () => {
    const value = JSON.parse('[{"__proto__": []}]');
    expect(JSON.stringify(draftOf(value))).toBe('[{"__proto__":[]}]');
  });

  it("freezing applies at every depth", () => {
    const value = frozen({ a: [{ b: {} }] });
    expect(Object.isFrozen(value.a[0]?.b)).toBe(true);
  });
});

describe("sameJson", () => {
  const cases: readonly [string, unknown, unknown, boolean][] = [
    ["the order of fields does not matter", { a: 1, b: 2 }, { b: 2, a: 1 }, true],
    ["the order of lists does", [1, 2], [2, 1], false],
    ["undefined is missing", { a: undefined }, {}, true],
    ["null is not", { a: null }, {}, false],
    ["a list is no object", [], {}, false],
    ["deep down counts, too", { a: [{ b: 1 }] }, { a: [{ b: 2 }] }, false],
  ];
  it.each(cases)("%s", (_name, a, b, same) => expect(sameJson(a, b)).toBe(same));

  it("agrees with JSON.stringify", () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => sameJson(value, JSON.parse(JSON.stringify(value)))));
  });
});
