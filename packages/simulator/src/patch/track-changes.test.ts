import { describe, expect, it } from "vitest";
import type { ApiObject } from "../json.ts";
import { deployments, owners, wide, written } from "./patching.fixture.ts";

const template = { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "app", image: "x", resources: {} }] } };
const deployment = (spec: object, more: object = {}): ApiObject =>
  ({ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "d" }, spec, ...more }) as ApiObject;

describe("the creator of an object", () => {
  it("owns the fields it set, but no Go structs, which always exist", () => {
    const made = written(undefined, deployment({ replicas: 1, selector: { matchLabels: { app: "a" } }, template }), {
      kind: deployments,
    });
    expect(owners(made)).toEqual({
      "me Update": {
        "f:spec": {
          "f:replicas": {},
          "f:selector": {},
          "f:template": {
            "f:metadata": { "f:labels": { ".": {}, "f:app": {} } },
            "f:spec": { "f:containers": { 'k:{"name":"app"}': { ".": {}, "f:image": {}, "f:name": {}, "f:resources": {} } } },
          },
        },
      },
    });
  });

  it("also owns the spec of a custom resource", () => {
    expect(owners(written(undefined, wide({ replicas: 1 })))).toEqual({
      "me Update": { "f:spec": { ".": {}, "f:replicas": {} } },
    });
  });

  it("does not own the status, which a create cannot write", () => {
    expect(owners(written(undefined, wide({ replicas: 1 }, { status: { phase: "X" } })))["me Update"]).not.toHaveProperty(
      "f:status",
    );
  });
});

describe("an update", () => {
  const made = written(undefined, wide({ replicas: 1, labels: { x: "1", y: "2" } }));

  it("moves ownership of a changed field to the updater", () => {
    const changed = written(made, { ...made, spec: { replicas: 2, labels: { x: "1", y: "2" } } }, { manager: "you" });
    expect(owners(changed)).toEqual({
      "me Update": { "f:spec": { ".": {}, "f:labels": { ".": {}, "f:x": {}, "f:y": {} } } },
      "you Update": { "f:spec": { "f:replicas": {} } },
    });
  });

  it("that removes a field removes it from all managers, and the updater gains nothing", () => {
    const changed = written(made, { ...made, spec: { replicas: 1, labels: { y: "2" } } }, { manager: "you" });
    expect(owners(changed)).toEqual({
      "me Update": { "f:spec": { ".": {}, "f:labels": { ".": {}, "f:y": {} }, "f:replicas": {} } },
    });
  });

  it("without changes keeps managedFields, including timestamps", () => {
    const same = written(made, made, { manager: "you", now: "2026-01-01T00:00:09Z" });
    expect(same.metadata.managedFields).toEqual(made.metadata.managedFields);
  });

  it("adds a separate entry for each subresource", () => {
    const withStatus = written(made, { ...made, status: { phase: "Running" } }, { subresource: "status" });
    expect(owners(withStatus)["me Update status"]).toEqual({ "f:status": { ".": {}, "f:phase": {} } });
  });

  it.each([{ by: [] }, { by: [{}] }])("with managedFields $by resets them and stops tracking", ({ by }) => {
    const reset = written(made, { ...made, metadata: { ...made.metadata, managedFields: by } } as ApiObject);
    expect(reset.metadata.managedFields).toBeUndefined();
    expect(written(reset, { ...reset, spec: { replicas: 9 } }).metadata.managedFields).toBeUndefined();
  });
});

it("more than ten Update entries are merged into ancient-changes, oldest first", () => {
  let object = written(undefined, wide({ labels: {} }));
  for (let count = 1; count <= 12; count += 1) {
    const labels = { ...(object.spec as { labels: object }).labels, [`l${count}`]: "x" };
    object = written(object, { ...object, spec: { labels } }, { manager: `m${count}`, now: `2026-01-01T00:00:${count + 10}Z` });
  }
  const names = Object.keys(owners(object));
  expect(names).toHaveLength(10);
  expect(names).toContain("ancient-changes Update");
  expect(names).not.toContain("m1 Update");
});
