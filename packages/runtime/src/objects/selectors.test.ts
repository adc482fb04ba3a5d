import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatSelector, matches, requirementsOf, type Selector } from "./selectors.ts";

describe("matches", () => {
  const labels = { app: "web", tier: "front", weight: "10", empty: "" };
  const cases: readonly { readonly selector: Selector; readonly expected: boolean }[] = [
    { selector: "", expected: true },
    { selector: "app=web", expected: true },
    { selector: "app==web", expected: true },
    { selector: "app=api", expected: false },
    { selector: "app=web,tier=back", expected: false },
    { selector: " app = web , tier = front ", expected: true },
    { selector: "app!=api", expected: true },
    { selector: "absent!=api", expected: true },
    { selector: "app in (api, web)", expected: true },
    { selector: "absent in (api)", expected: false },
    { selector: "app notin (api, web)", expected: false },
    { selector: "absent notin (api)", expected: true },
    { selector: "app", expected: true },
    { selector: "absent", expected: false },
    { selector: "!absent", expected: true },
    { selector: "!app", expected: false },
    { selector: "empty=", expected: true },
    { selector: "app=,tier=front", expected: false },
    { selector: "empty in ()", expected: true },
    { selector: "empty in (,x)", expected: true },
    { selector: "in in (in,notin)", expected: false },
    { selector: "weight>9", expected: true },
    { selector: "weight>10", expected: false },
    { selector: "weight<10", expected: false },
    { selector: "weight<11", expected: true },
    { selector: "weight<9", expected: false },
    { selector: "app>1", expected: false },
    { selector: "absent<1", expected: false },
    { selector: "toString", expected: false },
    { selector: {}, expected: true },
    { selector: { matchLabels: { app: "web" } }, expected: true },
    { selector: { matchLabels: { app: "web", tier: "back" } }, expected: false },
    { selector: { matchExpressions: [{ key: "app", operator: "In", values: ["api", "web"] }] }, expected: true },
    { selector: { matchExpressions: [{ key: "absent", operator: "NotIn", values: ["x"] }] }, expected: true },
    { selector: { matchExpressions: [{ key: "app", operator: "DoesNotExist" }] }, expected: false },
    { selector: { matchLabels: { app: "web" }, matchExpressions: [{ key: "tier", operator: "Exists" }] }, expected: true },
  ];
  it.each(cases)("$selector → $expected", ({ selector, expected }) => expect(matches(selector, labels)).toBe(expected));

  it("treats undefined labels as empty", () => {
    expect([matches("", undefined), matches("app", undefined), matches("!app", undefined)]).toEqual([true, false, true]);
  });
});

describe("selectors that the API server rejects", () => {
  const cases: readonly { readonly selector: Selector; readonly message: string }[] = [
    { selector: ",", message: "label selector ',': expected a label key, found ','" },
    { selector: "a,", message: "label selector 'a,': expected a label key, found the end" },
    { selector: "a b", message: "label selector 'a b': expected an operator after a, found 'b'" },
    { selector: "a in x", message: "label selector 'a in x': expected '(', found 'x'" },
    { selector: "a in (x", message: "label selector 'a in (x': expected ')', found the end" },
    { selector: "a in (x y)", message: "label selector 'a in (x y)': expected ')', found 'y'" },
    { selector: "a=b=c", message: "label selector 'a=b=c': expected ',', found '='" },
    { selector: "!a=b", message: "label selector '!a=b': expected ',', found '='" },
    { selector: "=x", message: "label selector '=x': expected a label key, found '='" },
    { selector: "a=x!", message: "label selector 'a=x!': expected ',', found '!'" },
    { selector: "-a", message: "label selector: expected a label key, found '-a'" },
    { selector: "a=b/c", message: "label selector: expected a value for a, found 'b/c'" },
    { selector: "a>x", message: "label selector: expected one whole number for a, found 'x'" },
    { selector: { matchLabels: { "": "x" } }, message: "label selector: expected a label key, found ''" },
    {
      selector: { matchExpressions: [{ key: "a", operator: "In" }] },
      message: "label selector: expected at least one value for a, found ''",
    },
    {
      selector: { matchExpressions: [{ key: "a", operator: "Exists", values: ["x"] }] },
      message: "label selector: expected no values for a, found 'x'",
    },
    {
      selector: { matchExpressions: [{ key: "a", operator: "in" as "In", values: ["x"] }] },
      message: "label selector: expected an operator among In, NotIn, Exists and DoesNotExist instead of in for a, found 'x'",
    },
  ];
  it.each(cases)("$selector", ({ selector, message }) => {
    expect(() => requirementsOf(selector)).toThrow(expect.objectContaining({ code: "SELECTOR_INVALID", message }));
  });
});

describe("formatSelector", () => {
  const cases: readonly { readonly selector: Selector; readonly expected: string }[] = [
    { selector: { matchLabels: { app: "web", tier: "" } }, expected: "app=web,tier=" },
    { selector: { matchExpressions: [{ key: "a", operator: "In", values: ["x", "y"] }] }, expected: "a in (x,y)" },
    { selector: { matchExpressions: [{ key: "a", operator: "NotIn", values: ["x"] }] }, expected: "a!=x" },
    { selector: "a ,! b, c > 5", expected: "a,!b,c>5" },
    { selector: {}, expected: "" },
  ];
  it.each(cases)("$selector → '$expected'", ({ selector, expected }) => expect(formatSelector(selector)).toBe(expected));

  it("formats selectors so that they parse to the same requirements", () => {
    const key = fc.constantFrom("app", "example.com/tier", "in", "notin");
    const values = fc.uniqueArray(fc.constantFrom("", "x", "in", "a.b"), { minLength: 1 }).map((each) => each.toSorted());
    const requirement = fc.oneof(
      fc.record({ key, operator: fc.constantFrom("In" as const, "NotIn" as const), values }),
      fc.record({ key, operator: fc.constantFrom("Exists" as const, "DoesNotExist" as const), values: fc.constant([]) }),
      fc.record({
        key,
        operator: fc.constantFrom("Gt" as const, "Lt" as const),
        values: fc.integer().map((n) => [`${Math.abs(n)}`]),
      }),
    );
    fc.assert(
      fc.property(fc.array(requirement), (requirements) => {
        expect(requirementsOf(formatSelector(requirements))).toEqual(requirements);
      }),
    );
  });
});
