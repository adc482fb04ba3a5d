import { describe, expect, it } from "vitest";
import { aMemcached } from "./builders.fixture.ts";
import { validateMemcached, withDefaultValues } from "./webhooks.ts";

describe("defaults", () => {
  it("replace size 0 and an empty version", () =>
    expect(withDefaultValues(aMemcached({ size: 0, version: "" })).spec).toMatchObject({ size: 3, version: "1.6" }));
  it("keep values that are set", () => expect(withDefaultValues(aMemcached())).toEqual(aMemcached()));
});

describe("validation rejects", () => {
  const even = aMemcached({ size: 4 });
  const deleted = { ...even, metadata: { ...even.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
  const cases = [
    { name: "an even size", object: even, old: undefined, message: "Cluster size must be an odd number" },
    {
      name: "a version that is no tag",
      object: aMemcached({ version: "a b" }),
      old: undefined,
      message: 'like 1.6.9, found "a b"',
    },
    {
      name: "both at once, both named",
      object: aMemcached({ size: 2, version: "" }),
      old: undefined,
      message: "odd number; expected",
    },
  ];
  it.each(cases)("$name", ({ object, old, message }) =>
    expect(validateMemcached(object, old)).toMatchObject({
      allowed: false,
      code: 422,
      message: expect.stringContaining(message),
    }),
  );

  it.each([
    { name: "an odd size", object: aMemcached(), old: undefined },
    { name: "a write that leaves an old spec as it is", object: even, old: even },
    { name: "the removal of a finalizer", object: deleted, old: aMemcached({ size: 6 }) },
  ])("not: $name", ({ object, old }) => expect(validateMemcached(object, old)).toEqual({ allowed: true }));
});
