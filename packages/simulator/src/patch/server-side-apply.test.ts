import { describe, expect, it } from "vitest";
import type { ApiObject } from "../json.ts";
import { applied, deployments, owners, wide, written } from "./patching.fixture.ts";

describe("an applied configuration", () => {
  it("creates what is not there, and owns every leaf of it", () => {
    const object = applied(undefined, wide({ replicas: 1, parts: [{ name: "a" }], labels: { x: "1" } }));
    expect(object.spec).toEqual({ replicas: 1, parts: [{ name: "a" }], labels: { x: "1" } });
    expect(owners(object)).toEqual({
      "me Apply": {
        "f:spec": {
          "f:labels": { "f:x": {} },
          "f:parts": { 'k:{"name":"a"}': { ".": {}, "f:name": {} } },
          "f:replicas": {},
        },
      },
    });
  });

  it("applied again changes nothing, not even a time", () => {
    const once = applied(undefined, wide({ replicas: 1 }));
    expect(applied(once, wide({ replicas: 1 }), { now: "2026-01-01T00:00:09Z" })).toEqual(once);
  });

  it("removes what it no longer mentions", () => {
    const before = applied(undefined, wide({ replicas: 1, labels: { x: "1", y: "2" }, tags: ["a", "b"] }));
    expect(applied(before, wide({ labels: { y: "2" }, tags: ["b"] })).spec).toEqual({ labels: { y: "2" }, tags: ["b"] });
  });

  it("removes a field whose last part it drops", () => {
    const before = applied(undefined, wide({ replicas: 1, labels: { x: "1" } }));
    expect(applied(before, wide({ replicas: 1 })).spec).toEqual({ replicas: 1 });
  });

  it("keeps what somebody else owns too, and what nobody owns", () => {
    const mine = applied(undefined, wide({ labels: { x: "1", y: "2" } }));
    const ours = applied(mine, wide({ labels: { x: "1" } }), { manager: "you" });
    expect(applied(ours, wide({})).spec).toEqual({ labels: { x: "1" } });
  });

  it("merges elements by key, in its own order where the two disagree", () => {
    const before = applied(undefined, wide({ parts: [{ name: "a" }, { name: "b" }, { name: "c" }] }));
    const after = applied(before, wide({ parts: [{ name: "c", size: 3 }, { name: "d" }] }), { manager: "you" });
    expect(after.spec).toEqual({ parts: [{ name: "a" }, { name: "b" }, { name: "c", size: 3 }, { name: "d" }] });
  });

  it("replaces what is atomic as a whole, and must own it", () => {
    const before = applied(undefined, wide({ order: ["a"], selector: { app: "x" } }));
    expect(() => applied(before, wide({ order: ["b"] }), { manager: "you" })).toThrow('conflict with "me": .spec.order');
    expect(applied(before, wide({ selector: { app: "y" } }), { manager: "you", force: true }).spec).toEqual({
      order: ["a"],
      selector: { app: "y" },
    });
  });

  it("owns free-form fields at every level", () => {
    expect(owners(applied(undefined, wide({ free: { a: { b: 1 } } })))).toEqual({
      "me Apply": { "f:spec": { "f:free": { "f:a": { ".": {}, "f:b": {} } } } },
    });
  });

  it("to the status owns nothing else", () => {
    const before = applied(undefined, wide({ replicas: 1 }));
    const after = applied(
      before,
      { ...wide({ replicas: 2 }), status: { phase: "Running" } },
      { manager: "you", subresource: "status" },
    );
    expect(owners(after)["you Apply status"]).toEqual({ "f:status": { "f:phase": {} } });
  });

  it("takes an object without managers for somebody's before the first apply", () => {
    const bare = { ...wide({ replicas: 1 }), metadata: { name: "w", uid: "1" } } as ApiObject;
    expect(() => applied(bare, wide({ replicas: 2 }))).toThrow(
      'conflict with "before-first-apply" using example.com/v1: .spec.replicas',
    );
  });
});

