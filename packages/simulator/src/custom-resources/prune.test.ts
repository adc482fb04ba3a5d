import { expect, it } from "vitest";
import { pruneUnknown } from "./prune.ts";
import { widgetSchema } from "./widget.fixture.ts";

const pruned = (object: Record<string, unknown>) => ({ dropped: pruneUnknown(object, widgetSchema), object });

it("drops what the schema does not know, and says what", () => {
  const { object, dropped } = pruned({ spec: { size: 1, odd2: 1, parts: [{ name: "a", colour: "red" }] }, extra: 1 });
  expect(object).toEqual({ spec: { size: 1, parts: [{ name: "a" }] } });
  expect(dropped).toEqual(["extra", "spec.odd2", "spec.parts[0].colour"]);
});

it("keeps identity, metadata, the keys of maps, and everything where everything is kept", () => {
  const object = {
    ...{ apiVersion: "v1", kind: "Widget", metadata: { name: "w", anything: 1 } },
    spec: { map: { a: 1 }, free: { deep: [{ x: 1 }] } },
  };
  expect(pruned(structuredClone(object))).toEqual({ object, dropped: [] });
});
