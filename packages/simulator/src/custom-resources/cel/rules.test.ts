import { describe, expect, it } from "vitest";
import { sentenceOf } from "../../server/field-error.ts";
import type { Rule, StructuralSchema } from "../structural-schema.ts";
import { celEnvironment } from "./library.ts";
import { compileRules, ruleErrors } from "./rules.ts";

const cel = celEnvironment();

const judged = (schema: StructuralSchema, value: unknown, old?: unknown) =>
  sentenceOf(ruleErrors(value, old, compileRules({ type: "object", properties: { x: schema } }, cel)));

const field = (type: StructuralSchema["type"], rule: string, more: Partial<Rule> = {}): StructuralSchema => ({
  ...(type !== undefined && { type }),
  "x-kubernetes-validations": [{ rule, message: "no", ...more }],
});

describe("a rule", () => {
  it.each([
    { rule: "self % 2 == 1", type: "integer" as const, good: 3, bad: 2 },
    { rule: "self > 1.5", type: "number" as const, good: 2, bad: 1 },
    { rule: "self.matches('(?i)^yes$')", type: "string" as const, good: "YES", bad: "no" },
    { rule: "duration(self) <= duration('1h')", type: "string" as const, good: "0", bad: "1h0m0.000000001s" },
    { rule: "quantity(self).isLessThan(quantity('1Gi'))", type: "string" as const, good: "1023Mi", bad: "1024Mi" },
    { rule: "self.find('[0-9]+') == '42'", type: "string" as const, good: "a42b", bad: "a4b" },
    { rule: "self.replace('a', 'b').startsWith('bb')", type: "string" as const, good: "ab", bad: "ca" },
    { rule: "!has(self.a) || self.a > 1", type: undefined, good: {}, bad: { a: 1 } },
  ])("$rule judges $good and $bad", ({ rule, type, good, bad }) => {
    const schema =
      type === undefined ? { ...field("object", rule), properties: { a: { type: "integer" as const } } } : field(type, rule);
    expect(judged(schema, { x: good })).toBe("[]");
    expect(judged(schema, { x: bad })).toBe(
      type === undefined ? "x: Invalid value: no" : `x: Invalid value: ${JSON.stringify(bad)}: no`,
    );
  });

  it("reads numbers and their names", () => {
    const schema = { "x-kubernetes-int-or-string": true, ...field(undefined, "isQuantity(string(self))") };
    expect([judged(schema, { x: 5 }), judged(schema, { x: "5Gi" })]).toEqual(["[]", "[]"]);
    expect(judged(schema, { x: "five" })).toBe('x: Invalid value: "five": no');
  });

  it("reads names that are no identifiers", () => {
    const schema: StructuralSchema = {
      ...field("object", "self.storage__dash__size != ''"),
      properties: { "storage-size": { type: "string" } },
    };
    expect(judged(schema, { x: { "storage-size": "1Gi" } })).toBe("[]");
  });

  it("sums, sorts and finds", () => {
    const schema: StructuralSchema = {
      ...field("array", "self.sum() == 6 && self.isSorted() && self.max() == 3 && self.indexOf(2) == 1"),
      items: { type: "integer" },
    };
    expect(judged(schema, { x: [1, 2, 3] })).toBe("[]");
  });

  it("about the past is asked only where there is one, also of elements with keys", () => {
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
    expect(judged(schema, { x: [sized("b", 1), sized("a", 2)] }, { x: [sized("a", 1)] })).toBe("[]");
    expect(judged(schema, { x: [sized("b", 1), sized("a", 0)] }, { x: [sized("a", 1)] })).toBe("x[1].size: Invalid value: 0: no");
  });

  it("may ask whether there is a past", () => {
    const schema = field("integer", "oldSelf.hasValue() || self == 1", { optionalOldSelf: true });
    expect([judged(schema, { x: 1 }), judged(schema, { x: 2 }, { x: 1 })]).toEqual(["[]", "[]"]);
    expect(judged(schema, { x: 2 })).toContain("no");
  });

  it("is not repeated about what has not changed", () => {
    const schema = field("integer", "self > 5");
    expect(judged(schema, { x: 1, y: 2 }, { x: 1 })).toBe("[]");
  });

  it.each([
    { reason: "FieldValueForbidden", says: "x: Forbidden: no" },
    { reason: "FieldValueRequired", says: "x: Required value: no" },
    { reason: "FieldValueDuplicate", says: "x: Duplicate value: 1" },
  ])("gives the reason $reason", ({ reason, says }) => {
    expect(judged(field("integer", "false", { reason }), { x: 1 })).toBe(says);
  });

  it("composes its message, and falls back to the plain one", () => {
    expect(judged(field("integer", "false", { messageExpression: "'found ' + string(self)" }), { x: 1 })).toBe(
      "x: Invalid value: 1: found 1",
    );
    expect(judged(field("integer", "false", { messageExpression: "'a\\nb'" }), { x: 1 })).toBe("x: Invalid value: 1: no");
    expect(judged({ type: "integer", "x-kubernetes-validations": [{ rule: "self > 5" }] }, { x: 1 })).toBe(
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
  ])("that cannot be judged says why: $rule", ({ rule, says }) => {
    const properties: StructuralSchema["properties"] = {
      m: { type: "object", additionalProperties: { type: "integer" } },
      l: { type: "array", items: { type: "integer" } },
      z: { type: "integer" },
    };
    expect(judged({ ...field("object", rule), properties }, { x: { m: {}, l: [1], z: 0 } })).toBe(says);
  });
});
