import { describe, expect, it } from "vitest";
import { applySchemaDefaults, pruneUnknown } from "./structural-schema.ts";
import { widgetSchema } from "./widget.fixture.ts";

const defaulted = (spec: Record<string, unknown>) => {
  const object = { spec };
  applySchemaDefaults(object, widgetSchema);
  return object.spec;
};

it("sets defaults if the parent exists or was defaulted", () => {
  expect(defaulted({})).toEqual({ size: 3, nested: { deep: 7 } });
  expect(defaulted({ absent: {} })).toMatchObject({ absent: { deep: 7 } });
});

it("sets defaults in every element of a list", () => {
  expect(defaulted({ parts: [{ name: "a" }, { name: "b", size: 2 }] })).toMatchObject({ parts: [{ size: 1 }, { size: 2 }] });
});

it("replaces null by the default in a field that is not nullable", () => {
  expect(defaulted({ size: null, name: null, maybe: null })).toEqual({ size: 3, nested: { deep: 7 }, maybe: null });
});

describe("prune", () => {
  const pruned = (object: Record<string, unknown>) => ({ dropped: pruneUnknown(object, widgetSchema), object });

  it("drops unknown fields and returns their paths", () => {
    const { object, dropped } = pruned({ spec: { size: 1, odd2: 1, parts: [{ name: "a", colour: "red" }] }, extra: 1 });
    expect(object).toEqual({ spec: { size: 1, parts: [{ name: "a" }] } });
    expect(dropped).toEqual(["extra", "spec.odd2", "spec.parts[0].colour"]);
  });

  it("keeps apiVersion, kind, metadata, map keys, and fields below preserve-unknown-fields", () => {
    const object = {
      ...{ apiVersion: "v1", kind: "Widget", metadata: { name: "w", anything: 1 } },
      spec: { map: { a: 1 }, free: { deep: [{ x: 1 }] } },
    };
    expect(pruned(structuredClone(object))).toEqual({ object, dropped: [] });
  });
});
