import { describe, expect, it } from "vitest";
import { AppliedChildren, hashOf } from "./settled.ts";

describe("AppliedChildren", () => {
  it("accepts an object with everything desired plus fields that the server added", () => {
    const settled = new AppliedChildren();
    const actual = { spec: { replicas: 3, strategy: { type: "RollingUpdate" } } };
    expect([
      settled.isApplied("u", { spec: { replicas: 3 } }, actual),
      settled.isApplied("u", { spec: { replicas: 2 } }, actual),
    ]).toEqual([true, false]);
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
  it.each(rewritten)("accepts the stored form after one write, until it drifts: $name", ({ wanted, stored, drifted }) => {
    const settled = new AppliedChildren();
    expect(settled.isApplied("u", wanted, stored)).toBe(false);
    settled.remember("u", wanted, stored);
    expect(settled.isApplied("u", wanted, stored)).toBe(true);
    expect(settled.isApplied("u", wanted, drifted)).toBe(false);
    expect(settled.isApplied("another", wanted, stored)).toBe(false);
    settled.forget("u");
    expect(settled.isApplied("u", wanted, stored)).toBe(false);
  });

  it("ignores fields that other writers add, within lists too", () => {
    const settled = new AppliedChildren();
    const wanted = { containers: [{ cpu: "1000m" }] };
    settled.remember("u", wanted, { containers: [{ cpu: "1" }] });
    expect(settled.isApplied("u", wanted, { containers: [{ cpu: "1", image: "theirs" }], more: "of it" })).toBe(true);
    expect(settled.isApplied("u", wanted, { containers: [{ cpu: "2" }] })).toBe(false);
  });

  it("rejects a drifted object after an exact match was stored", () => {
    const settled = new AppliedChildren();
    settled.remember("u", { a: 1 }, { a: 2 });
    settled.remember("u", { a: 1 }, { a: 1 });
    expect(settled.isApplied("u", { a: 1 }, { a: 2 })).toBe(false);
  });

  it("rejects an earlier result when the desired state changes", () => {
    const settled = new AppliedChildren();
    settled.remember("u", { cpu: "1000m" }, { cpu: "1" });
    expect(settled.isApplied("u", { cpu: "1001m" }, { cpu: "1" })).toBe(false);
  });

  it("hashes equal objects equally, whatever the order of their properties", () => {
    expect(hashOf({ a: 1, b: [{ c: 2, d: undefined }] })).toBe(hashOf({ b: [{ c: 2 }], a: 1 }));
    expect(hashOf({ a: [1, 2] })).not.toBe(hashOf({ a: [2, 1] }));
  });
});
