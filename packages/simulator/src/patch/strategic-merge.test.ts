import { describe, expect, it } from "vitest";
import { mergeKeys } from "./merge-keys.ts";
import { applyStrategicMerge } from "./strategic-merge.ts";

const pod = {
  metadata: { finalizers: ["a/b", "c/d"], labels: { x: "1" } },
  spec: {
    containers: [
      {
        name: "app",
        image: "x:1",
        env: [
          { name: "A", value: "1" },
          { name: "B", value: "2" },
        ],
        ports: [{ containerPort: 80, protocol: "TCP" }],
      },
      { name: "side", image: "y:1" },
    ],
    tolerations: [{ key: "a" }],
  },
};

const patched = (patch: unknown) => applyStrategicMerge(pod, patch, mergeKeys.Pod ?? {}) as typeof pod;
const containers = (...patches: object[]) => patched({ spec: { containers: patches } }).spec.containers;

describe("a strategic merge patch", () => {
  it("merges containers by name", () => {
    expect(containers({ name: "side", image: "y:2" })).toEqual([pod.spec.containers[0], { name: "side", image: "y:2" }]);
  });

  it("orders the elements it contains, and keeps the position of the others", () => {
    const names = containers({ name: "new", image: "z" }, { name: "app" }).map(({ name }) => name);
    expect(names).toEqual(["new", "app", "side"]);
  });

  it("deletes an element with $patch: delete", () => {
    expect(containers({ name: "side", $patch: "delete" }).map(({ name }) => name)).toEqual(["app"]);
  });

  it("replaces a list with $patch: replace", () => {
    expect(containers({ $patch: "replace" }, { name: "only" })).toEqual([{ name: "only" }]);
  });

  it("identifies ports by their number only", () => {
    const [app] = containers({ name: "app", ports: [{ containerPort: 80, name: "web" }] });
    expect(app?.ports).toEqual([{ containerPort: 80, protocol: "TCP", name: "web" }]);
  });

  it("orders elements by $setElementOrder", () => {
    const env = { "$setElementOrder/env": [{ name: "C" }, { name: "B" }, { name: "A" }], env: [{ name: "C", value: "3" }] };
    const [app] = containers({ name: "app", ...env });
    expect(app?.env?.map(({ name }) => name)).toEqual(["C", "B", "A"]);
  });

  it("merges lists of scalars as sets and removes elements by $deleteFromPrimitiveList", () => {
    expect(patched({ metadata: { finalizers: ["e/f"] } }).metadata.finalizers).toEqual(["e/f", "a/b", "c/d"]);
    const without = patched({ metadata: { "$deleteFromPrimitiveList/finalizers": ["a/b"] } });
    expect(without.metadata.finalizers).toEqual(["c/d"]);
  });

  it("replaces lists without a merge key", () => {
    expect(patched({ spec: { tolerations: [{ key: "b" }] } }).spec.tolerations).toEqual([{ key: "b" }]);
  });

  it("keeps only the fields in $retainKeys", () => {
    expect(patched({ metadata: { $retainKeys: ["labels"], labels: { y: "2" } } }).metadata).toEqual({
      labels: { x: "1", y: "2" },
    });
    expect(() => patched({ metadata: { $retainKeys: ["labels"], finalizers: [] } })).toThrow(
      "invalid patch format of retainKeys",
    );
  });

  it("replaces or deletes an object with $patch", () => {
    expect(patched({ metadata: { labels: { $patch: "replace", z: "3" } } }).metadata.labels).toEqual({ z: "3" });
    expect(patched({ metadata: { labels: { $patch: "delete" } } }).metadata.labels).toEqual({});
  });

  it("drops nulls from new objects", () => {
    const affinity = { nodeAffinity: null, podAffinity: { preferred: null } };
    expect(patched({ spec: { affinity } }).spec).toMatchObject({ affinity: { podAffinity: {} } });
    expect(patched({ spec: { affinity } }).spec).not.toHaveProperty("affinity.nodeAffinity");
  });

  it.each([
    {
      name: "an element without its merge key",
      patch: { spec: { containers: [{ image: "x" }] } },
      says: "map: map[image:x] does not contain declared merge key: name",
    },
    {
      name: "an unknown directive",
      patch: { spec: { $patch: "foo" } },
      says: "unknown patch type: foo in map: map[$patch:foo]",
    },
    { name: "a list", patch: [], says: "cannot unmarshal array into Go value of type map[string]interface {}" },
  ])("is refused: $name", ({ patch, says }) => {
    expect(() => patched(patch)).toThrow(says);
  });
});
