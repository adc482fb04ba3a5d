import { describe, expect, it } from "vitest";
import { messageOf } from "../server/field-error.ts";
import { celEnvironment } from "./cel.ts";
import { compileRules, ruleErrors } from "./cel-rules.ts";
import type { Rule, StructuralSchema } from "./structural-schema.ts";

const cel = celEnvironment();

const errorsOf = (schema: StructuralSchema, value: unknown, old?: unknown) =>
  messageOf(ruleErrors(value, old, compileRules({ type: "object", properties: { x: schema } }, cel)));

const field = (type: StructuralSchema["type"], rule: string, more: Partial<Rule> = {}): StructuralSchema => ({
  ...(type !== undefined && { type }),
  "x-kubernetes-validations": [{ rule, message: "no", ...more }],
});

describe("a CEL rule", () => {
  it.each([
    { rule: "self % 2 == 1", type: "integer" as const, good: 3, bad: 2 },
    { rule: "self > 1.5", type: "number" as const, good: 2, bad: 1 },
    { rule: "self.matches('(?i)^yes$')", type: "string" as const, good: "YES", bad: "no" },
    { rule: "duration(self) <= duration('1h')", type: "string" as const, good: "0", bad: "1h0m0.000000001s" },
    { rule: "quantity(self).isLessThan(quantity('1Gi'))", type: "string" as const, good: "1023Mi", bad: "1024Mi" },
    { rule: "self.find('[0-9]+') == '42'", type: "string" as const, good: "a42b", bad: "a4b" },
    { rule: "self.replace('a', 'b').startsWith('bb')", type: "string" as const, good: "ab", bad: "ca" },
    { rule: "!has(self.a) || self.a > 1", type: undefined, good: {}, bad: { a: 1 } },
  ])("$rule accepts $good and rejects $bad", ({ rule, type, good, bad }) => {
    const schema =
      type === undefined ? { ...field("object", rule), properties: { a: { type: "integer" as const } } } : field(type, rule);
    expect(errorsOf(schema, { x: good })).toBe("[]");
    expect(errorsOf(schema, { x: bad })).toBe(
      type === undefined ? "x: Invalid value: no" : `x: Invalid value: ${JSON.stringify(bad)}: no`,
    );
  });

  it("accepts both types of an int-or-string", () => {
    const schema = { "x-kubernetes-int-or-string": true, ...field(undefined, "isQuantity(string(self))") };
    expect([errorsOf(schema, { x: 5 }), errorsOf(schema, { x: "5Gi" })]).toEqual(["[]", "[]"]);
    expect(errorsOf(schema, { x: "five" })).toBe('x: Invalid value: "five": no');
  });

  it("reads fields whose escaped names are not identifiers", () => {
    const schema: StructuralSchema = {
      ...field("object", "self.storage__dash__size != ''"),
      properties: { "storage-size": { type: "string" } },
    };
    expect(errorsOf(schema, { x: { "storage-size": "1Gi" } })).toBe("[]");
  });

  it("can use sum, isSorted, max, and indexOf on lists", () => {
    const schema: StructuralSchema = {
      ...field("array", "self.sum() == 6 && self.isSorted() && self.max() == 3 && self.indexOf(2) == 1"),
      items: { type: "integer" },
    };
    expect(errorsOf(schema, { x: [1, 2, 3] })).toBe("[]");
  });

  it("with oldSelf runs only if there is an old value, which is matched by list map keys", () => {
    const items: StructuralSchema = {
      type: "object",
      properties: { name: { type: "string" }, size: field("integer", "self >= oldSelf") },
    };
    const schema: StructuralSchema = {
      type: "array",
      items,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
    };
    const sized = (name: string, size: number) => ({ name, size });
    expect(errorsOf(schema, { x: [sized("b", 1), sized("a", 2)] }, { x: [sized("a", 1)] })).toBe("[]");
    expect(errorsOf(schema, { x: [sized("b", 1), sized("a", 0)] }, { x: [sized("a", 1)] })).toBe(
      "x[1].size: Invalid value: 0: no",
    );
  });

  it("with optionalOldSelf can check whether there is an old value", () => {
    const schema = field("integer", "oldSelf.hasValue() || self == 1", { optionalOldSelf: true });
    expect([errorsOf(schema, { x: 1 }), errorsOf(schema, { x: 2 }, { x: 1 })]).toEqual(["[]", "[]"]);
    expect(errorsOf(schema, { x: 2 })).toContain("no");
  });

  it("does not report unchanged values", () => {
    const schema = field("integer", "self > 5");
    expect(errorsOf(schema, { x: 1, y: 2 }, { x: 1 })).toBe("[]");
  });

  it.each([
    { reason: "FieldValueForbidden", says: "x: Forbidden: no" },
    { reason: "FieldValueRequired", says: "x: Required value: no" },
    { reason: "FieldValueDuplicate", says: "x: Duplicate value: 1" },
  ] as const)("reports the reason $reason", ({ reason, says }) => {
    expect(errorsOf(field("integer", "false", { reason }), { x: 1 })).toBe(says);
  });

  it("uses messageExpression and falls back to message", () => {
    expect(errorsOf(field("integer", "false", { messageExpression: "'found ' + string(self)" }), { x: 1 })).toBe(
      "x: Invalid value: 1: found 1",
    );
    expect(errorsOf(field("integer", "false", { messageExpression: "'a\\nb'" }), { x: 1 })).toBe("x: Invalid value: 1: no");
    expect(errorsOf({ type: "integer", "x-kubernetes-validations": [{ rule: "self > 5" }] }, { x: 1 })).toBe(
      "x: Invalid value: 1: failed rule: self > 5",
    );
  });

  it.each([
    { rule: "self.m['q'] == 1", says: 'x: Invalid value: "object": no such key: q evaluating rule: no' },
    { rule: "self.l[3] == 1", says: 'x: Invalid value: "object": index out of bounds: 3 evaluating rule: no' },
    { rule: "1 / self.z == 1", says: 'x: Invalid value: "object": division by zero evaluating rule: no' },
    {
      rule: "self.l[0] + 'x' == 'y'",
      says: "x: Invalid value: \"object\": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: no",
    },
  ])("reports the evaluation error of $rule", ({ rule, says }) => {
    const properties: StructuralSchema["properties"] = {
      m: { type: "object", additionalProperties: { type: "integer" } },
      l: { type: "array", items: { type: "integer" } },
      z: { type: "integer" },
    };
    expect(errorsOf({ ...field("object", rule), properties }, { x: { m: {}, l: [1], z: 0 } })).toBe(says);
  });
});
