import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareVersions, isAtLeast, isOlder } from "./versions.ts";

describe("resource versions", () => {
  const cases = [
    { name: "are equal to themselves", a: "17", b: "17", order: 0 },
    { name: "are equal to themselves even when opaque", a: "z", b: "z", order: 0 },
    { name: "are numbers, not words: 9 comes before 10", a: "9", b: "10", order: -1 },
    { name: "keep their order above 2^53", a: "9007199254740993", b: "9007199254740992", order: 1 },
    { name: "have no order when one is opaque", a: "12", b: "etag-a", order: undefined },
    { name: "have no order with a leading zero, which no server writes", a: "012", b: "13", order: undefined },
    { name: "have no order with the empty version", a: "", b: "13", order: undefined },
  ];
  it.each(cases)("$name", ({ a, b, order }) => {
    const found = compareVersions(a, b);
    expect(found === undefined ? undefined : Math.sign(found)).toBe(order);
  });

  it("are ordered as big integers are", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 80n }), fc.bigInt({ min: 1n, max: 2n ** 80n }), (a, b) => {
        expect(isOlder(`${a}`, `${b}`)).toBe(a < b);
        expect(isAtLeast(`${a}`, `${b}`)).toBe(a >= b);
      }),
    );
  });
});
