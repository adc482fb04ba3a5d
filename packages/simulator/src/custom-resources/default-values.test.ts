import { expect, it } from "vitest";
import { applySchemaDefaults } from "./default-values.ts";
import { widgetSchema } from "./widget.fixture.ts";

const defaulted = (spec: Record<string, unknown>) => {
  const object = { spec };
  applySchemaDefaults(object, widgetSchema);
  return object.spec;
};

it("fills in defaults where the parent is, also one that a default has made", () => {
  expect(defaulted({})).toEqual({ size: 3, nested: { deep: 7 } });
  expect(defaulted({ absent: {} })).toMatchObject({ absent: { deep: 7 } });
});

it("fills in defaults in every element of a list", () => {
  expect(defaulted({ parts: [{ name: "a" }, { name: "b", size: 2 }] })).toMatchObject({ parts: [{ size: 1 }, { size: 2 }] });
});

it("takes null for missing where null is not allowed", () => {
  expect(defaulted({ size: null, name: null, maybe: null })).toEqual({ size: 3, nested: { deep: 7 }, maybe: null });
});
