import { describe, expect, it } from "vitest";
import { z } from "zod";
import { celName, exactlyOneOf, labelSelector, rule } from "./fields.ts";

describe("a rule", () => {
  it("keeps all its options, after earlier rules", () => {
    const schema = z
      .int()
      .apply(rule, "self > 0", "must be positive")
      .apply(rule, "self % 2 == 1", "must be odd", { reason: "FieldValueInvalid" });
    expect(z.globalRegistry.get(schema)?.["x-kubernetes-validations"]).toEqual([
      { rule: "self > 0", message: "must be positive" },
      { rule: "self % 2 == 1", message: "must be odd", reason: "FieldValueInvalid" },
    ]);
  });

  it.each([
    { value: {}, good: false },
    { value: { secret: "s" }, good: true },
    { value: { url: "u" }, good: true },
    { value: { secret: "s", url: "u" }, good: false },
  ])("exactlyOneOf is also checked by zod: $value", ({ value, good }) => {
    const field = z.string().optional();
    const source = exactlyOneOf(z.object({ secret: field, url: field, file: field }), "secret", "url", "file");
    expect(source.safeParse(value).success).toBe(good);
  });
});

describe("the name of a field in CEL", () => {
  // From the table in the documentation of CustomResourceDefinitions.
  it.each([
    ["replicas", "replicas"],
    ["x-prop", "x__dash__prop"],
    ["redact__d", "redact__underscores__d"],
    ["a.b/c", "a__dot__b__slash__c"],
    ["string", "string"],
  ])("of %s is %s", (field, name) => expect(celName(field)).toBe(name));

  const words = "true false null in as break const continue else for function";
  const more = "if import let loop package namespace return var void while";
  it.each([...words.split(" "), ...more.split(" ")])("escapes %s, a reserved word of CEL", (word) =>
    expect(celName(word)).toBe(`__${word}__`),
  );
});

describe("a label selector", () => {
  const accepts = (selector: unknown) => labelSelector().safeParse(selector).success;

  it.each([
    { key: "tier", operator: "In", values: ["front", ""] },
    { key: "example.com/tier_1.x", operator: "NotIn", values: ["b"] },
    { key: "tier", operator: "Exists" },
    { key: "tier", operator: "DoesNotExist", values: [] },
  ])("accepts $key $operator $values", (expression) => expect(accepts({ matchExpressions: [expression] })).toBe(true));

  it.each([
    { key: "tier", operator: "In" },
    { key: "tier", operator: "NotIn", values: [] },
    { key: "tier", operator: "Exists", values: ["x"] },
    { key: "tier", operator: "Gt", values: ["1"] },
    { key: "tier!", operator: "Exists" },
    { key: "/tier", operator: "Exists" },
    { key: "tier", operator: "In", values: ["x y"] },
  ])("rejects $key $operator $values", (expression) => expect(accepts({ matchExpressions: [expression] })).toBe(false));

  it("rejects malformed values in matchLabels", () => {
    expect([{ app: "web" }, { app: "-web" }].map((matchLabels) => accepts({ matchLabels }))).toEqual([true, false]);
  });
});
