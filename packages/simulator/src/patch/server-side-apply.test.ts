import { describe, expect, it } from "vitest";
import type { ApiObject } from "../json.ts";
import { applied, deployments, owners, wide, written } from "./patching.fixture.ts";

describe("an applied configuration", () => {
  it("creates a missing object and owns every leaf", () => {
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

  it("changes nothing when applied again, including timestamps", () => {
    const once = applied(undefined, wide({ replicas: 1 }));
    expect(applied(once, wide({ replicas: 1 }), { now: "2026-01-01T00:00:09Z" })).toEqual(once);
  });

  it("removes fields that it no longer contains", () => {
    const before = applied(undefined, wide({ replicas: 1, labels: { x: "1", y: "2" }, tags: ["a", "b"] }));
    expect(applied(before, wide({ labels: { y: "2" }, tags: ["b"] })).spec).toEqual({ labels: { y: "2" }, tags: ["b"] });
  });

  it("removes a field when it drops the last part of it", () => {
    const before = applied(undefined, wide({ replicas: 1, labels: { x: "1" } }));
    expect(applied(before, wide({ replicas: 1 })).spec).toEqual({ replicas: 1 });
  });

  it("keeps fields that another manager owns and fields without an owner", () => {
    const mine = applied(undefined, wide({ labels: { x: "1", y: "2" } }));
    const ours = applied(mine, wide({ labels: { x: "1" } }), { manager: "you" });
    expect(applied(ours, wide({})).spec).toEqual({ labels: { x: "1" } });
  });

  it("merges list elements by key, and its order wins", () => {
    const before = applied(undefined, wide({ parts: [{ name: "a" }, { name: "b" }, { name: "c" }] }));
    const after = applied(before, wide({ parts: [{ name: "c", size: 3 }, { name: "d" }] }), { manager: "you" });
    expect(after.spec).toEqual({ parts: [{ name: "a" }, { name: "b" }, { name: "c", size: 3 }, { name: "d" }] });
  });

  it("replaces an atomic list as a whole, and conflicts with its owner", () => {
    const before = applied(undefined, wide({ order: ["a"], selector: { app: "x" } }));
    expect(() => applied(before, wide({ order: ["b"] }), { manager: "you" })).toThrow('conflict with "me": .spec.order');
    expect(applied(before, wide({ selector: { app: "y" } }), { manager: "you", force: true }).spec).toEqual({
      order: ["a"],
      selector: { app: "y" },
    });
  });

  it("owns fields of a free-form object at every level", () => {
    expect(owners(applied(undefined, wide({ free: { a: { b: 1 } } })))).toEqual({
      "me Apply": { "f:spec": { "f:free": { "f:a": { ".": {}, "f:b": {} } } } },
    });
  });

  it("applied to the status owns only the status", () => {
    const before = applied(undefined, wide({ replicas: 1 }));
    const after = applied(
      before,
      { ...wide({ replicas: 2 }), status: { phase: "Running" } },
      { manager: "you", subresource: "status" },
    );
    expect(owners(after)["you Apply status"]).toEqual({ "f:status": { "f:phase": {} } });
  });

  it("treats an object without managedFields as owned by before-first-apply", () => {
    const bare = { ...wide({ replicas: 1 }), metadata: { name: "w", uid: "1" } } as ApiObject;
    expect(() => applied(bare, wide({ replicas: 2 }))).toThrow(
      'conflict with "before-first-apply" using example.com/v1: .spec.replicas',
    );
  });
});

describe("a conflict", () => {
  const before = applied(undefined, wide({ replicas: 1, labels: { x: "1" } }));

  it("about one field has a one-line message", () => {
    expect(() => applied(before, wide({ replicas: 2 }), { manager: "you" })).toThrow(
      'Apply failed with 1 conflict: conflict with "me": .spec.replicas',
    );
  });

  it("about several fields has a list and a cause per field", () => {
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

  it("does not occur if the value is the same, and both managers own the field", () => {
    const both = applied(before, wide({ replicas: 1 }), { manager: "you" });
    expect(Object.keys(owners(both))).toEqual(["you Apply", "me Apply"]);
  });

  it("is resolved by force, which transfers ownership", () => {
    const forced = applied(before, wide({ replicas: 2 }), { manager: "you", force: true });
    expect(owners(forced)).toEqual({
      "me Apply": { "f:spec": { "f:labels": { "f:x": {} } } },
      "you Apply": { "f:spec": { "f:replicas": {} } },
    });
  });
});

describe("kubectl apply --server-side", () => {
  const annotation = "kubectl.kubernetes.io/last-applied-configuration";
  const config = (replicas: number) => ({
    ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { annotations: {}, name: "d" }, spec: { replicas } },
  });
  const made = written(
    undefined,
    { ...config(1), metadata: { name: "d", annotations: { [annotation]: JSON.stringify(config(1)) } } } as ApiObject,
    { kind: deployments, manager: "kubectl-client-side-apply" },
  );

  it("takes over fields of client-side apply and updates the last-applied annotation", () => {
    const after = applied(made, config(3), { kind: deployments, manager: "kubectl" });
    expect(after.spec).toEqual({ replicas: 3 });
    expect(JSON.parse(after.metadata.annotations?.[annotation] ?? "")).toEqual(config(3));
  });

  it("does not take over a field that changed since client-side apply", () => {
    const changed = written(made, { ...made, spec: { replicas: 2 } }, { kind: deployments, manager: "hpa" });
    expect(() => applied(changed, config(3), { kind: deployments, manager: "kubectl" })).toThrow('conflict with "hpa"');
  });
});

describe("apply rejects a configuration", () => {
  it.each([
    { name: "with a different kind", patch: { ...wide({}), kind: "Foo" }, says: "invalid object type: example.com/v1, Kind=Foo" },
    {
      name: "with managedFields",
      patch: { ...wide({}), metadata: { name: "w", managedFields: [] } },
      says: "metadata.managedFields must be nil",
    },
    {
      name: "with an unknown field",
      patch: wide({ nope: 1 }),
      says: "failed to create typed patch object (/w; example.com/v1, Kind=Wide): .spec.nope: field not declared in schema",
    },
    {
      name: "with a duplicate list element",
      patch: wide({ parts: [{ name: "a" }, { name: "a" }] }),
      says: '.spec.parts: duplicate entries for key [name="a"]',
    },
    { name: "that is not an object", patch: [], says: "cannot unmarshal array into Go value of type map[string]interface {}" },
  ])("$name", ({ patch, says }) => {
    expect(() => applied(undefined, patch)).toThrow(says);
  });
});
