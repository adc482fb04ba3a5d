// CEL rules in a schema (x-kubernetes-validations).
import { beforeAll, describe, expect, it } from "vitest";
import { define, definition } from "./definitions.ts";
import { CustomResourceDefinition } from "./kinds.ts";
import { at, merge, refusal, world } from "./world.ts";

const here = world();
const rules = (...list: readonly object[]) => ({ "x-kubernetes-validations": list });
const spec = {
  type: "object",
  properties: {
    min: { type: "integer" },
    max: { type: "integer" },
    fixed: { type: "string", ...rules({ rule: "self == oldSelf", message: "is immutable" }) },
    name: {
      type: "string",
      maxLength: 30,
      ...rules({ rule: "self.startsWith('w-') && self.matches('^[a-z-]+$')", messageExpression: "'expected w-, found ' + self" }),
    },
    items: {
      ...{
        type: "array",
        maxItems: 5,
        items: { type: "object", properties: { id: { type: "string", maxLength: 10 }, n: { type: "integer" } } },
      },
      ...rules(
        { rule: "self.all(x, x.n >= 0)", message: "all n must be positive" },
        { rule: "self.map(x, x.n).sum() <= 10", message: "at most 10 in sum" },
      ),
    },
    one: { type: "string", maxLength: 5 },
    other: { type: "string", maxLength: 5 },
    size: {
      "x-kubernetes-int-or-string": true,
      ...rules({ rule: "quantity(string(self)).isGreaterThan(quantity('1Mi'))", message: "more than 1Mi" }),
    },
    wait: { type: "string", format: "duration", ...rules({ rule: "self >= duration('1s')", message: "at least a second" }) },
    tags: {
      type: "object",
      maxProperties: 5,
      additionalProperties: { type: "string", maxLength: 5 },
      ...rules({ rule: "self.all(k, k != 'bad')", message: "no bad tags" }),
    },
  },
  ...rules(
    { rule: "!has(self.min) || !has(self.max) || self.min <= self.max", message: "min must not be above max", fieldPath: ".min" },
    { rule: "[has(self.one), has(self.other)].filter(x, x).size() <= 1", message: "one of them only" },
    { rule: "has(oldSelf.max) ? has(self.max) : true", message: "max cannot go", reason: "FieldValueForbidden" },
  ),
};
const widgets = definition("rules.memhog.test", { spec });
const Widget = widgets.kind;
const make = (fields: object) => here.make(Widget, { spec: fields });

beforeAll(() => define(here, widgets));

describe("a CEL rule", () => {
  it.each([
    {
      name: "compares two fields",
      good: { min: 1, max: 2 },
      bad: { min: 3, max: 2 },
      field: "spec.min",
      says: "min must not be above max",
    },
    {
      name: "tests whether a field exists",
      good: { one: "a" },
      bad: { one: "a", other: "b" },
      field: "spec",
      says: "one of them only",
    },
    {
      name: "uses string functions",
      good: { name: "w-a" },
      bad: { name: "a" },
      field: "spec.name",
      says: "expected w-, found a",
    },
    {
      name: "checks every item of a list",
      good: { items: [{ n: 1 }] },
      bad: { items: [{ n: -1 }] },
      field: "spec.items",
      says: "all n must be positive",
    },
    {
      name: "adds numbers",
      good: { items: [{ n: 5 }, { n: 5 }] },
      bad: { items: [{ n: 5 }, { n: 6 }] },
      field: "spec.items",
      says: "at most 10 in sum",
    },
    { name: "parses quantities", good: { size: "2Mi" }, bad: { size: "1Ki" }, field: "spec.size", says: "more than 1Mi" },
    { name: "parses durations", good: { wait: "2s" }, bad: { wait: "10ms" }, field: "spec.wait", says: "at least a second" },
    {
      name: "checks every key of a map",
      good: { tags: { a: "b" } },
      bad: { tags: { bad: "b" } },
      field: "spec.tags",
      says: "no bad tags",
    },
  ])("$name", async ({ good, bad, field, says }) => {
    expect((await make(good)).spec).toEqual(good);
    const refused = await refusal(make(bad));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.causes).toMatchObject([{ reason: "FieldValueInvalid", field }]);
    expect(refused.causes[0]?.message).toContain(says);
  });

  it("that uses oldSelf runs only on updates", async () => {
    const made = await make({ fixed: "a" });
    const refused = await refusal(here.client.patch(Widget, at(made), merge({ spec: { fixed: "b" } })));
    expect(refused.causes).toMatchObject([{ field: "spec.fixed", message: 'Invalid value: "b": is immutable' }]);
    expect((await here.client.patch(Widget, at(made), merge({ spec: { fixed: null } }))).spec.fixed).toBeUndefined();
  });

  it("sets its own reason", async () => {
    const made = await make({ max: 5 });
    const refused = await refusal(here.client.patch(Widget, at(made), merge({ spec: { max: null, min: 1 } })));
    expect(refused.causes).toMatchObject([{ reason: "FieldValueForbidden", field: "spec" }]);
    expect(refused.causes[0]?.message).toContain("max cannot go");
  });

  it("does not run while the object violates the schema", async () => {
    const refused = await refusal(make({ min: "x", max: 1 }));
    expect(refused.causes.map(({ message }) => message).join()).not.toContain("above max");
  });

  it("that does not compile makes the definition invalid", async () => {
    const broken = definition("broken.memhog.test", {
      spec: { type: "object", properties: {}, ...rules({ rule: "self.nothing ==" }) },
    });
    const refused = await refusal(here.client.create(CustomResourceDefinition, broken.crd, { dryRun: true }));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.causes[0]).toMatchObject({
      field: "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule",
    });
    expect(refused.causes[0]?.message).toContain("compilation failed");
  });
});
