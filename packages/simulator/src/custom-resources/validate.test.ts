import { expect, it } from "vitest";
import { messageOf } from "../server/field-error.ts";
import { listInvariantErrors } from "./validate.ts";
import { widgetSchema } from "./widget.fixture.ts";

it.each([
  { spec: { tags: ["a", "b", "a", "a"] }, says: 'spec.tags[2]: Duplicate value: "a"' },
  { spec: { parts: [{ name: "a" }, { name: "a", size: 2 }] }, says: 'spec.parts[1]: Duplicate value: {"name":"a"}' },
  { spec: { parts: ["x"] }, says: 'spec.parts[0]: Invalid value: "x": must be an object for an array of list-type map' },
  { spec: { tags: ["a"], parts: [{ name: "a" }, { name: "b" }] }, says: "[]" },
])("list invariants of $spec report $says", ({ spec, says }) => {
  expect(messageOf(listInvariantErrors({ spec }, widgetSchema))).toBe(says);
});
