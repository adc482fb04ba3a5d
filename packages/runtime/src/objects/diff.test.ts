import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { describeDifference, differences, equals, isSubset } from "./diff.ts";

describe("equals", () => {
  const cases = [
    { name: "ignores the order of properties", a: { x: 1, y: 2 }, b: { y: 2, x: 1 }, expected: true },
    { name: "takes undefined for absent", a: { x: 1, y: undefined }, b: { x: 1 }, expected: true },
    { name: "does not take null for absent", a: { x: null }, b: {}, expected: false },
    { name: "minds the order of lists", a: [1, 2], b: [2, 1], expected: false },
    { name: "minds the length of lists", a: [1], b: [1, 2], expected: false },
    { name: "does not take a list for an object", a: [], b: {}, expected: false },
    { name: "does not take an object for a list", a: {}, b: [], expected: false },
    { name: "does not take a number for its text", a: { port: 80 }, b: { port: "80" }, expected: false },
    { name: "looks deep", a: { a: [{ b: { c: 1 } }] }, b: { a: [{ b: { c: 2 } }] }, expected: false },
  ];
  it.each(cases)("$name", ({ a, b, expected }) => expect(equals(a, b)).toBe(expected));
});

describe("isSubset", () => {
  const cases = [
    { name: "leaves unmentioned properties to others", desired: { a: 1 }, actual: { a: 1, b: 2 }, expected: true },
    { name: "misses a property", desired: { a: 1, b: 2 }, actual: { a: 1 }, expected: false },
    { name: "sees another value", desired: { a: { b: 1 } }, actual: { a: { b: 2 } }, expected: false },
    {
      name: "lets list elements have defaults",
      desired: [{ name: "x" }],
      actual: [{ name: "x", protocol: "TCP" }],
      expected: true,
    },
    { name: "misses an element", desired: [1, 2], actual: [1], expected: false },
    { name: "sees an element too many", desired: [1], actual: [1, 2], expected: false },
    { name: "wants nothing where undefined is desired", desired: { a: undefined }, actual: { a: 5 }, expected: true },
    { name: "wants an object to be there", desired: { a: {} }, actual: {}, expected: false },
    { name: "wants a list to be a list", desired: [], actual: {}, expected: false },
  ];
  it.each(cases)("$name", ({ desired, actual, expected }) => expect(isSubset(desired, actual)).toBe(expected));
});

describe("differences", () => {
  it("names each place by its JSON path", () => {
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

  it("stops at its limit", () => expect(differences([1, 2, 3], [4, 5, 6], 2)).toHaveLength(2));

  it("finds none exactly where values are equal, and equal values are subsets of each other", () => {
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
