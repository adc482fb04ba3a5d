import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { describeDifference, differences, equals, isSubset } from "./diff.ts";

describe("equals", () => {
  const cases = [
    { name: "ignores the order of properties", a: { x: 1, y: 2 }, b: { y: 2, x: 1 }, expected: true },
    { name: "treats undefined as absent", a: { x: 1, y: undefined }, b: { x: 1 }, expected: true },
    { name: "does not treat null as absent", a: { x: null }, b: {}, expected: false },
    { name: "respects the order of lists", a: [1, 2], b: [2, 1], expected: false },
    { name: "respects the length of lists", a: [1], b: [1, 2], expected: false },
    { name: "distinguishes a list from an object", a: [], b: {}, expected: false },
    { name: "distinguishes an object from a list", a: {}, b: [], expected: false },
    { name: "distinguishes a number from a string", a: { port: 80 }, b: { port: "80" }, expected: false },
    { name: "compares nested values", a: { a: [{ b: { c: 1 } }] }, b: { a: [{ b: { c: 2 } }] }, expected: false },
  ];
  it.each(cases)("$name", ({ a, b, expected }) => expect(equals(a, b)).toBe(expected));

  it("does not read inherited properties", () => {
    const named = JSON.parse('{"__proto__": {}}');
    expect([equals(named, {}), equals({}, named), isSubset(named, {})]).toEqual([false, false, false]);
    expect(differences(named, {})).toHaveLength(1);
  });
});

describe("isSubset", () => {
  const cases = [
    { name: "ignores properties that are not desired", desired: { a: 1 }, actual: { a: 1, b: 2 }, expected: true },
    { name: "detects a missing property", desired: { a: 1, b: 2 }, actual: { a: 1 }, expected: false },
    { name: "detects a different value", desired: { a: { b: 1 } }, actual: { a: { b: 2 } }, expected: false },
    {
      name: "allows defaults in list elements",
      desired: [{ name: "x" }],
      actual: [{ name: "x", protocol: "TCP" }],
      expected: true,
    },
    { name: "detects a missing element", desired: [1, 2], actual: [1], expected: false },
    { name: "detects an extra element", desired: [1], actual: [1, 2], expected: false },
    { name: "ignores a desired value of undefined", desired: { a: undefined }, actual: { a: 5 }, expected: true },
    { name: "requires a desired empty object to exist", desired: { a: {} }, actual: {}, expected: false },
    { name: "requires a list where a list is desired", desired: [], actual: {}, expected: false },
  ];
  it.each(cases)("$name", ({ desired, actual, expected }) => expect(isSubset(desired, actual)).toBe(expected));
});

describe("differences", () => {
  it("reports each difference with its JSON path", () => {
    const from = {
      metadata: { labels: { "app.kubernetes.io/name": "a" } },
      spec: { replicas: 2, list: [{ x: 1 }, { x: 2 }], gone: true },
    };
    const to = { metadata: { labels: { "app.kubernetes.io/name": "b" } }, spec: { replicas: 3, list: [{ x: 1 }], new: null } };
    expect(differences(from, to).map(describeDifference)).toEqual([
      '$.metadata.labels["app.kubernetes.io/name"]: "a" → "b"',
      "$.spec.replicas: 2 → 3",
      '$.spec.list[1]: {"x":2} → (none)',
      "$.spec.gone: true → (none)",
      "$.spec.new: (none) → null",
    ]);
  });

  it("returns no more differences than the limit", () => expect(differences([1, 2, 3], [4, 5, 6], 2)).toHaveLength(2));

  it("is empty exactly when the values are equal, and equal values are subsets of each other", () => {
    const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)));
    fc.assert(
      fc.property(json, json, (a, b) => {
        expect(differences(a, b).length === 0).toBe(equals(a, b));
        expect(equals(a, structuredClone(a))).toBe(true);
        if (equals(a, b)) expect([isSubset(a, b), isSubset(b, a)]).toEqual([true, true]);
      }),
    );
  });
});