describe("a conflict", () => {
  const before = applied(undefined, wide({ replicas: 1, labels: { x: "1" } }));

  it("of one field is told in one sentence", () => {
    expect(() => applied(before, wide({ replicas: 2 }), { manager: "you" })).toThrow(
      'Apply failed with 1 conflict: conflict with "me": .spec.replicas',
    );
  });

  it("of several is a list, with a cause for each", () => {
    const third = written(before, { ...before, spec: { replicas: 1, labels: { x: "1" }, tags: ["a"] } }, { manager: "third" });
    const attempt = () => applied(third, wide({ replicas: 2, labels: { x: "2" } }), { manager: "you" });
    expect(attempt).toThrow('Apply failed with 2 conflicts: conflicts with "me":\n- .spec.replicas\n- .spec.labels.x');
    expect(attempt).toThrowError(
      expect.objectContaining({
        body: expect.objectContaining({
          code: 409,
          details: {
            causes: [
              { reason: "FieldManagerConflict", message: 'conflict with "me"', field: ".spec.replicas" },
              { reason: "FieldManagerConflict", message: 'conflict with "me"', field: ".spec.labels.x" },
            ],
          },
        }),
      }),
    );
  });

  it("is none if the value is the same: then both own it", () => {
    const both = applied(before, wide({ replicas: 1 }), { manager: "you" });
    expect(Object.keys(owners(both))).toEqual(["you Apply", "me Apply"]);
  });

  it("goes to whoever forces it", () => {
    const forced = applied(before, wide({ replicas: 2 }), { manager: "you", force: true });
    expect(owners(forced)).toEqual({
      "me Apply": { "f:spec": { "f:labels": { "f:x": {} } } },
      "you Apply": { "f:spec": { "f:replicas": {} } },
    });
  });
});

describe("kubectl", () => {
  const annotation = "kubectl.kubernetes.io/last-applied-configuration";
  const config = (replicas: number) => ({
    ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { annotations: {}, name: "d" }, spec: { replicas } },
  });
  const made = written(
    undefined,
    { ...config(1), metadata: { name: "d", annotations: { [annotation]: JSON.stringify(config(1)) } } } as ApiObject,
    { kind: deployments, manager: "kubectl-client-side-apply" },
  );

  it("takes over on the server what it applied as a client, and keeps the annotation up to date", () => {
    const after = applied(made, config(3), { kind: deployments, manager: "kubectl" });
    expect(after.spec).toEqual({ replicas: 3 });
    expect(JSON.parse(after.metadata.annotations?.[annotation] ?? "")).toEqual(config(3));
  });

  it("does not take over what was changed since", () => {
    const changed = written(made, { ...made, spec: { replicas: 2 } }, { kind: deployments, manager: "hpa" });
    expect(() => applied(changed, config(3), { kind: deployments, manager: "kubectl" })).toThrow('conflict with "hpa"');
  });
});

describe("a configuration is refused", () => {
  it.each([
    { name: "of another kind", patch: { ...wide({}), kind: "Foo" }, says: "invalid object type: example.com/v1, Kind=Foo" },
    {
      name: "with managedFields",
      patch: { ...wide({}), metadata: { name: "w", managedFields: [] } },
      says: "metadata.managedFields must be nil",
    },
    {
      name: "with a field nobody knows",
      patch: wide({ nope: 1 }),
      says: "failed to create typed patch object (/w; example.com/v1, Kind=Wide): .spec.nope: field not declared in schema",
    },
    {
      name: "with an element twice",
      patch: wide({ parts: [{ name: "a" }, { name: "a" }] }),
      says: '.spec.parts: duplicate entries for key [name="a"]',
    },
    { name: "that is no object", patch: [], says: "cannot unmarshal array into Go value of type map[string]interface {}" },
  ])("$name", ({ patch, says }) => {
    expect(() => applied(undefined, patch)).toThrow(says);
  });
});
