import { expect, it } from "vitest";
import { fieldThatDiffers } from "./same-fields.ts";
import type { StructuralSchema } from "./structural-types.ts";

const object = (properties: Record<string, StructuralSchema>): StructuralSchema => ({ type: "object", properties });
const list = (items: StructuralSchema): StructuralSchema => ({ type: "array", items });
const map = (additionalProperties: StructuralSchema): StructuralSchema => ({ type: "object", additionalProperties });
const text: StructuralSchema = { type: "string" };
const whole: StructuralSchema = { type: "integer" };

it.each([
  { name: "nothing", one: object({ a: text }), other: object({ a: text }), found: undefined },
  { name: "words and rules only", one: { ...text, maxLength: 3 }, other: { ...text, description: "x" }, found: undefined },
  { name: "the order only", one: object({ a: text, b: whole }), other: object({ b: whole, a: text }), found: undefined },
  { name: "a field", one: object({ a: object({ b: text }) }), other: object({ a: object({}) }), found: ".a.b" },
  { name: "in what a list is of", one: object({ a: list(text) }), other: object({ a: list(whole) }), found: ".a[]" },
  { name: "in what a map is of", one: object({ a: map(text) }), other: object({ a: map(whole) }), found: ".a{}" },
  { name: "a map and an object", one: object({ a: map(text) }), other: object({ a: object({}) }), found: ".a{}" },
  {
    name: "in whether anything goes",
    one: object({ a: { type: "object", "x-kubernetes-preserve-unknown-fields": true } }),
    other: object({ a: object({}) }),
    found: ".a",
  },
])("two schemas differ in $name", ({ one, other, found }) => {
  expect(fieldThatDiffers(one, other)).toBe(found);
  expect(fieldThatDiffers(other, one)).toBe(found);
});
