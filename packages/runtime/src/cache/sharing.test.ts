import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sharing } from "./sharing.ts";

const replica = (name: string, ready: boolean) => ({
  metadata: { name, labels: { app: "web" } },
  spec: { containers: [{ name: "web", image: "web:1", env: [{ name: "A", value: "1" }] }] },
  status: { conditions: [{ type: "Ready", status: ready }, { type: "Scheduled" }] },
});

describe("objects that are alike", () => {
  it("share what they have in common, and only that", () => {
    const first = replica("web-1", true);
    const second = sharing(replica("web-2", false), first);
    expect(second).toEqual(replica("web-2", false));
    expect(second.spec).toBe(first.spec);
    expect(second.metadata.labels).toBe(first.metadata.labels);
    expect(second.status.conditions[1]).toBe(first.status.conditions[1]);
    expect(second.status.conditions[0]).not.toBe(first.status.conditions[0]);
    expect(first).toEqual(replica("web-1", true));
  });

  it("are one if they are equal", () => {
    const first = replica("web-1", true);
    expect(sharing(replica("web-1", true), first)).toBe(first);
  });

  const cases = [
    { name: "an extra property", object: { a: 1, b: 2 }, like: { a: 1 } },
    { name: "a missing property", object: { a: 1 }, like: { a: 1, b: 2 } },
    { name: "a longer list", object: [1, 2], like: [1] },
    { name: "a shorter list", object: [1], like: [1, 2] },
    { name: "a list and an object", object: [1], like: { 0: 1 } },
    { name: "null and an object", object: { a: null }, like: { a: {} } },
    { name: "text and a number", object: { port: "80" }, like: { port: 80 } },
  ];
  it.each(cases)("stay apart: $name", ({ object, like }) => {
    const before = structuredClone(object);
    const otherBefore = structuredClone(like);
    const shared = sharing(object, like);
    expect([shared, like]).toEqual([before, otherBefore]);
    expect(shared).not.toBe(like);
  });

  it("leave what is frozen as it is", () => {
    const frozen = Object.freeze({ a: "x", b: "y" });
    expect(sharing({ part: frozen }, { part: { a: "x", b: "z" } }).part).toBe(frozen);
  });

  it("never change what either of them says", () => {
    const json = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)));
    fc.assert(
      fc.property(json, json, (object, like) => {
        const [before, otherBefore] = [structuredClone(object), structuredClone(like)];
        expect(sharing(object, like)).toEqual(before);
        expect(like).toEqual(otherBefore);
      }),
    );
  });
});
