import { describe, expect, it } from "vitest";
import { hashOf, Settled } from "./settled.ts";

describe("what we want", () => {
  it("is so if it is there, with whatever the server added", () => {
    const settled = new Settled();
    const actual = { spec: { replicas: 3, strategy: { type: "RollingUpdate" } } };
    expect([settled.isSo("u", { spec: { replicas: 3 } }, actual), settled.isSo("u", { spec: { replicas: 2 } }, actual)]).toEqual([
      true,
      false,
    ]);
  });

  const rewritten = [
    { name: "a quantity", wanted: { cpu: "1000m" }, stored: { cpu: "1" }, drifted: { cpu: "2" } },
    {
      name: "an empty map that is dropped",
      wanted: { a: 1, labels: {} },
      stored: { a: 1 },
      drifted: { a: 2 },
    },
    { name: "a list that others add to", wanted: [{ n: "a" }], stored: [{ n: "a" }, { n: "b" }], drifted: [{ n: "b" }] },
    { name: "a field that the cache does not keep", wanted: { a: 1, b: 2 }, stored: { a: 1 }, drifted: { a: 3 } },
  ];
  it.each(rewritten)("is as good as it gets once it was written: $name", ({ wanted, stored, drifted }) => {
    const settled = new Settled();
    expect(settled.isSo("u", wanted, stored)).toBe(false);
    settled.remember("u", wanted, stored);
    expect(settled.isSo("u", wanted, stored)).toBe(true);
    expect(settled.isSo("u", wanted, drifted)).toBe(false);
    expect(settled.isSo("another", wanted, stored)).toBe(false);
    settled.forget("u");
    expect(settled.isSo("u", wanted, stored)).toBe(false);
  });

  it("stays so whatever others add to it, within lists, too", () => {
    const settled = new Settled();
    const wanted = { containers: [{ cpu: "1000m" }] };
    settled.remember("u", wanted, { containers: [{ cpu: "1" }] });
    expect(settled.isSo("u", wanted, { containers: [{ cpu: "1", image: "theirs" }], more: "of it" })).toBe(true);
    expect(settled.isSo("u", wanted, { containers: [{ cpu: "2" }] })).toBe(false);
  });

  it("is not as good as it gets once it was better", () => {
    const settled = new Settled();
    settled.remember("u", { a: 1 }, { a: 2 });
    settled.remember("u", { a: 1 }, { a: 1 });
    expect(settled.isSo("u", { a: 1 }, { a: 2 })).toBe(false);
  });

  it("is written again when something else is wanted", () => {
    const settled = new Settled();
    settled.remember("u", { cpu: "1000m" }, { cpu: "1" });
    expect(settled.isSo("u", { cpu: "1001m" }, { cpu: "1" })).toBe(false);
  });

  it("has one hash, whatever the order of its properties", () => {
    expect(hashOf({ a: 1, b: [{ c: 2, d: undefined }] })).toBe(hashOf({ b: [{ c: 2 }], a: 1 }));
    expect(hashOf({ a: [1, 2] })).not.toBe(hashOf({ a: [2, 1] }));
  });
});
