import { describe, expect, it } from "vitest";
import { draftOf, type JsonObject } from "../json.ts";
import { builtInKinds } from "./built-in.ts";
import { applyDefaults, type Defaults } from "./defaults.ts";

const cases: readonly { name: string; table: Defaults; object: JsonObject; becomes: JsonObject }[] = [
  { name: "sets a missing field", table: { a: 1 }, object: {}, becomes: { a: 1 } },
  { name: "keeps an existing field", table: { a: 1 }, object: { a: 0 }, becomes: { a: 0 } },
  { name: "treats null as missing", table: { a: 1 }, object: { a: null }, becomes: { a: 1 } },
  { name: "computes a value", table: { b: ({ a }: JsonObject) => a }, object: { a: 2 }, becomes: { a: 2, b: 2 } },
  { name: "sets nothing if the computed value is undefined", table: { b: () => undefined }, object: {}, becomes: {} },
  { name: "creates an object marked with !", table: { "a!": { b: 1 } }, object: {}, becomes: { a: { b: 1 } } },
  { name: "does not create an object marked with ?", table: { "a?": { b: 1 } }, object: {}, becomes: {} },
  { name: "sets defaults in an existing object", table: { "a?": { b: 1 } }, object: { a: {} }, becomes: { a: { b: 1 } } },
  {
    name: "sets defaults in each element of a list",
    table: { "a[]": { b: 1 } },
    object: { a: [{}, { b: 2 }] },
    becomes: { a: [{ b: 1 }, { b: 2 }] },
  },
  {
    name: "can use values of earlier entries",
    table: { a: 1, b: ({ a }: JsonObject) => a },
    object: {},
    becomes: { a: 1, b: 1 },
  },
];

describe("a table of defaults", () => {
  it.each(cases)("$name", ({ table, object, becomes }) => {
    applyDefaults(object, table);
    expect(object).toEqual(becomes);
  });

  it("never shares a value between two objects", () => {
    const table = { list: [{}], computed: () => table.list };
    const [a, b]: JsonObject[] = [{}, {}];
    applyDefaults(a ?? {}, table);
    applyDefaults(b ?? {}, table);
    expect(a?.list).not.toBe(b?.list);
    expect(a?.computed).not.toBe(table.list);
  });
});

it.each(builtInKinds.map((kind) => [`${kind.group}/${kind.kind}`, kind] as const))(
  "the defaults of %s are idempotent",
  (_name, { defaults, version, kind }) => {
    const once = { apiVersion: version, kind, metadata: { name: "x" }, spec: { template: {} } };
    defaults?.(once);
    const twice = draftOf(once);
    defaults?.(twice);
    expect(twice).toEqual(once);
  },
);
