import { describe, expect, it } from "vitest";
import type { Draft } from "../json.ts";
import { readAsGo, ShapeError } from "./shape.ts";
import { writeAsGo } from "./shape-out.ts";

const pod = (more: object): Draft => ({ apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, ...more });
const container = (more: object) => pod({ spec: { containers: [{ name: "c", ...more }] } });
const type = "core.v1.Pod";

function shaped(draft: Draft, struct = type) {
  const unknown = readAsGo(draft, struct);
  return { draft, unknown };
}

function written(draft: Draft, struct = type) {
  writeAsGo(draft, struct);
  return draft;
}

describe("what Go reads", () => {
  const cases: readonly [string, Draft, object][] = [
    ["nulls were not sent", pod({ spec: null }), pod({})],
    ["empty lists are nothing", pod({ spec: { volumes: [], containers: [] } }), pod({ spec: { containers: [] } })],
    [
      "empty objects are something where they are pointers",
      container({ securityContext: {} }),
      container({ securityContext: {} }),
    ],
    ["empty texts are nothing", container({ image: "" }), container({})],
    ["unless they are in a map", pod({ metadata: { labels: { a: "" } } }), pod({ metadata: { labels: { a: "" } } })],
    ["a null in a map is an empty text", pod({ metadata: { labels: { a: null } } }), pod({ metadata: { labels: { a: "" } } })],
    ["zeros are nothing", pod({ spec: { containers: [], hostNetwork: false } }), pod({ spec: { containers: [] } })],
    [
      "unless they are pointers",
      container({ securityContext: { runAsUser: 0 } }),
      container({ securityContext: { runAsUser: 0 } }),
    ],
    [
      "quantities are spelled canonically",
      container({ resources: { limits: { memory: "1024Mi", cpu: 0.5 } } }),
      container({ resources: { limits: { memory: "1Gi", cpu: "500m" } } }),
    ],
  ];
  it.each(cases)("%s", (_name, given, then) => expect(shaped(given)).toEqual({ draft: then, unknown: [] }));

  it("fields that a kind does not have are dropped, and told by their paths", () => {
    const { draft, unknown } = shaped(pod({ colour: 1, spec: { containers: [{ name: "c", image: "i", imgae: "j" }] } }));
    expect(unknown).toEqual(["colour", "spec.containers[0].imgae"]);
    expect(draft).toEqual(pod({ spec: { containers: [{ name: "c", image: "i" }] } }));
  });

  it("an empty class of storage is not the same as none", () => {
    const claim = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: {}, spec: { storageClassName: "" } };
    expect(shaped(claim, "core.v1.PersistentVolumeClaim").draft.spec).toEqual({ storageClassName: "" });
  });

  it("what belongs to somebody else is kept as it came", () => {
    const revision = { apiVersion: "apps/v1", kind: "ControllerRevision", metadata: {}, revision: 1, data: { a: null, b: [] } };
    expect(shaped(structuredClone(revision), "apps.v1.ControllerRevision").draft).toEqual(revision);
  });
});

describe("what Go writes", () => {
  it("is always there, even if it is nothing: counts, times, structs", () => {
    const { status } = written(
      pod({ status: { containerStatuses: [{ name: "c" }], conditions: [{ type: "Ready", status: "True" }] } }),
    );
    expect(status).toEqual({
      containerStatuses: [{ name: "c", ready: false, restartCount: 0, image: "", imageID: "", state: {}, lastState: {} }],
      conditions: [{ type: "Ready", status: "True", lastProbeTime: null, lastTransitionTime: null }],
    });
  });

  it("is left out where it may be", () => {
    expect(written(container({ resources: { limits: {} } })).spec).toEqual({ containers: [{ name: "c", resources: {} }] });
  });

  it("is null where a list must be and none is", () => {
    expect(written(pod({ spec: {} })).spec).toEqual({ containers: null });
  });
});

describe("what Go cannot read", () => {
  const cases: readonly [string, Draft, string][] = [
    [
      "text for a list",
      pod({ spec: { containers: "a" } }),
      "cannot unmarshal string into Go struct field PodSpec.spec.containers of type []v1.Container",
    ],
    [
      "text in a list",
      pod({ spec: { containers: ["a"] } }),
      "cannot unmarshal string into Go struct field PodSpec.spec.containers of type v1.Container",
    ],
    [
      "a number for text",
      container({ image: 1 }),
      "cannot unmarshal number into Go struct field Container.spec.containers.image of type string",
    ],
    [
      "a switch in a map of text",
      pod({ metadata: { labels: { a: true } } }),
      "cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type string",
    ],
    [
      "a fraction for a whole number",
      pod({ spec: { containers: [], priority: 1.5 } }),
      "cannot unmarshal number 1.5 into Go struct field PodSpec.spec.priority of type int32",
    ],
    [
      "an amount that is none",
      container({ resources: { limits: { cpu: "x" } } }),
      "quantities must match the regular expression",
    ],
    ["a time that is none", pod({ metadata: { creationTimestamp: "foo" } }), 'parsing time "foo"'],
  ];
  it.each(cases)("%s", (_name, given, said) => {
    expect(() => readAsGo(structuredClone(given), type)).toThrow(ShapeError);
    expect(() => readAsGo(given, type)).toThrow(said);
  });
});
