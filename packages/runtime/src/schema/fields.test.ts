import { describe, expect, it } from "vitest";
import { z } from "zod";
import { celName, exactlyOneOf, rule } from "./fields.ts";

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
